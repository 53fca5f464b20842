import type { CorrelationDocument } from '../document.ts';
import type { Counted, Measure, TypeCounting } from './measure.ts';
import { compileThreshold, isLowerBound } from './threshold.ts';
import { dropOldest, mergeNeighbours } from './trim.ts';

/** Computes the sum or average of the window. Sums of integers are exact up to 2^53. */
class Total implements Measure {
  #sum = 0;
  #count = 0;
  #entries = 0;
  readonly #average: boolean;
  readonly #meets: (n: number) => boolean;

  constructor(average: boolean, meets: (n: number) => boolean) {
    this.#average = average;
    this.#meets = meets;
  }

  add(value: Counted, weight: number): void {
    this.#sum += value as number;
    this.#count += weight;
    this.#entries++;
  }

  remove(value: Counted, weight: number): void {
    this.#count -= weight;
    this.#entries--;
    // Removing the last entry also removes the rounding error.
    this.#sum = this.#entries === 0 ? 0 : this.#sum - (value as number);
  }

  read(): number {
    return this.#average ? this.#sum / Math.max(1, this.#count) : this.#sum;
  }

  met(): boolean {
    return this.#meets(this.read());
  }
}

/**
 * Computes a percentile of the window's values: `percentile` percent of the values are at or below the result (nearest
 * rank).
 */
class Percentile implements Measure {
  /** Values, ascending. An insertion takes a few µs, because it moves at most 64 kB. */
  readonly #sorted: number[] = [];
  readonly #percentile: number;
  readonly #meets: (n: number) => boolean;

  constructor(percentile: number, meets: (n: number) => boolean) {
    this.#percentile = percentile;
    this.#meets = meets;
  }

  add(value: Counted): void {
    this.#sorted.splice(this.#place(value as number), 0, value as number);
  }

  remove(value: Counted): void {
    this.#sorted.splice(this.#place(value as number), 1);
  }

  read(): number {
    const rank = Math.ceil((this.#percentile / 100) * this.#sorted.length);
    return this.#sorted[Math.max(0, rank - 1)] ?? 0;
  }

  met(): boolean {
    return this.#meets(this.read());
  }

  #place(value: number): number {
    let low = 0;
    let high = this.#sorted.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#sorted[middle]! < value) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

/**
 * Implements `value_sum` and `value_avg` over all inputs. When there are too many inputs to store individually,
 * neighbours in time are added up.
 */
export function valueTotal({ type, threshold = {} }: CorrelationDocument): TypeCounting {
  const meets = compileThreshold(threshold);
  const average = type === 'value_avg';
  return {
    monotone: !average && isLowerBound(threshold),
    trim: mergeNeighbours,
    weighsInputs: average,
    measure: () => new Total(average, meets),
    counted: (value) => numberOf(value),
  };
}

/**
 * Implements `value_percentile` with `percentile`. The percentile is exact while all values of the window are stored;
 * otherwise it is the percentile of the newest values.
 */
export function valuePercentile({ percentile = 50, threshold = {} }: CorrelationDocument): TypeCounting {
  const meets = compileThreshold(threshold);
  return {
    monotone: false,
    trim: dropOldest,
    measure: () => new Percentile(percentile, meets),
    counted: (value) => numberOf(value),
  };
}

function numberOf(value: string | null): number | undefined {
  if (value === null || value.trim() === '') return;
  const number = Number(value);
  return Math.abs(number) <= Number.MAX_SAFE_INTEGER ? number : undefined;
}
