import { type AlertStatus, alertStatuses, type Severity, severities } from '../contract/vocabulary.ts';
import type { Level } from './levels.ts';
import { counters, distincts, type Rollup } from './rollup.ts';

/** What is followed over time. */
export const metrics = [...counters, ...distincts, 'alerts'] as const;
export type Metric = (typeof metrics)[number];

/** Which times are asked for: epoch milliseconds, each the start of a bucket of `unit` but `now`. */
export interface RollupQuery {
  /** Width of the buckets of series. */
  readonly unit: Level;
  /** The window is [from, now], the one before it [previousFrom, from). */
  readonly from: number;
  readonly previousFrom: number;
  /** Where series begin, at `from` or earlier. */
  readonly seriesFrom: number;
  readonly now: number;
}

export interface RollupView {
  readonly current: Rollup;
  /** Without lists of those met most. */
  readonly previous: Rollup;
  readonly currentAlerts: AlertTally;
  readonly previousAlerts: AlertTally;
  /** Of each bucket from `seriesFrom` to that of now. */
  readonly series: Readonly<Record<Metric, Float64Array>>;
  /** Start of the first hour of which anything is known, epoch milliseconds; undefined where nothing is. */
  readonly begins: number | undefined;
  /** When the newest event was received, epoch milliseconds. */
  readonly received: number | undefined;
}

/** How many alerts there are of each severity and status. */
export class AlertTally {
  readonly counts: Float64Array;

  constructor(counts: Float64Array = new Float64Array(severities.length * alertStatuses.length)) {
    this.counts = counts;
  }

  /** Place of a severity and a status. */
  static place(severity: Severity, status: AlertStatus): number {
    return severities.indexOf(severity) * alertStatuses.length + alertStatuses.indexOf(status);
  }

  merge(other: AlertTally): void {
    for (let i = 0; i < this.counts.length; i++) this.counts[i]! += other.counts[i]!;
  }

  get total(): number {
    return this.counts.reduce((sum, count) => sum + count, 0);
  }

  ofSeverity(severity: Severity): number {
    return alertStatuses.reduce((sum, status) => sum + this.counts[AlertTally.place(severity, status)]!, 0);
  }

  ofStatus(status: AlertStatus): number {
    return severities.reduce((sum, severity) => sum + this.counts[AlertTally.place(severity, status)]!, 0);
  }
}
