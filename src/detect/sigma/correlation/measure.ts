import type { Trim } from './trim.ts';

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
  readonly spanMs: number;
  /** How much older than the newest an input may be. */
  readonly reachMs: number;
  /** More inputs never stop the condition from being met. */
  readonly monotone: boolean;
  /** Inputs that a window needs to meet the condition, at least. */
  readonly least: number;
  /** Inputs that decide whether the condition is met: so many a group keeps where room is short. */
  readonly enough: number;
  /** Inputs that a group keeps one by one where there is room. Twice as many are made so many again by `trim`. */
  readonly keep: number;
  readonly trim: Trim;
  /** The measure reads how many inputs an entry stands for. */
  readonly weighsInputs: boolean;
  /** Inputs around a late one that there may be for all windows with it to be evaluated, where more may be less. */
  readonly lookback: number;
  measure(): Measure;
  /** What of an input counts; undefined where it doesn't have it. */
  counted(value: string | null, rule: number): Counted | undefined;
}

/** The part of `Counting` that a type of correlation defines. */
export type TypeCounting = Pick<Counting, 'monotone' | 'trim' | 'measure' | 'counted'> &
  Partial<Pick<Counting, 'least' | 'enough' | 'weighsInputs'>>;
