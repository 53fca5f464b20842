/** What an indicator of a list names: addresses, or a domain. */
export type IndicatorValue =
  | {
      readonly kind: 'address';
      /** Canonical: an address, or a block with a `/` whose host bits are zero. */
      readonly text: string;
    }
  | {
      readonly kind: 'domain';
      /** Lower case ASCII without a final dot. */
      readonly text: string;
      /** Only this name, and none below it: a list that names a page of a host says nothing of other hosts. */
      readonly exact: boolean;
    };

/** What else a list says of it. */
export interface IndicatorTerms {
  /** Epoch milliseconds: good for events of this time and later; absent: of any. */
  readonly from?: number;
  /** … and before this; absent where the list sets no end. */
  readonly until?: number;
  /** 0–100. */
  readonly confidence?: number;
  /** What the list calls it. */
  readonly label?: string;
}

export type Indicator = IndicatorValue & IndicatorTerms;

/** What is not taken of a list. */
export interface Rejected {
  /** Of plain lines: which, from 1. */
  readonly line?: number;
  /** Of STIX: which of the bundle's objects, from 0. */
  readonly object?: number;
  /** As it is written, cut. */
  readonly value: string;
  readonly reason: string;
}
