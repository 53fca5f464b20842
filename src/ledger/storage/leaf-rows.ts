/**
 * Rows of a bucket of the leaf-hash index, in the order of leaves: first all prefixes, then all offsets.
 *
 *     | u32be first four bytes of hash | × rows | offset of leaf, 2 to 4 bytes, big-endian | × rows
 */
import type { Hash } from '../../tlog/tree.ts';

/** Bytes of an offset, depending on the number of leaves in a segment or run. */
export type OffsetBytes = 2 | 3 | 4;

const prefixBytes = 4;

export interface LeafRow {
  readonly prefix: number;
  readonly offset: number;
}

export function packRows(rows: readonly LeafRow[], offsetBytes: OffsetBytes): Uint8Array {
  const bytes = Buffer.alloc(rows.length * (prefixBytes + offsetBytes));
  let at = 0;
  for (const { prefix } of rows) at = bytes.writeUInt32BE(prefix, at);
  for (const { offset } of rows) at = bytes.writeUIntBE(offset, at, offsetBytes);
  return bytes;
}

export function unpackRows(bytes: Uint8Array, offsetBytes: OffsetBytes): LeafRow[] {
  const rows = new Rows(bytes, offsetBytes);
  return Array.from({ length: rows.count }, (_, i) => ({ prefix: rows.prefix(i), offset: rows.offset(i) }));
}

/** Returns offsets of leaves whose hash has this prefix, ascending. */
export function offsetsOf(bytes: Uint8Array, prefix: number, offsetBytes: OffsetBytes): number[] {
  const rows = new Rows(bytes, offsetBytes);
  const found: number[] = [];
  for (let i = 0; i < rows.count; i++) if (rows.prefix(i) === prefix) found.push(rows.offset(i));
  return found;
}

/** Returns the first four bytes of a hash as a number. */
export function prefixOf(hash: Hash): number {
  return ((hash[0]! * 256 + hash[1]!) * 256 + hash[2]!) * 256 + hash[3]!;
}

class Rows {
  readonly #bytes: Buffer;
  /** Reads the bytes in a quarter of the time that a Buffer's methods take. A search reads every prefix. */
  readonly #view: DataView;
  readonly #offsetBytes: OffsetBytes;
  readonly count: number;

  constructor(bytes: Uint8Array, offsetBytes: OffsetBytes) {
    this.#bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
    this.#offsetBytes = offsetBytes;
    this.count = Math.floor(bytes.length / (prefixBytes + offsetBytes));
  }

  prefix(i: number): number {
    return this.#view.getUint32(prefixBytes * i);
  }

  offset(i: number): number {
    const at = prefixBytes * this.count + this.#offsetBytes * i;
    return this.#bytes.readUIntBE(at, this.#offsetBytes);
  }
}
