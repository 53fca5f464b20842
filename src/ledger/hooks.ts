import type { LedgerStorage } from './storage/storage.ts';

/** The places where a fault leaves something different behind; in the order in which an append passes them. */
export type LedgerStep =
  | 'batch-taken'
  | 'head-signed'
  | 'in-transaction'
  | 'flushed'
  | 'released'
  | 'anchor-written'
  | 'anchor-renamed'
  // A change of keys; in between it passes the steps of appends.
  | 'key-published'
  | 'key-rotated'
  | 'key-files-written'
  | 'new-key-active'
  | 'old-key-ended'
  | 'keys-changed'
  | 'key-end-logged'
  // The start of a life: its entry is in the log; the key file does not promise it any more.
  | 'life-logged'
  | 'life-begun';

/** Handed to `openLedger` by whoever wants to be told, or to break something there (by throwing, or worse). */
export interface LedgerHooks {
  at(step: LedgerStep): void;
  /** Stands between the ledger and its database from now on. */
  storage?(storage: LedgerStorage): LedgerStorage;
}

export const noHooks: LedgerHooks = { at() {} };
