import type { Value } from './correlation-input.ts';

/**
 * A group that meets the condition of a correlation. The figures of an episode, `count` and `value`, never decrease
 * from one report to the next.
 */
export interface Fired {
  /** Key of the correlation. */
  readonly correlation: string;
  /**
   * `begins`: a new episode. `grows`: new figures of a reported episode. `joins`: new figures of an episode that was
   * first reported as several episodes; `joined` is the number of superfluous reports.
   */
  readonly how: 'begins' | 'grows' | 'joins';
  readonly joined: number;
  readonly group: readonly { readonly field: string; readonly value: Value }[];
  /** Time of the last input of the episode, milliseconds since 1970. */
  readonly timestamp: number;
  /** Time of the first input of the episode. */
  readonly firstTimestamp: number;
  /** Number of inputs of the episode. */
  readonly count: number;
  /**
   * The compared number: inputs, distinct values, sum, average, percentile, share in percent, or distinct
   * rules.
   */
  readonly value: number;
  /** True if not all inputs were stored, so that the number may be too low. */
  readonly atLeast: boolean;
  /** References to some events of the episode, by time. */
  readonly events: readonly string[];
  /** Addresses and ports that are common to all inputs around the time of the episode. */
  readonly ends: unknown;
  /** Principals that sent the inputs. */
  readonly senders: readonly string[];
}
