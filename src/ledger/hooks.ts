import type { LedgerStorage } from './storage/storage.ts';

/**
 * Steps after which an interruption leaves different state on disk, in the order in which an append passes
 * them.
 */
export type LedgerStep =
  | 'batch-taken'
  | 'head-signed'
  | 'in-transaction'
  | 'flushed'
  | 'released'
  | 'anchor-written'
  | 'anchor-renamed'
  // Steps of a key change, which also passes the steps of appends.
  | 'key-published'
  | 'key-rotated'
  | 'key-files-written'
  | 'new-key-active'
  | 'old-key-ended'
  | 'keys-changed'
  | 'key-end-logged'
  // Steps of the start of a life: its entry is logged, then removed from the key file.
  | 'life-logged'
  | 'life-begun';

/** Hooks for `openLedger`, to observe steps or to inject faults by throwing. */
export interface LedgerHooks {
  at(step: LedgerStep): void;
  /** Wraps the database of the ledger. */
  storage?(storage: LedgerStorage): LedgerStorage;
}

export const noHooks: LedgerHooks = { at() {} };
