import { AuditFault } from './fault.ts';
import { clockToleranceMs } from './key-set.ts';
import type { SignedHead } from './tree-head.ts';

/**
 * Maximum age of an entry at its append, in milliseconds. The service rejects older entries, or gives delayed entries
 * the time of their append.
 */
const maxAgeMs = 24 * 3_600_000;

const maxFindings = 20;

/** An entry whose `occurred_at` is outside the window around its append. */
export interface DateFinding {
  readonly code: 'BACKDATED' | 'FUTURE';
  readonly index: number;
  readonly occurredAt: string;
  /** The first head that covers the entry. */
  readonly head: SignedHead;
  /** The last head that does not cover the entry, if known. */
  readonly before: SignedHead | undefined;
}

/** Returns whether the date precedes the head by more than the log allows, or is not a valid date. */
export function isLongBefore(date: string, head: SignedHead): boolean {
  const atMs = Date.parse(date);
  return Number.isNaN(atMs) || atMs < millisecondsOf(head) - maxAgeMs - clockToleranceMs;
}

/** Returns whether the date is later than the head by more than the allowed clock difference. */
export function isAfterHead(date: string, head: SignedHead): boolean {
  return Date.parse(date) > millisecondsOf(head) + clockToleranceMs;
}

/** Returns the time of the head, ISO 8601. */
export function timeOf(head: SignedHead): string {
  return new Date(millisecondsOf(head)).toISOString();
}

function millisecondsOf({ timestampNs }: SignedHead): number {
  return Number(timestampNs / 1_000_000n);
}

/**
 * Compares the date of each entry with the first head that covers the entry. The date must be at most a day earlier
 * than the head, and not later, apart from the clock tolerance.
 */
export class EntryDates {
  readonly findings: DateFinding[] = [];

  check(index: number, occurredAt: string, head: SignedHead, before: SignedHead | undefined): void {
    const isLate = isLongBefore(occurredAt, head);
    if (!isLate && !isAfterHead(occurredAt, head)) return;
    const code = isLate ? 'BACKDATED' : 'FUTURE';
    if (this.findings.length < maxFindings) this.findings.push({ code, index, occurredAt, head, before });
  }
}

/** Returns the first finding as a fault; undefined if the list is empty. */
export function dateFault(findings: readonly DateFinding[]): AuditFault | undefined {
  const [first] = findings;
  if (first === undefined) return undefined;
  const { code, index, occurredAt, head } = first;
  const rest = findings.length - 1;
  const more = rest === 0 ? '' : `, and at least ${rest} more ${rest === 1 ? 'entry is' : 'entries are'} misdated`;
  return new AuditFault(
    code,
    `entry ${index} is dated ${occurredAt}, but the first head that covers it is dated ${timeOf(head)}${more}`,
  );
}
