import { crc32 } from 'node:zlib';
import { checksum, wordAt } from '../../database/rows.ts';
import { BlockHeader } from '../format/block-format.ts';
import { columnNames, tables } from '../format/columns.ts';
import type { Table } from '../records.ts';
import { DamagedBlockError } from './damaged-range.ts';

/**
 * The header of a block as stored, in version 2:
 *
 * ```
 * header | u32 CRC-32 of each part, 2 × columns; 0 without a part | u32 CRC-32 of all previous bytes and of the key
 * ```
 *
 * Version 1 has only the header. The checksums of version 2 never have a power of two bytes. Therefore, a single wrong
 * bit in the header's length cannot make a header of one version look like a header of the other version.
 */
const crcBytes = 4;
const sealsBytes = (table: Table): number => crcBytes * (2 * columnNames[table].length + 1);

const keyOf = (table: Table, firstSeq: number): [number, number] => [tables.indexOf(table), firstSeq];

/** The header of a stored block, with the verification state of its parts. */
export class StoredHeader extends BlockHeader {
  /** The header and its checksums. */
  readonly value: Uint8Array<ArrayBuffer>;
  /** The epoch of the last verification of each part. */
  readonly #verifiedIn: number[] = [];

  constructor(value: Uint8Array<ArrayBuffer>) {
    super(value);
    this.value = value;
  }

  /** @throws DamagedBlockError */
  static open(table: Table, firstSeq: number, value: Uint8Array<ArrayBuffer>): StoredHeader {
    try {
      const header = new StoredHeader(value);
      if (header.table === table && isSound(header, firstSeq)) return header;
    } catch {
      // The value cannot be parsed as a header, so it is damaged.
    }
    throw new DamagedBlockError(table, firstSeq, 'its header is damaged');
  }

  /** Returns whether a part is unchanged; for a block of version 1, whether the part has the right length. */
  verifies(part: number, bytes: Uint8Array, epoch: number): boolean {
    const column = part >>> 1;
    const length = (part & 1) === 0 ? this.codesBytes(column) : this.dictionaryBytes(column);
    if (bytes.length !== length) return false;
    if (!hasSeals(this)) return true;
    if (this.#verifiedIn[part] === epoch) return true;
    if (crc32(bytes) !== wordAt(this.value, this.bytes.length + crcBytes * part)) return false;
    this.#verifiedIn[part] = epoch;
    return true;
  }
}

/** Returns the length that a header states. `BlockHeader.bytes` is shorter if the stored value is truncated. */
const lengthOf = (value: Uint8Array): number => wordAt(value, 12);

/** Returns whether a header is of version 2. */
export const hasSeals = ({ value }: StoredHeader): boolean => value.length !== lengthOf(value);

function isSound(header: StoredHeader, firstSeq: number): boolean {
  const { table, value } = header;
  if (!hasSeals(header)) return true;
  if (value.length !== lengthOf(value) + sealsBytes(table)) return false;
  const end = value.length - crcBytes;
  return checksum(keyOf(table, firstSeq), value.subarray(0, end)) === wordAt(value, end);
}

/** Encodes the header of a block with the checksums of its parts. */
export function withSeals(
  firstSeq: number,
  { table, bytes }: BlockHeader,
  part: (part: number) => Uint8Array | undefined,
): Buffer {
  const value = Buffer.alloc(bytes.length + sealsBytes(table));
  value.set(bytes);
  for (let place = 0; place < 2 * columnNames[table].length; place++) {
    const of = part(place);
    if (of !== undefined) value.writeUInt32LE(crc32(of), bytes.length + crcBytes * place);
  }
  const end = value.length - crcBytes;
  value.writeUInt32LE(checksum(keyOf(table, firstSeq), value.subarray(0, end)), end);
  return value;
}
