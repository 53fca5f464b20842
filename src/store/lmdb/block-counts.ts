import { limits } from '../../limits.ts';
import type { BlockDirectory } from './block-directory.ts';

/** Blocks as they were when their matching rows were counted, ascending by sequence: 8 bytes each. */
interface Counted {
  /** Of the first. */
  readonly firstSeq: number;
  /** From there. */
  readonly starts: Uint32Array;
  readonly rows: Uint16Array;
  readonly counts: Uint16Array;
}

/**
 * How many rows of each block match, for the filters that were asked for last: a block never changes, so that the exact
 * total of a filter that is asked for again reads only blocks that came since. A merged block has what its parts had.
 */
export class BlockCounts {
  /** By filter; the one that was asked for longest ago is the first. */
  readonly #known = new Map<string, Counted>();
  readonly #most: number;
  readonly #maxBytes: number;
  #bytes = 0;

  constructor(most: number = limits.maxCountedFilters, maxBytes: number = limits.maxCountedBytes) {
    this.#most = most;
    this.#maxBytes = maxBytes;
  }

  /** Of all that is kept. */
  get bytes(): number {
    return this.#bytes;
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
      before !== undefined && endOf(before) <= endIn({ firstSeq, rows }, blocks) ? before : undefined;
    let place = 0;
    let done = 0;
    try {
      for (; done < blocks; done++) {
        const from = firstSeq[done]!;
        const to = from + rows[done]!;
        let sum: number | undefined;
        if (known !== undefined) {
          while (place < known.starts.length && known.firstSeq + known.starts[place]! < from) place++;
          ({ sum, place } = sumOf(known, place, from, to));
        }
        counts[done] = sum ?? count(done);
      }
      return counts;
    } finally {
      // What nobody waited for to its end goes on from there when it is asked for again.
      const end = endIn({ firstSeq, rows }, done);
      if (known === undefined || end >= endOf(known)) this.#drop(filter);
      if (!this.#known.has(filter) && done > 0 && end - firstSeq[0]! < 2 ** 32)
        this.#keep(filter, {
          firstSeq: firstSeq[0]!,
          starts: Uint32Array.from({ length: done }, (_, block) => firstSeq[block]! - firstSeq[0]!),
          rows: Uint16Array.from(rows.subarray(0, done)),
          counts: Uint16Array.from(counts.subarray(0, done)),
        });
    }
  }

  #keep(filter: string, counted: Counted): void {
    this.#known.set(filter, counted);
    this.#bytes += bytesOf(counted);
    for (const [oldest] of this.#known) {
      const isWithin = this.#known.size <= this.#most && this.#bytes <= this.#maxBytes;
      if (isWithin || oldest === filter) break;
      this.#drop(oldest);
    }
  }

  #drop(filter: string): void {
    const counted = this.#known.get(filter);
    if (counted === undefined) return;
    this.#known.delete(filter);
    this.#bytes -= bytesOf(counted);
  }
}

const bytesOf = ({ starts, rows, counts }: Counted): number =>
  starts.byteLength + rows.byteLength + counts.byteLength;

type Directory = Pick<BlockDirectory, 'firstSeq' | 'rows'>;

/** The sequence behind so many blocks. */
const endIn = ({ firstSeq, rows }: Directory, blocks: number): number =>
  blocks === 0 ? 0 : firstSeq[blocks - 1]! + rows[blocks - 1]!;

const endOf = ({ firstSeq, starts, rows }: Counted): number => firstSeq + starts.at(-1)! + rows.at(-1)!;

/** What was counted in [from, to), where that is whole blocks of then; and the block behind them. */
function sumOf(
  { firstSeq, starts, rows, counts }: Counted,
  place: number,
  from: number,
  to: number,
): { sum: number | undefined; place: number } {
  let sum = 0;
  let next = from;
  while (place < starts.length && firstSeq + starts[place]! === next && next < to) {
    sum += counts[place]!;
    next += rows[place++]!;
  }
  return { sum: next === to ? sum : undefined, place };
}
