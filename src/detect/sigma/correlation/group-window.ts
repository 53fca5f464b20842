import type { Entries } from './entries.ts';
import type { Counted } from './measure.ts';

/** What a window has that meets its correlation. */
export interface Found {
  /** Inputs in it, of those that are kept. */
  readonly count: number;
  /** Time of the first. */
  readonly first: number;
  /** The number that was compared. */
  readonly value: number;
}

/** What came for one group within the last two timespans, of which a window is any timespan. */
export interface GroupWindow {
  /** Time of the newest input. */
  readonly newest: number;
  /** What is kept. */
  readonly entries: Entries<Counted>;
  /**
   * Takes an input, which is no more than a timespan older than the newest.
   * @param asks - whether it matters what it does
   * @returns the end of the newest window that contains the input and meets the condition
   */
  take(time: number, value: Counted, asks: boolean): number | undefined;
  /** What the window that ends there has. */
  describe(end: number, subject: Counted): Found;
}
