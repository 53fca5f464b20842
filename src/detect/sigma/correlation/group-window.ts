import type { Entries } from './entries.ts';
import type { Counted } from './measure.ts';

/** Receives the end of each window that meets the condition, and the compared number. */
export interface Listener {
  met(end: number, value: number): void;
}

/**
 * The inputs of one group within the accepted delay (`reachMs`) and a timespan. A window has the length of the
 * timespan, both ends included, and is identified by the time of its last input.
 */
export interface GroupWindow {
  /** Time of the newest input. */
  readonly newest: number;
  readonly entries: Entries<Counted>;
  /** Windows that begin before this time may lack inputs, because there were too many to store. */
  exactFrom: number;
  /**
   * Adds an input that is at most `reachMs` older than the newest input.
   *
   * @returns true if windows with the input still have to be evaluated
   */
  take(time: number, value: Counted, listener: Listener): boolean;
  /**
   * Evaluates all windows that contain a time of [from, to].
   *
   * @param subject - the latest value
   */
  evaluate(from: number, to: number, subject: Counted, listener: Listener): void;
  /** Drops inputs that cannot share a window with a late input. */
  forget(): void;
  /**
   * Reduces the inputs to about `keep`.
   *
   * @param counted - returns true if the figures already include the inputs at a time
   */
  trim(keep: number, counted: (time: number) => boolean): void;
}
