import type { Value } from './correlation-input.ts';

/** A group meets the condition of a correlation. Later reports of the same episode have figures that are no smaller. */
export interface Fired {
  /** Key of the correlation. */
  readonly correlation: string;
  /**
   * `begins`: a new episode. `grows`: the figures of one that was reported. `joins`: the same, of one that was reported
   * as several, and so too often by `joined`.
   */
  readonly how: 'begins' | 'grows' | 'joins';
  readonly joined: number;
  readonly group: readonly { readonly field: string; readonly value: Value }[];
  /** Time of the last input of the episode, ms since 1970. */
  readonly timestamp: number;
  /** Time of its first input. */
  readonly firstTimestamp: number;
  /** Its inputs. */
  readonly count: number;
  /** What was compared: inputs, different values, sum, average, percentile, share in percent, or different rules. */
  readonly value: number;
  /** More inputs came than are kept, and the number may be greater. */
  readonly atLeast: boolean;
  /** References to some of its events, by time. */
  readonly events: readonly string[];
  /** Ends that all inputs around that time share. */
  readonly ends: unknown;
  /** Principals that sent them. */
  readonly senders: readonly string[];
}
