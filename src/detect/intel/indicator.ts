/** The value of an indicator: a range of addresses, or a domain. */
export type IndicatorValue =
  | {
      readonly kind: 'address';
      /** Canonical text: an address, or a block with a `/` whose host bits are zero. */
      readonly text: string;
    }
  | {
      readonly kind: 'domain';
      /** The name in lower case ASCII without a final dot. */
      readonly text: string;
      /**
       * True if the indicator covers only this name, not the names below it: a URL in a list makes no
       * statement about other hosts.
       */
      readonly exact: boolean;
    };

/** Optional properties of an indicator. */
export interface IndicatorOptions {
  /** Start of validity in event time, epoch milliseconds; absent without a start. */
  readonly from?: number;
  /** End of validity in event time (exclusive), epoch milliseconds; absent without an end. */
  readonly until?: number;
  /** Confidence, 0–100. */
  readonly confidence?: number;
  /** Label in the list. */
  readonly label?: string;
}

export type Indicator = IndicatorValue & IndicatorOptions;

/** A rejected value of a list. */
export interface Rejected {
  /** Line number in a plain-text list, from 1. */
  readonly line?: number;
  /** Index among the objects of a STIX bundle, from 0. */
  readonly object?: number;
  /** The value in the list, truncated. */
  readonly value: string;
  readonly reason: string;
}
