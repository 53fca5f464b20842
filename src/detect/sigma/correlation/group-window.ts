import type { Entries } from './entries.ts';
import type { Counted } from './measure.ts';

/** Receives the end of each window that meets the condition, and the number that was compared. */
export interface Listener {
  met(end: number, value: number): void;
}

/**
 * The inputs of one group within the last reach and timespan. Any timespan is a window, with both of its ends in it; it
 * is named by the time of its last input.
 */
export interface GroupWindow {
  /** Time of the newest input. */
  readonly newest: number;
  readonly entries: Entries<Counted>;
  /** Windows that begin before this time may lack inputs, because there were too many to keep. */
  exactFrom: number;
  /**
   * Adds an input that is at most the reach older than the newest.
   * @returns whether windows with the input are still to be evaluated
   */
  take(time: number, value: Counted, listener: Listener): boolean;
  /** Evaluates all windows that contain a time of [from, to]. @param subject - the value that came last */
  evaluate(from: number, to: number, subject: Counted, listener: Listener): void;
  /** Drops inputs that no late input can share a window with. */
  forget(): void;
  /**
   * Keeps about so many inputs.
   * @param counted - whether an input of this time is in the figures already
   */
  trim(keep: number, counted: (time: number) => boolean): void;
}
