import { readFileSync } from 'node:fs';
import type { ReadReport } from '../ledger.ts';

/** Progress of the scrub, which is stored across restarts. Times are Unix milliseconds. */
export interface ScrubState {
  passBeganAt: number;
  /** End of the pass; undefined while the pass is in progress. */
  passEndedAt: number | undefined;
  /** Entries that this pass checks: the size of the log at its start. */
  total: number;
  /** Entries checked so far. */
  entries: number;
  /** Heads checked so far. */
  heads: number;
  /** Damaged entries, pages and heads found by this pass. */
  damaged: number;
  lastPass?: { readonly endedAt: number; readonly damaged: number } | undefined;
  lastCleanPassBeganAt?: number | undefined;
  /** Most recent damage found by the scrub or by a read. */
  damage?: ReadReport['damage'] | undefined;
}

export function newPass(nowMs: number): ScrubState {
  return { passBeganAt: nowMs, passEndedAt: undefined, total: 0, entries: 0, heads: 0, damaged: 0 };
}

/** Reads the progress. Returns undefined if the file is missing or invalid: only the progress of a pass is lost. */
export function readScrubState(file: string): ScrubState | undefined {
  try {
    const found = JSON.parse(readFileSync(file, 'utf8')) as ScrubState;
    const { passBeganAt, total, entries, heads, damaged, damage } = found;
    const areCounts = [passBeganAt, total, entries, heads, damaged].every((n) => Number.isSafeInteger(n) && n >= 0);
    const isDamage = damage === undefined || (Number.isSafeInteger(damage.at) && typeof damage.message === 'string');
    return areCounts && isDamage ? found : undefined;
  } catch {
    return undefined;
  }
}
