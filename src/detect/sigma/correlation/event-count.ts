import type { CorrelationDocument } from '../document.ts';
import type { Measure, TypeCounting } from './measure.ts';
import { compileThreshold, decidedFrom, exactBelow, isLowerBound } from './threshold.ts';
import { dropOldest, mergeNeighbours } from './trim.ts';

/** Counts the inputs of the window. */
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
 * Counts inputs. The newest 2n - 1 inputs decide whether a window with n inputs contains a new input: n inputs of the
 * last timespan, including the new input, and n - 1 earlier inputs. An upper bound needs all inputs, or their total
 * number.
 */
export function eventCount({ threshold = {} }: CorrelationDocument): TypeCounting {
  const meets = compileThreshold(threshold);
  const counting = { measure: () => new EventCount(meets), counted: () => 0 };
  if (!isLowerBound(threshold)) return { ...counting, monotone: false, trim: mergeNeighbours, weighsInputs: true };
  const [least, enough] = [decidedFrom(threshold), exactBelow(threshold)];
  return { ...counting, monotone: true, trim: dropOldest, weighsInputs: true, least, enough };
}
