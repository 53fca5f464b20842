import { limits } from '../../limits.ts';
import type { BlockDirectory } from './block-directory.ts';

/** Blocks as they were when their matching rows were counted, ascending by sequence. */
interface Counted {
  readonly firstSeq: Float64Array;
  readonly rows: Float64Array;
  readonly counts: Float64Array;
}

/**
 * How many rows of each block match, for the filters that were asked for last: a block never changes, so that the exact
 * total of a filter that is asked for again reads only blocks that came since. A merged block has what its parts had.
 */
export class BlockCounts {
  /** By filter; the one that was asked for longest ago is the first. */
  readonly #known = new Map<string, Counted>();
  readonly #most: number;

  constructor(most: number = limits.maxCountedFilters) {
    this.#most = most;
  }

  /**
   * The counts of all blocks of the directory.
   *
   * @param filter - whatever tells it from all others, of this table and of others
   * @param count - of the block at a place; what it throws is passed on
   */
  of(
    filter: string,
    { firstSeq, rows, count: blocks }: Pick<BlockDirectory, 'firstSeq' | 'rows' | 'count'>,
    count: (block: number) => number,
  ): Float64Array {
    const counts = new Float64Array(blocks);
    const before = this.#known.get(filter);
    // Rows vanish from the end only with a commit that was undone: what has their sequences now are others.
    const known =
      before !== undefined && endOf(before) <= endOf({ firstSeq, rows }, blocks) ? before : undefined;
    let place = 0;
    let done = 0;
    try {
      for (; done < blocks; done++) {
        const from = firstSeq[done]!;
        const to = from + rows[done]!;
        let sum: number | undefined;
        if (known !== undefined) {
          while (place < known.firstSeq.length && known.firstSeq[place]! < from) place++;
          ({ sum, place } = sumOf(known, place, from, to));
        }
        counts[done] = sum ?? count(done);
      }
      return counts;
    } finally {
      // What nobody waited for to its end goes on from there when it is asked for again.
      if (known === undefined || endOf({ firstSeq, rows }, done) >= endOf(known))
        this.#keep(filter, {
          firstSeq: firstSeq.slice(0, done),
          rows: rows.slice(0, done),
          counts: counts.subarray(0, done),
        });
    }
  }

  #keep(filter: string, counted: Counted): void {
    this.#known.delete(filter);
    this.#known.set(filter, counted);
    for (const [oldest] of this.#known) {
      if (this.#known.size <= this.#most) break;
      this.#known.delete(oldest);
    }
  }
}

const endOf = (
  { firstSeq, rows }: Pick<Counted, 'firstSeq' | 'rows'>,
  blocks: number = firstSeq.length,
): number => (blocks === 0 ? 0 : firstSeq[blocks - 1]! + rows[blocks - 1]!);

/** What was counted in [from, to), where that is whole blocks of then; and the block behind them. */
function sumOf(
  { firstSeq, rows, counts }: Counted,
  place: number,
  from: number,
  to: number,
): { sum: number | undefined; place: number } {
  let sum = 0;
  let next = from;
  while (place < firstSeq.length && firstSeq[place] === next && next < to) {
    sum += counts[place]!;
    next += rows[place++]!;
  }
  return { sum: next === to ? sum : undefined, place };
}
