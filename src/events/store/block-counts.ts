import { limits } from '../../limits.ts';
import type { BlockDirectory } from './block-directory.ts';

/** Counts per block, ascending by sequence, for the blocks that existed at the time of counting: 8 bytes per block. */
interface Counted {
  /** Sequence of the first block. */
  readonly firstSeq: number;
  /** Offsets of the blocks from `firstSeq`. */
  readonly starts: Uint32Array;
  readonly rows: Uint16Array;
  readonly counts: Uint16Array;
}

/**
 * Cached numbers of matching rows per block, for recently used filters. A block never changes, so only new blocks are
 * read for the exact total of a repeated filter. If a merge replaced whole blocks, the count of the merged block is the
 * sum of its parts; otherwise its rows are counted again.
 */
export class BlockCounts {
  /** Counts by filter; the least recently used filter is first. */
  readonly #known = new Map<string, Counted>();
  readonly #most: number;
  readonly #maxBytes: number;
  #bytes = 0;

  constructor(most: number = limits.maxCountedFilters, maxBytes: number = limits.maxCountedBytes) {
    this.#most = most;
    this.#maxBytes = maxBytes;
  }

  /** Total size of the cached counts. */
  get bytes(): number {
    return this.#bytes;
  }

  /**
   * Returns the counts of all blocks of the directory.
   *
   * @param filter - identifies the filter uniquely, across tables
   * @param count - counts a block by its index; its errors are rethrown
   */
  of(
    filter: string,
    { firstSeq, rows, count: blocks }: Pick<BlockDirectory, 'firstSeq' | 'rows' | 'count'>,
    count: (block: number) => number,
  ): Float64Array {
    const counts = new Float64Array(blocks);
    const before = this.#known.get(filter);
    // The newest rows disappear only if a transaction is aborted. Other rows then get the sequences of these rows.
    const known = before !== undefined && endOf(before) <= endIn({ firstSeq, rows }, blocks) ? before : undefined;
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
      // Keeps the counts of a cancelled query, so that the next query with this filter needs only the other blocks.
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

const bytesOf = ({ starts, rows, counts }: Counted): number => starts.byteLength + rows.byteLength + counts.byteLength;

type Directory = Pick<BlockDirectory, 'firstSeq' | 'rows'>;

/** Returns the sequence after the first `blocks` blocks. */
const endIn = ({ firstSeq, rows }: Directory, blocks: number): number =>
  blocks === 0 ? 0 : firstSeq[blocks - 1]! + rows[blocks - 1]!;

const endOf = ({ firstSeq, starts, rows }: Counted): number => firstSeq + starts.at(-1)! + rows.at(-1)!;

/**
 * Returns the sum of the counts in [from, to), and the index of the block after the range. The sum is undefined if
 * the range did not consist of whole blocks at the time of counting.
 */
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
