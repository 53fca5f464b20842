import type { Trim } from './trim.ts';

/**
 * The counted part of an input: a text or number, or the index of the rule that matched, in the correlation's list. The
 * part is 0 if only the number of inputs matters.
 */
export type Counted = string | number;

/**
 * The value that a type of correlation computes from the inputs in a window. Inputs are added and removed in
 * any order. Each operation takes at most O(log n), except for `Percentile`.
 */
export interface Measure {
  add(value: Counted, weight: number): void;
  remove(value: Counted, weight: number): void;
  /**
   * Returns the compared number.
   *
   * @param subject - the latest value
   */
  read(subject: Counted): number;
  /** Returns true if the inputs in the window meet the condition. */
  met(subject: Counted): boolean;
}

/** The implementation of a type of correlation, shared by all groups. */
export interface Counting {
  readonly spanMs: number;
  /** Maximum age of an input, relative to the newest input. */
  readonly reachMs: number;
  /** True if more inputs never stop the condition from being met. */
  readonly monotone: boolean;
  /** Minimum inputs of a window that meets the condition. */
  readonly least: number;
  /**
   * Number of inputs that decide whether the condition is met. Under memory pressure, a group keeps only this number of
   * inputs.
   */
  readonly enough: number;
  /**
   * Number of inputs that a group keeps individually without memory pressure. At twice this number, `trim` reduces the
   * inputs to this number.
   */
  readonly keep: number;
  readonly trim: Trim;
  /** True if the measure uses the number of inputs per entry. */
  readonly weighsInputs: boolean;
  /**
   * Maximum inputs within a timespan of a late input for evaluating all windows that contain the late input. Applies
   * only if more inputs can stop the condition from being met.
   */
  readonly lookback: number;
  measure(): Measure;
  /** Returns the counted part of an input; undefined if it is missing. */
  counted(value: string | null, rule: number): Counted | undefined;
}

/** The part of `Counting` that a type of correlation defines. */
export type TypeCounting = Pick<Counting, 'monotone' | 'trim' | 'measure' | 'counted'> &
  Partial<Pick<Counting, 'least' | 'enough' | 'weighsInputs'>>;
