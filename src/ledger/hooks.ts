/** The places where a fault leaves something different behind; in the order in which an append passes them. */
export type LedgerStep =
  | 'batch-taken'
  | 'head-signed'
  | 'in-transaction'
  | 'flushed'
  | 'released'
  | 'anchor-written'
  | 'anchor-renamed';

/** Handed to `openLedger` by whoever wants to be told, or to break something there (by throwing, or worse). */
export interface LedgerHooks {
  at(step: LedgerStep): void;
}

export const noHooks: LedgerHooks = { at() {} };
