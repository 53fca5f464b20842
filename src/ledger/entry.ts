import canonicalize from 'canonicalize';
import type { LogEntry } from '../contract/resources/transparency.ts';
import { sha256 } from '../crypto/sha256.ts';
import { invalidField } from '../errors.ts';
import { limits } from '../limits.ts';
import { bytesToHex } from '../tlog/hex.ts';
import { canonicalUuid } from '../uuid.ts';
import type { UnsignedEntry } from './ledger.ts';

const encoder = new TextEncoder();
const instant = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/;

/** Maximum length of a name or id of an actor or subject. UUIDs and addresses are far shorter. */
const maxNameLength = 512;

/** An entry in its JCS form (RFC 8785), in three pieces. The key id and the signature go between them. */
export interface EntryDraft {
  readonly id: string;
  readonly kind: string;
  readonly pieces: readonly [string, string, string];
}

/** Bytes that signing adds: a key id has 36 characters; `,"signature":"…"` with its 128 digits has 143. */
const signatureExtra = 36 + 143;

/**
 * Validates an entry and returns its unsigned form. Once signed, it has at most `limits.maxEntryBytes`.
 *
 * No value in `data` makes an entry invalid, because the change that it records is already committed. Text is made
 * well-formed (lone surrogates become U+FFFD), values that JSON cannot hold become null or text, and data too long for
 * one entry is replaced by its hash (`data_sha256`, of its JCS form), its length (`data_bytes`) and a `summary`.
 *
 * @throws INVALID_REQUEST for an invalid id, kind, time, actor or subject; the field's name is prefixed with `where`
 */
export function draftEntry(entry: UnsignedEntry, where: string): EntryDraft {
  checkEntry(entry, where);
  const whole = assemble(entry, canonical(wellFormed(entry.data, 0)));
  const bytes = whole.pieces.reduce((sum, piece) => sum + Buffer.byteLength(piece), signatureExtra);
  return bytes <= limits.maxEntryBytes ? whole : assemble(entry, canonical(digest(entry.data)));
}

/** Assembles the canonical form. JCS sorts the members: actor data id key_id kind occurred_at signature subject. */
function assemble(entry: UnsignedEntry, data: string): EntryDraft {
  const { type, id } = entry.subject;
  const pieces = [
    `{"actor":${canonical(entry.actor.toWellFormed())},"data":${data},"id":"${entry.id}","key_id":"`,
    `","kind":"${entry.kind}","occurred_at":"${entry.occurred_at}"`,
    `,"subject":${canonical({ id: id.toWellFormed(), type: type.toWellFormed() })}}`,
  ] as const;
  return { id: entry.id, kind: entry.kind, pieces };
}

/** Returns the bytes to be signed: the JCS form of the entry without `signature`. */
export function bytesToSign({ pieces: [start, middle, end] }: EntryDraft, keyId: string): Uint8Array {
  return encoder.encode(`${start}${keyId}${middle}${end}`);
}

/** Returns the canonical bytes of the entry, which are hashed: the JCS form of the whole entry. */
export function canonicalBytes(
  { pieces: [start, middle, end] }: EntryDraft,
  keyId: string,
  signature: Uint8Array,
): Uint8Array<ArrayBuffer> {
  return encoder.encode(`${start}${keyId}${middle},"signature":"${bytesToHex(signature)}"${end}`);
}

/** Returns the bytes that an entry's signature covers. */
export function signedBytes(entry: LogEntry): Uint8Array<ArrayBuffer> {
  const { signature: _signature, ...unsigned } = entry;
  return encoder.encode(canonical(unsigned));
}

function canonical(value: unknown): string {
  const text = canonicalize(value);
  if (text === undefined) throw new Error('internal error: the canonical form of a log entry is undefined');
  return text;
}

/** Returns a copy of JSON-like data that JCS accepts. */
function wellFormed(value: unknown, depth: number): unknown {
  switch (typeof value) {
    case 'string':
      return value.toWellFormed();
    case 'number':
      return Number.isFinite(value) ? value : null;
    case 'boolean':
      return value;
    case 'bigint':
      return value.toString();
    case 'object':
      if (value === null) return null;
      if (depth === limits.maxNesting) return 'nested too deeply';
      if (Array.isArray(value)) return value.map((item) => wellFormed(item, depth + 1));
      // Object.fromEntries defines members, so a member named __proto__ stays an ordinary member.
      return Object.fromEntries(
        Object.entries(value)
          .filter(([, member]) => member !== undefined)
          .map(([name, member]) => [name.toWellFormed(), wellFormed(member, depth + 1)]),
      );
    default:
      return null;
  }
}

function digest(data: UnsignedEntry['data']): unknown {
  const bytes = encoder.encode(canonical(wellFormed(data, 0)));
  const summary = Object.entries(data)
    .filter(([name, value]) => name.length <= 64 && isShort(value))
    .slice(0, 16);
  return {
    data_bytes: bytes.length,
    data_sha256: bytesToHex(sha256(bytes)),
    summary: wellFormed(Object.fromEntries(summary), 0),
  };
}

function isShort(value: unknown): boolean {
  return typeof value === 'number' || typeof value === 'boolean' || (typeof value === 'string' && value.length <= 256);
}

function checkEntry(entry: UnsignedEntry, where: string): void {
  const wrong = (field: string, reason: string) => invalidField(`${where}.${field}`, reason);
  if (typeof entry !== 'object' || entry === null) throw invalidField(where, 'must be an object');
  if (canonicalUuid(entry.id) !== entry.id) throw wrong('id', 'must be a UUID in lower case');
  if (typeof entry.kind !== 'string' || !/^[a-z_]+(\.[a-z_]+)+$/.test(entry.kind) || entry.kind.length > 64) {
    throw wrong('kind', 'must be a dotted name of at most 64 characters');
  }
  if (typeof entry.occurred_at !== 'string' || !instant.test(entry.occurred_at) || entry.occurred_at.length > 40) {
    throw wrong('occurred_at', 'must be an ISO 8601 time in UTC');
  }
  if (!isName(entry.actor)) throw wrong('actor', `must be a text of 1 to ${maxNameLength} characters`);
  if (!isName(entry.subject?.type)) throw wrong('subject.type', `must be a text of 1 to ${maxNameLength} characters`);
  if (!isName(entry.subject?.id)) throw wrong('subject.id', `must be a text of 1 to ${maxNameLength} characters`);
  if (typeof entry.data !== 'object' || entry.data === null || Array.isArray(entry.data)) {
    throw wrong('data', 'must be an object');
  }
}

function isName(value: unknown): value is string {
  return typeof value === 'string' && value.length > 0 && value.length <= maxNameLength;
}
