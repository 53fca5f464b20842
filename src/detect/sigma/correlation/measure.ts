import type { Entries } from './entries.ts';

/** What an input counts for: a text or number, or the place of its rule in the correlation's list; 0 where only that it came. */
export type Counted = string | number;

/**
 * What one type of correlation computes of the inputs in a window. Inputs come and go in any order; each takes
 * O(log n) at most, but for `Percentile`.
 */
export interface Measure {
  add(value: Counted, weight: number): void;
  remove(value: Counted, weight: number): void;
  /** The number that is compared. @param subject - the value that came last */
  read(subject: Counted): number;
  /** Whether what is in the window is what the correlation looks for. */
  met(subject: Counted): boolean;
}

/** How a type of correlation is run; the same for all its groups. */
export interface Counting {
  /** Inputs around a late one that there may be, and all windows that it is in be looked at; else only the newest is. */
  readonly lookback: number;
  readonly spanMs: number;
  /** How much older than the newest an input may be. */
  readonly reachMs: number;
  /** Inputs that a group keeps one by one. Twice as many are made so many again by `trim`. */
  readonly keep: number;
  /** Makes them `keep` or fewer. */
  trim(entries: Entries<Counted>, keep: number): void;
  measure(): Measure;
  /** What of an input counts; undefined where it doesn't have it. */
  counted(value: string | null, rule: number): Counted | undefined;
}
