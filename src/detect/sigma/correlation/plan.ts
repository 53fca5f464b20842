import type { CorrelationDocument, CorrelationType } from '../document.ts';
import type { CorrelationLimits } from './correlation-limits.ts';
import type { Entries } from './entries.ts';
import type { GroupWindow } from './group-window.ts';
import type { LinkedCorrelation } from './linked.ts';
import type { Counted, Counting, Measure, TypeCounting } from './measure.ts';
import { valuePercentile, valueTotal } from './numeric-values.ts';
import { OrderedWindow, ordering } from './ordered-window.ts';
import { SlidingWindow } from './sliding-window.ts';
import { enoughFor, isMonotone, temporal } from './temporal.ts';
import { compileThreshold, decidedFrom, exactBelow, isLowerBound } from './threshold.ts';
import { dropOldest, mergeNeighbours } from './trim.ts';
import { valueCount, valueShare } from './value-count.ts';

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
function eventCount({ threshold = {} }: CorrelationDocument): TypeCounting {
  const meets = compileThreshold(threshold);
  const counting = { measure: () => new EventCount(meets), counted: () => 0 };
  if (!isLowerBound(threshold)) return { ...counting, monotone: false, trim: mergeNeighbours, weighsInputs: true };
  const [least, enough] = [decidedFrom(threshold), exactBelow(threshold)];
  return { ...counting, monotone: true, trim: dropOldest, weighsInputs: true, least, enough };
}

/** The implementation of a correlation. */
export interface Plan extends Pick<Counting, 'spanMs' | 'reachMs' | 'monotone' | 'least' | 'enough' | 'keep'> {
  /**
   * True if groups store the ends of windows that meet the condition, because each end is reported to an outer
   * correlation once.
   */
  readonly watched: boolean;
  readonly samples: number;
  window(entries?: Entries<Counted>): GroupWindow;
  /** Returns the counted part of an input; undefined if it is missing. */
  counted(value: string | null, rule: number): Counted | undefined;
}

type Sliding = Exclude<CorrelationType, 'temporal_ordered'>;

const countings = {
  event_count: eventCount,
  value_count: valueCount,
  value_sum: valueTotal,
  value_avg: valueTotal,
  value_percentile: (document) =>
    document.percentile === undefined ? valueShare(document) : valuePercentile(document),
  temporal: (document, { alternatives }) => temporal(document, alternatives),
} satisfies Record<Sliding, (document: CorrelationDocument, linked: LinkedCorrelation) => TypeCounting>;

export function planOf(linked: LinkedCorrelation, limits: CorrelationLimits): Plan {
  const { document, outer, alternatives = [] } = linked;
  const { type, timespanMs } = document;
  const reachMs = Math.max(timespanMs, limits.delayMs);
  const most = limits.entries / 2;
  // `enough` inputs are sufficient if late inputs are at most one timespan old. If older inputs are accepted, a group
  // keeps proportionally more.
  const kept = (enough: number) =>
    Math.max(enough, Math.min(most, Math.ceil((enough * (timespanMs + reachMs)) / (2 * timespanMs))));
  const shared = {
    spanMs: timespanMs,
    reachMs,
    watched: outer.some(({ whileMet }) => whileMet),
    samples: limits.samples,
  };
  if (type === 'temporal_ordered') {
    const order = ordering(shared, alternatives);
    const enough = kept(enoughFor(document.rules.length));
    return {
      ...shared,
      monotone: isMonotone(alternatives),
      least: 1,
      enough,
      // Groups keep fewer inputs than for other types, because every evaluation processes a whole timespan of inputs.
      keep: Math.max(enough, most / 4),
      window: (entries) => new OrderedWindow(order, entries),
      counted: (_value, rule) => rule,
    };
  }
  const plain = { least: 1, enough: most, weighsInputs: false, ...countings[type](document, linked) };
  const enough = kept(plain.enough);
  const { lookback } = limits;
  const counting = { ...plain, spanMs: timespanMs, reachMs, enough, keep: Math.max(enough, most), lookback };
  return { ...counting, ...shared, window: (entries) => new SlidingWindow(counting, entries) };
}
