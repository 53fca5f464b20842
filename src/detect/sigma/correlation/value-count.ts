import type { CorrelationDocument } from '../document.ts';
import type { Counted, Measure, TypeCounting } from './measure.ts';
import { compileThreshold, decidedFrom, exactBelow, isLowerBound } from './threshold.ts';
import { dropOldest, keepDifferent } from './trim.ts';

/** How often each value is in the window. */
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

/** Different values in the window. */
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

/** Share of the value that came last among all of the window, in percent. */
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

/** Drops the oldest distinct values beyond the limit, but never so many that the threshold is missed. */
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
 * What `value_percentile` without `percentile` asks, as in the sample of the specification: how rare a value is. Exact
 * while the window has fewer inputs than are kept; of more, the share among the newest.
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
