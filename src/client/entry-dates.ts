import { Fault } from './fault.ts';
import { clockToleranceMs } from './key-set.ts';
import type { SignedHead } from './tree-head.ts';

/** The service rejects older events as entries; late entries get the time of their append. */
const maxAgeMs = 24 * 3_600_000;

/** Maximum number of findings. */
const maxFindings = 20;

/** An entry whose `occurred_at` is outside the window around its append. */
export interface DateFinding {
  readonly code: 'BACKDATED' | 'FUTURE';
  readonly index: number;
  readonly occurredAt: string;
  /** Time of the first head that covers the entry, epoch milliseconds. */
  readonly coveredAtMs: number;
}

/**
 * Compares the dates of entries with the heads that first cover them: at most a day earlier, and not later,
 * apart from the clock tolerance.
 */
export class EntryDates {
  readonly findings: DateFinding[] = [];

  check(index: number, occurredAt: string, { timestampNs }: SignedHead): void {
    const coveredAtMs = Number(timestampNs / 1_000_000n);
    const atMs = Date.parse(occurredAt);
    const isLate = Number.isNaN(atMs) || atMs < coveredAtMs - maxAgeMs - clockToleranceMs;
    if (!isLate && atMs <= coveredAtMs + clockToleranceMs) return;
    const code = isLate ? 'BACKDATED' : 'FUTURE';
    if (this.findings.length < maxFindings) this.findings.push({ code, index, occurredAt, coveredAtMs });
  }
}

/** The first finding as a fault; undefined if the list is empty. */
export function dateFault(findings: readonly DateFinding[]): Fault | undefined {
  const [first] = findings;
  if (first === undefined) return undefined;
  const { code, index, occurredAt, coveredAtMs } = first;
  const more = findings.length === 1 ? '' : `, and at least ${findings.length - 1} more entries are misdated`;
  const head = new Date(coveredAtMs).toISOString();
  return new Fault(
    code,
    `entry ${index} is dated ${occurredAt}, but the first head that covers it ${head}${more}`,
  );
}
