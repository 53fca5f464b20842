import type { CorrelationDocument, CorrelationType } from '../document.ts';
import type { CorrelationLimits } from './correlation-limits.ts';
import type { Entries } from './entries.ts';
import { eventCount } from './event-count.ts';
import type { GroupWindow } from './group-window.ts';
import type { LinkedCorrelation } from './linked.ts';
import type { Counted, Counting } from './measure.ts';
import { valuePercentile, valueTotal } from './numeric-values.ts';
import { OrderedWindow, ordering } from './ordered-window.ts';
import { SlidingWindow } from './sliding-window.ts';
import { temporal } from './temporal.ts';
import { valueCount, valueShare } from './value-count.ts';

/** How a correlation is run. */
export interface Plan {
  readonly spanMs: number;
  /** How much older than the newest of its group an input may be. */
  readonly reachMs: number;
  /** An outer correlation wants to know of each input whether the condition is met with it. */
  readonly watched: boolean;
  readonly samples: number;
  window(entries?: Entries<Counted>): GroupWindow;
  /** What of an input counts; undefined where it doesn't have it. */
  counted(value: string | null, rule: number): Counted | undefined;
}

type Sliding = Exclude<CorrelationType, 'temporal_ordered'>;

const countings = {
  event_count: (document, _linked, limits) => eventCount(document, limits),
  value_count: (document) => valueCount(document),
  value_sum: (document, _linked, limits) => valueTotal(document, limits),
  value_avg: (document, _linked, limits) => valueTotal(document, limits),
  value_percentile: (document, _linked, limits) =>
    document.percentile === undefined ? valueShare(document, limits) : valuePercentile(document, limits),
  temporal: (document, linked) => temporal(document, linked.alternatives),
} satisfies Record<
  Sliding,
  (
    document: CorrelationDocument,
    linked: LinkedCorrelation,
    limits: CorrelationLimits,
  ) => Omit<Counting, 'lookback' | 'reachMs'>
>;

export function planOf(linked: LinkedCorrelation, limits: CorrelationLimits): Plan {
  const { document, outer } = linked;
  const { type, timespanMs } = document;
  const reachMs = Math.max(timespanMs, limits.delayMs);
  // So many inputs decide about a timespan and the one before it.
  const kept = (keep: number) =>
    Math.max(
      keep,
      Math.min(limits.entries / 2, Math.ceil((keep * (timespanMs + reachMs)) / (2 * timespanMs))),
    );
  const shared = {
    spanMs: timespanMs,
    reachMs,
    watched: outer.some(({ whileMet }) => whileMet),
    samples: limits.samples,
  };
  if (type === 'temporal_ordered') {
    const order = ordering(shared, document.rules.length, linked.alternatives ?? [], kept);
    return {
      ...shared,
      window: (entries) => new OrderedWindow(order, entries),
      counted: (_value, rule) => rule,
    };
  }
  const plain = countings[type](document, linked, limits);
  const counting = { ...plain, keep: kept(plain.keep), lookback: limits.lookback, reachMs };
  return {
    ...shared,
    window: (entries) => new SlidingWindow(counting, entries),
    counted: counting.counted,
  };
}
