import type { CorrelationDocument } from '../document.ts';
import type { CorrelationLimits } from './correlation-limits.ts';
import type { Counted, Counting, Measure } from './measure.ts';
import { compileThreshold, exactBelow } from './threshold.ts';
import { dropOldest, keepNewestOfEach } from './trim.ts';

/** How often each value is in the window. */
class Occurrences {
  readonly counts = new Map<Counted, number>();
  total = 0;

  add(value: Counted, weight: number): void {
    this.counts.set(value, (this.counts.get(value) ?? 0) + weight);
    this.total += weight;
  }

  remove(value: Counted, weight: number): void {
    const left = this.counts.get(value)! - weight;
    if (left > 0) this.counts.set(value, left);
    else this.counts.delete(value);
    this.total -= weight;
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

/** Exact as far as the threshold asks: of more different values than that, the oldest may be forgotten. */
export function valueCount({
  threshold = {},
  timespanMs,
}: CorrelationDocument): Omit<Counting, 'lookback' | 'reachMs'> {
  const meets = compileThreshold(threshold);
  return {
    spanMs: timespanMs,
    keep: exactBelow(threshold) + 1,
    trim: keepNewestOfEach,
    measure: () => new ValueCount(meets),
    counted: (value) => value ?? undefined,
  };
}

/**
 * What `value_percentile` without `percentile` asks, as in the sample of the specification: how rare a value is. Exact
 * while the window has fewer inputs than are kept; of more, the share among the newest.
 */
export function valueShare(
  { threshold = {}, timespanMs }: CorrelationDocument,
  limits: CorrelationLimits,
): Omit<Counting, 'lookback' | 'reachMs'> {
  const meets = compileThreshold(threshold);
  return {
    spanMs: timespanMs,
    keep: limits.entries / 2,
    trim: dropOldest,
    measure: () => new ValueShare(meets),
    counted: (value) => value ?? undefined,
  };
}
