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
 * Counts inputs. If the threshold is a minimum of n inputs, 2n - 1 inputs are enough to decide whether a window that
 * contains a new input meets it: the new input, n - 1 inputs before it, and n - 1 inputs after it. An upper bound needs
 * all inputs, or their total number.
 */
export function eventCount({ threshold = {} }: CorrelationDocument): TypeCounting {
  const meets = compileThreshold(threshold);
  const counting = { measure: () => new EventCount(meets), counted: () => 0 };
  if (!isLowerBound(threshold)) return { ...counting, monotone: false, trim: mergeNeighbours, weighsInputs: true };
  const [least, enough] = [decidedFrom(threshold), exactBelow(threshold)];
  return { ...counting, monotone: true, trim: dropOldest, weighsInputs: true, least, enough };
}
