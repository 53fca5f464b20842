import type { Value } from './correlation-input.ts';

/** A group met the condition of a correlation, or goes on to. */
export interface Fired {
  /** Key of the correlation. */
  readonly correlation: string;
  /** `begins`: a new matter. `grows`: the same as before, with twice as many inputs as when it was last told. */
  readonly how: 'begins' | 'grows';
  readonly group: readonly { readonly field: string; readonly value: Value }[];
  /** End of the window that meets the condition: time of its last input, ms since 1970. */
  readonly timestamp: number;
  /** Time of the first input of the matter. */
  readonly firstTimestamp: number;
  /** Inputs of the matter so far; at least so many where more came than are kept. */
  readonly count: number;
  /** What was compared: inputs, different values, sum, average, percentile, share in percent, or different rules. */
  readonly value: number;
  /** References to some of the events in the window, by time. */
  readonly events: readonly string[];
  /** Those that all inputs of the group share. */
  readonly ends: unknown;
  /** Keys of the rules that matched since the window began. */
  readonly rules: readonly string[];
}
