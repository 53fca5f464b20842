import { finish } from '../sketch/hash.ts';
import { isUuid, uuidToBytes } from '../uuid.ts';
import type { Table } from './records.ts';

/**
 * The id of a stored event: a UUIDv7 (RFC 9562, section 5.7) that locates the event without an index.
 *
 * ```
 *   48 bits  timestamp of the event, epoch milliseconds
 *    4 bits  version 7
 *   12 bits  commit sequence, upper 12 of 53 bits
 *    2 bits  variant
 *   41 bits  commit sequence, lower 41 bits
 *    1 bit   table: 0 network, 1 dns
 *   20 bits  check over all fields above
 * ```
 *
 * Ids of one table sort by timestamp, then by sequence. The check distinguishes these ids
 * from other UUIDs; it is not a secret.
 */
export function eventId(table: Table, timestamp: number, seq: number): string {
  const high = Math.floor(seq / 2 ** 41);
  const low = seq % 2 ** 41;
  const t = table === 'dns' ? 1 : 0;
  // The last 62 bits: 41 bits of the sequence, the table, and the check. The first 14 of these bits follow
  // the variant in its group.
  const d = (0x8000 + Math.floor(low / 2 ** 27)).toString(16);
  const e = hex((low % 2 ** 27) * 2 ** 21 + t * 2 ** 20 + check(t, timestamp, seq), 12);
  const time = hex(timestamp, 12);
  return `${time.slice(0, 8)}-${time.slice(8)}-7${hex(high, 3)}-${d}-${e}`;
}

/** Parses a UUID made by `eventId`, in lower or upper case; returns undefined for other UUIDs. */
export function parseEventId(id: string): { table: Table; timestamp: number; seq: number } | undefined {
  if (id.charCodeAt(14) !== 0x37 /* 7 */ || !isUuid(id)) return undefined;
  return readEventId(uuidToBytes(id), 0);
}

/** Like `parseEventId`, for the 16 bytes of a UUID from `at` on. */
export function readEventId(
  bytes: Uint8Array,
  at: number,
): { table: Table; timestamp: number; seq: number } | undefined {
  if (bytes[at + 6]! >>> 4 !== 7 || bytes[at + 8]! >>> 6 !== 2) return undefined;
  const timestamp = halfAt(bytes, at) * 2 ** 32 + halfAt(bytes, at + 2) * 2 ** 16 + halfAt(bytes, at + 4);
  const high = halfAt(bytes, at + 6) & 0xfff;
  const d = halfAt(bytes, at + 8) & 0x3fff;
  const e = halfAt(bytes, at + 10) * 2 ** 32 + halfAt(bytes, at + 12) * 2 ** 16 + halfAt(bytes, at + 14);
  const t = Math.floor(e / 2 ** 20) % 2;
  const seq = high * 2 ** 41 + d * 2 ** 27 + Math.floor(e / 2 ** 21);
  if (e % 2 ** 20 !== check(t, timestamp, seq)) return undefined;
  return { table: t === 1 ? 'dns' : 'network', timestamp, seq };
}

/** Reads a big-endian u16. */
const halfAt = (bytes: Uint8Array, at: number): number => (bytes[at]! << 8) | bytes[at + 1]!;

/** Formats up to 48 bits, 24 at a time: `toString(16)` is slow for numbers beyond 31 bits. */
function hex(value: number, digits: number): string {
  const low = value % 2 ** 24;
  if (digits <= 6) return low.toString(16).padStart(digits, '0');
  return (
    Math.floor(value / 2 ** 24)
      .toString(16)
      .padStart(digits - 6, '0') + low.toString(16).padStart(6, '0')
  );
}

/** Returns 20 check bits, by the finaliser of MurmurHash3 over the words of the other fields. */
function check(t: number, timestamp: number, seq: number): number {
  let h = finish((timestamp >>> 0) ^ 0x9e3779b9);
  h = finish(h ^ Math.floor(timestamp / 2 ** 32));
  h = finish(h ^ (seq >>> 0));
  h = finish(h ^ (Math.floor(seq / 2 ** 32) * 2 + t));
  return h >>> 12;
}
