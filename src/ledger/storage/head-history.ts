/**
 * Numbers the signed heads, so that the nth head and the number of heads in a range of sizes are found
 * without scanning.
 *
 *     number of the head, from 0 → its size ‖ timestamp (u64be each), which are the key of its row in `heads`
 *
 * Sizes never decrease, so the first head of a size is found by binary search.
 */
import type { Database } from '../../database/lmdb.ts';
import { encodeHead, timestampStepNs } from '../../tlog/head.ts';
import { uuidToBytes } from '../../uuid.ts';
import { readHeadValue } from './head-row.ts';
import { DamagedError, readRow, type SignedHead } from './storage.ts';

type HeadPosition = Pick<SignedHead, 'size' | 'timestampNs'>;
const positionBytes = 16;

/** Owns the number of heads, once all of them are known to be numbered. */
export class HeadHistory {
  readonly #numbers: Database;
  readonly #heads: Database;
  #count: number | undefined;

  constructor(numbers: Database, heads: Database) {
    this.#numbers = numbers;
    this.#heads = heads;
  }

  /** @throws DamagedError if heads lack their numbers: see `numberNext` */
  get count(): number {
    if (this.#count === undefined) {
      const numbered = this.#numbered();
      const last = numbered === 0 ? undefined : this.#place(numbered - 1);
      if (last?.timestampNs !== lastHead(this.#heads, { reverse: true, limit: 1 })?.timestampNs)
        throw new DamagedError(`the history of ${numbered} heads does not end with the latest head`);
      this.#count = numbered;
    }
    return this.#count;
  }

  size(ordinal: number): number {
    return this.#place(ordinal).size;
  }

  from(ordinal: number, limit: number): SignedHead[] {
    if (ordinal >= this.count) return [];
    const start = headKey(this.#place(ordinal));
    return readRow(() => Array.from(this.#heads.getRange({ start, limit }), ({ value }) => headOfRow(value)));
  }

  /** Returns timestamps of at most `limit` heads from this number onwards, in nanoseconds. */
  timestamps(ordinal: number, limit: number): bigint[] {
    return readRow(() =>
      Array.from(this.#numbers.getRange({ start: ordinal, limit }), ({ value }) => value.readBigUInt64BE(8)),
    );
  }

  /** Forgets the number of heads. Readers call this method before each snapshot. */
  refresh(): void {
    this.#count = undefined;
  }

  /**
   * Writes a head and its number. Must be called in a transaction. The caller calls the returned function once the
   * transaction is durable.
   */
  write(head: SignedHead): () => void {
    const { count } = this;
    this.#heads.putSync(headKey(head), encodeHeadRow(head));
    this.#numbers.putSync(count, encodePosition(head));
    return () => {
      this.#count = count + 1;
    };
  }

  /**
   * Numbers the next `limit` unnumbered heads. Must be called in a transaction. Returns false if all heads already had
   * numbers.
   */
  numberNext(limit: number): boolean {
    const numbered = this.#numbered();
    const last = numbered === 0 ? undefined : this.#place(numbered - 1);
    const start =
      last === undefined ? {} : { start: headKey({ ...last, timestampNs: last.timestampNs + timestampStepNs }) };
    const rows = readRow(() =>
      Array.from(this.#heads.getRange({ ...start, limit }), ({ value }) => encodePosition(headOfRow(value))),
    );
    for (const [i, row] of rows.entries()) this.#numbers.putSync(numbered + i, row);
    return rows.length > 0;
  }

  #numbered(): number {
    return readRow(() => {
      for (const last of this.#numbers.getKeys({ reverse: true, limit: 1 })) return Number(last) + 1;
      return 0;
    });
  }

  #place(ordinal: number): HeadPosition {
    const row = readRow(() => this.#numbers.getBinary(ordinal));
    if (row?.length !== positionBytes) throw new DamagedError(`the head history has no head number ${ordinal}`);
    return { size: Number(row.readBigUInt64BE()), timestampNs: row.readBigUInt64BE(8) };
  }
}

/** Returns the first head that a query of the table `heads` yields; undefined if the query yields none. */
export function lastHead(heads: Database, range: Parameters<Database['getRange']>[0]): SignedHead | undefined {
  return readRow(() => {
    for (const { value } of heads.getRange(range)) return headOfRow(value);
    return undefined;
  });
}

export function headKey({ size, timestampNs }: HeadPosition): number[] {
  return [size, Number(timestampNs / timestampStepNs)];
}

export function encodeHeadRow(head: SignedHead): Buffer {
  return Buffer.concat([encodeHead(head), head.signature, uuidToBytes(head.keyId)]);
}

function headOfRow(value: Buffer): SignedHead {
  const head = readHeadValue(value);
  if (head === undefined) throw new DamagedError('malformed row in the table heads');
  return head;
}

function encodePosition({ size, timestampNs }: HeadPosition): Buffer {
  const row = Buffer.alloc(positionBytes);
  row.writeBigUInt64BE(BigInt(size));
  row.writeBigUInt64BE(timestampNs, 8);
  return row;
}
