import type { CorrelationDocument } from '../document.ts';
import type { CorrelationLimits } from './correlation-limits.ts';
import type { Counting, Measure } from './measure.ts';
import { compileThreshold, exactBelow, isLowerBound } from './threshold.ts';
import { dropOldest, mergeNeighbours } from './trim.ts';

/** Inputs of the window. */
class EventCount implements Measure {
  #count = 0;
  readonly #meets: (n: number) => boolean;

  constructor(meets: (n: number) => boolean) {
    this.#meets = meets;
  }

  add(_value: unknown, weight: number): void {
    this.#count += weight;
  }

  remove(_value: unknown, weight: number): void {
    this.#count -= weight;
  }

  read(): number {
    return this.#count;
  }

  met(): boolean {
    return this.#meets(this.#count);
  }
}

/**
 * To know whether some window with n inputs contains a new one, the newest 2n - 1 suffice: n - 1 before it and n from the
 * last timespan, among which it comes. An upper bound needs them all, or what they add up to.
 */
export function eventCount(
  { threshold = {}, timespanMs }: CorrelationDocument,
  limits: CorrelationLimits,
): Omit<Counting, 'lookback' | 'reachMs'> {
  const meets = compileThreshold(threshold);
  const enough = exactBelow(threshold);
  const few = isLowerBound(threshold) && enough <= limits.entries / 2;
  return {
    spanMs: timespanMs,
    keep: few ? enough : limits.entries / 2,
    trim: few ? dropOldest : mergeNeighbours,
    measure: () => new EventCount(meets),
    counted: () => 0,
  };
}
