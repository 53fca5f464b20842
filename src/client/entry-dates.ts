import { Fault } from './fault.ts';
import { clockToleranceMs } from './key-set.ts';
import type { SignedHead } from './tree-head.ts';

/** The service refuses entries that happened longer ago; late ones get the time of their append. */
const maxAgeMs = 24 * 3_600_000;

/** Findings that are kept. */
const maxKept = 20;

/** An entry whose `occurred_at` lies outside of the window around its append. */
export interface DateFinding {
  readonly code: 'BACKDATED' | 'FUTURE';
  readonly index: number;
  readonly occurredAt: string;
  /** The first head that covers the entry. */
  readonly head: SignedHead;
  /** The last head that does not cover it; undefined where none is known. */
  readonly before: SignedHead | undefined;
}

/** Whether the date lies further before the head than the log allows, or is no date. */
export function isLongBefore(date: string, head: SignedHead): boolean {
  const atMs = Date.parse(date);
  return Number.isNaN(atMs) || atMs < millisecondsOf(head) - maxAgeMs - clockToleranceMs;
}

/** Whether the date lies after the head by more than clocks may differ. */
export function isAfterHead(date: string, head: SignedHead): boolean {
  return Date.parse(date) > millisecondsOf(head) + clockToleranceMs;
}

function millisecondsOf({ timestampNs }: SignedHead): number {
  return Number(timestampNs / 1_000_000n);
}

/**
 * Compares the dates of entries with the heads that first cover them: at most a day before, and not after but for the
 * tolerance of clocks.
 */
export class EntryDates {
  readonly findings: DateFinding[] = [];

  check(index: number, occurredAt: string, head: SignedHead, before: SignedHead | undefined): void {
    const isLate = isLongBefore(occurredAt, head);
    if (!isLate && !isAfterHead(occurredAt, head)) return;
    const code = isLate ? 'BACKDATED' : 'FUTURE';
    if (this.findings.length < maxKept) this.findings.push({ code, index, occurredAt, head, before });
  }
}

/** The first of the findings as a fault; undefined without any. */
export function dateFault(findings: readonly DateFinding[]): Fault | undefined {
  const [first] = findings;
  if (first === undefined) return undefined;
  const { code, index, occurredAt } = first;
  const more = findings.length === 1 ? '' : `, and ${findings.length - 1} or more other entries are misdated`;
  const head = new Date(millisecondsOf(first.head)).toISOString();
  return new Fault(
    code,
    `entry ${index} is dated ${occurredAt}, and the first head that covers it ${head}${more}`,
  );
}
