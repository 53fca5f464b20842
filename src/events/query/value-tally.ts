import type { ValueCounts } from '../../contract/resources/value-counts.ts';
import { limits } from '../../limits.ts';

/** Memory per value apart from its text, in bytes. */
const bytesOfEach = 100;

/**
 * Counts by value in bounded memory. The count of a stored value is exact. When the memory is full, only the total of
 * further values is counted.
 */
export class ValueTally {
  readonly #counts = new Map<string, number>();
  readonly #maxBytes: number;
  #bytes = 0;
  /** Total count of the values that did not fit in memory. */
  #unknown = 0;

  constructor(maxBytes: number = limits.maxValueTallyBytes) {
    this.#maxBytes = maxBytes;
  }

  add(value: string, count: number): void {
    const known = this.#counts.get(value);
    if (known === undefined && !this.#takes(value)) this.#unknown += count;
    else this.#counts.set(value, (known ?? 0) + count);
  }

  /** Returns the most frequent values. Values with equal counts are in the order of code units. */
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
