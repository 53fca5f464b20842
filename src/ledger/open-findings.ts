import type { LedgerFinding, LedgerFindingCode } from './ledger.ts';

/**
 * The open findings of the log, one for each code: raised when a condition is detected, cleared when it is
 * gone. Used by the ledger's thread only.
 */
export class OpenFindings {
  readonly #nowMs: () => number;
  readonly #open = new Map<LedgerFindingCode, LedgerFinding>();

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  /** Opens a finding. If a finding with the code is already open, updates its message and keeps its time. */
  raise(code: LedgerFindingCode, message: string): void {
    const since = this.#open.get(code)?.since ?? new Date(this.#nowMs()).toISOString();
    this.#open.set(code, { code, message, since });
  }

  clear(code: LedgerFindingCode): void {
    this.#open.delete(code);
  }

  /** Returns the open findings, oldest first. */
  list(): LedgerFinding[] {
    return [...this.#open.values()];
  }
}
