/**
 * Indexes the entries of each kind, so that the nth entry of a kind is found without reading those of other
 * kinds.
 *
 *     [kind, chunk] → leaf indices of its entries 256 · chunk …, in order, u48be each
 *
 * The number of entries of a kind in a range is the difference of two ordinals, found by binary search. A
 * commit writes one row for each kind in it (and another for each 256 entries), not one for each entry.
 */
import type { Database } from '../../database/lmdb.ts';
import { lowerBound } from './lower-bound.ts';
import { DamagedError, readRow } from './storage.ts';

const chunkEntries = 256;
const indexBytes = 6;

/** Owns the counts. The program defines the kinds, so there are few of them. */
export class KindIndex {
  readonly #table: Database;
  readonly #counts = new Map<string, number>();

  constructor(table: Database) {
    this.#table = table;
    let kind = nextKind(table, '');
    for (; kind !== undefined; kind = nextKind(table, kind)) this.#counts.set(kind, lastCount(table, kind));
  }

  /** Number of entries of all kinds. */
  get total(): number {
    return [...this.#counts.values()].reduce((sum, count) => sum + count, 0);
  }

  count(kind: string): number {
    return this.#counts.get(kind) ?? 0;
  }

  /**
   * Returns how many entries of this kind have a lower leaf index, given that the result is between `low` and
   * `high`.
   *
   * @throws DamagedError
   */
  countBelow(kind: string, leafIndex: number, low = 0, high = this.count(kind)): number {
    const at = (place: number) => this.range(kind, low + place, low + place + 1)[0]!;
    return low + lowerBound(high - low, at, leafIndex);
  }

  /** Returns leaf indices of entries `from` ≤ ordinal < `to` among those of a kind. @throws DamagedError */
  range(kind: string, from: number, to: number): number[] {
    const found: number[] = [];
    for (let place = from; place < to; ) {
      const chunk = Math.floor(place / chunkEntries);
      const row = this.#row(kind, chunk);
      const end = Math.min(to, (chunk + 1) * chunkEntries);
      for (; place < end; place++) found.push(row.readUIntBE((place % chunkEntries) * indexBytes, indexBytes));
    }
    return found;
  }

  /**
   * Writes the kinds of the entries from leaf index `first` onwards. Must be called in a transaction. The caller calls
   * the returned function once the transaction is durable, to count the entries.
   */
  write(first: number, kinds: readonly string[]): () => void {
    const places = new Map<string, number[]>();
    kinds.forEach((kind, i) => {
      const indices = places.get(kind);
      if (indices === undefined) places.set(kind, [first + i]);
      else indices.push(first + i);
    });
    for (const [kind, indices] of places) this.#append(kind, indices);
    return () => {
      for (const [kind, indices] of places) this.#counts.set(kind, this.count(kind) + indices.length);
    };
  }

  #append(kind: string, indices: readonly number[]): void {
    let place = this.count(kind);
    for (let done = 0; done < indices.length; ) {
      const [chunk, offset] = [Math.floor(place / chunkEntries), place % chunkEntries];
      const added = Math.min(chunkEntries - offset, indices.length - done);
      const row = Buffer.alloc((offset + added) * indexBytes);
      if (offset > 0) this.#row(kind, chunk).copy(row, 0, 0, offset * indexBytes);
      for (let i = 0; i < added; i++) row.writeUIntBE(indices[done + i]!, (offset + i) * indexBytes, indexBytes);
      this.#table.putSync([kind, chunk], row);
      place += added;
      done += added;
    }
  }

  /** Returns the row of a chunk, with all counted indices. */
  #row(kind: string, chunk: number): Buffer {
    const row = readRow(() => this.#table.getBinary([kind, chunk]));
    const entries = Math.min(chunkEntries, this.count(kind) - chunk * chunkEntries);
    if (row === undefined || row.length < entries * indexBytes)
      throw new DamagedError(`the index of kind ${kind} lacks entries from position ${chunk * chunkEntries}`);
    return row;
  }
}

function nextKind(table: Database, after: string): string | undefined {
  for (const key of table.getKeys({ start: [after, Number.MAX_SAFE_INTEGER], limit: 1 }))
    return String((key as readonly unknown[])[0]);
  return undefined;
}

function lastCount(table: Database, kind: string): number {
  const range = { start: [kind, Number.MAX_SAFE_INTEGER], end: [kind, -1], reverse: true, limit: 1 };
  for (const { key, value } of table.getRange(range))
    return Number((key as readonly unknown[])[1]) * chunkEntries + Math.floor(value.length / indexBytes);
  return 0;
}
