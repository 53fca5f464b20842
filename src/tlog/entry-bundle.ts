/**
 * Bundles of entries (C2SP tlog-tiles, log entries): the entries of a tile of level 0, concatenated, each
 * prefixed with its length as a u16be.
 */
import { TlogError } from './fault.ts';
import { pageColumns } from './page.ts';

const lengthBytes = 2;
export const maxEntryBytes = 2 ** 16 - 1;

/** Encodes 1 to 256 entries of at most 65,535 bytes. Fault: bad_entry_bundle. */
export function encodeEntryBundle(entries: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  checkWidth(entries.length);
  let total = 0;
  for (const { length } of entries) {
    if (length > maxEntryBytes) throw new TlogError('bad_entry_bundle', `an entry is too long: ${length} bytes`);
    total += lengthBytes + length;
  }
  const bytes = new Uint8Array(total);
  const view = new DataView(bytes.buffer);
  let offset = 0;
  for (const entry of entries) {
    view.setUint16(offset, entry.length);
    bytes.set(entry, offset + lengthBytes);
    offset += lengthBytes + entry.length;
  }
  return bytes;
}

/** Decodes exactly `width` entries, as views into `bytes`. Fault: bad_entry_bundle. */
export function decodeEntryBundle(bytes: Uint8Array, width: number): Uint8Array[] {
  checkWidth(width);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const entries: Uint8Array[] = [];
  let offset = 0;
  while (entries.length < width) {
    const start = offset + lengthBytes;
    const end = start <= bytes.length ? start + view.getUint16(offset) : Infinity;
    if (end > bytes.length) throw new TlogError('bad_entry_bundle', `entry ${entries.length} is truncated`);
    entries.push(bytes.subarray(start, end));
    offset = end;
  }
  if (offset !== bytes.length) {
    throw new TlogError('bad_entry_bundle', `there are ${bytes.length - offset} bytes after ${width} entries`);
  }
  return entries;
}

function checkWidth(width: number): void {
  if (!Number.isInteger(width) || width < 1 || width > pageColumns) {
    throw new TlogError('bad_entry_bundle', `the bundle has ${width} entries; 1 to ${pageColumns} are allowed`);
  }
}
