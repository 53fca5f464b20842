import type { ValueCounts } from '../contract/resources/value-counts.ts';
import { limits } from '../limits.ts';

/** What a value takes beside its text, bytes. */
const bytesOfEach = 100;

/**
 * Counts by value in bounded memory. A value that it knows is counted to the end; those that come when it is full are
 * only counted together.
 */
export class ValueTally {
  readonly #counts = new Map<string, number>();
  readonly #maxBytes: number;
  #bytes = 0;
  /** Of values that are not told apart. */
  #unknown = 0;

  constructor(maxBytes: number = limits.maxValueTallyBytes) {
    this.#maxBytes = maxBytes;
  }

  add(value: string, count: number): void {
    const known = this.#counts.get(value);
    if (known === undefined && !this.#takes(value)) this.#unknown += count;
    else this.#counts.set(value, (known ?? 0) + count);
  }

  /** The most frequent; of as many the one that comes first by code unit. */
  top(limit: number): Pick<ValueCounts, 'values' | 'distinct' | 'other' | 'complete'> {
    const sorted = [...this.#counts].sort(([a, x], [b, y]) => y - x || (a < b ? -1 : 1));
    const other = sorted.slice(limit).reduce((sum, [, count]) => sum + count, this.#unknown);
    return {
      values: sorted.slice(0, limit).map(([value, count]) => ({ value, count })),
      distinct: sorted.length,
      other,
      complete: this.#unknown === 0,
    };
  }

  #takes(value: string): boolean {
    const bytes = this.#bytes + bytesOfEach + 2 * value.length;
    if (bytes > this.#maxBytes) return false;
    this.#bytes = bytes;
    return true;
  }
}
