import type { CorrelationDocument } from '../document.ts';
import type { Counted, Measure, TypeCounting } from './measure.ts';
import { compileThreshold, decidedFrom, exactBelow, isLowerBound } from './threshold.ts';
import { dropOldest, keepDifferent } from './trim.ts';

/** Counts each value in the window. */
class Occurrences {
  readonly counts = new Map<Counted, number>();
  total = 0;

  add(value: Counted): void {
    this.counts.set(value, (this.counts.get(value) ?? 0) + 1);
    this.total++;
  }

  remove(value: Counted): void {
    const left = this.counts.get(value)! - 1;
    if (left > 0) this.counts.set(value, left);
    else this.counts.delete(value);
    this.total--;
  }
}

/** Counts the distinct values in the window. */
class ValueCount extends Occurrences implements Measure {
  readonly #meets: (n: number) => boolean;

  constructor(meets: (n: number) => boolean) {
    super();
    this.#meets = meets;
  }

  read(): number {
    return this.counts.size;
  }

  met(): boolean {
    return this.#meets(this.counts.size);
  }
}

/** Computes the share of the latest value among the inputs in the window, in percent. */
class ValueShare extends Occurrences implements Measure {
  readonly #meets: (n: number) => boolean;

  constructor(meets: (n: number) => boolean) {
    super();
    this.#meets = meets;
  }

  read(subject: Counted): number {
    return this.total === 0 ? 0 : (100 * (this.counts.get(subject) ?? 0)) / this.total;
  }

  met(subject: Counted): boolean {
    return this.#meets(this.read(subject));
  }
}

/**
 * Implements `value_count`. Drops the oldest distinct values above the limit, but always keeps enough values to meet
 * the threshold.
 */
export function valueCount({ threshold = {}, timespanMs }: CorrelationDocument): TypeCounting {
  const meets = compileThreshold(threshold);
  return {
    monotone: isLowerBound(threshold),
    least: isLowerBound(threshold) ? decidedFrom(threshold) : 1,
    enough: exactBelow(threshold) + 1,
    trim: keepDifferent(timespanMs),
    measure: () => new ValueCount(meets),
    counted: (value) => value ?? undefined,
  };
}

/**
 * Implements `value_percentile` without `percentile`, as in the specification's example: the share of the latest
 * value. The share is exact while all inputs of the window are stored; otherwise it is the share among the newest
 * inputs.
 */
export function valueShare({ threshold = {} }: CorrelationDocument): TypeCounting {
  const meets = compileThreshold(threshold);
  return {
    monotone: false,
    trim: dropOldest,
    measure: () => new ValueShare(meets),
    counted: (value) => value ?? undefined,
  };
}
