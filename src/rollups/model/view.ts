import { type AlertStatus, alertStatuses, type Severity, severities } from '../../contract/vocabulary.ts';
import type { Level } from './levels.ts';
import { counters, distincts, type Rollup } from './rollup.ts';

/** Metrics with a time series. */
export const metrics = [...counters, ...distincts, 'alerts'] as const;
export type Metric = (typeof metrics)[number];

/** The requested times in epoch milliseconds. All times except `now` are starts of buckets of `unit`. */
export interface RollupQuery {
  /** Width of the buckets in the series. */
  readonly unit: Level;
  /** Start of the window [from, now]. */
  readonly from: number;
  /** Start of the previous window [previousFrom, from). */
  readonly previousFrom: number;
  /** Start of the series, at or before `from`. */
  readonly seriesFrom: number;
  readonly now: number;
}

export interface RollupView {
  readonly current: Rollup;
  /** The rollup of the previous window, without lists of the most frequent values. */
  readonly previous: Rollup;
  readonly currentAlerts: AlertTally;
  readonly previousAlerts: AlertTally;
  /** A value for each bucket from `seriesFrom` to the current bucket. */
  readonly series: Readonly<Record<Metric, Float64Array>>;
  /** Start of the first hour with data, epoch milliseconds; undefined without data. */
  readonly begins: number | undefined;
  /** Time of receipt of the newest event, epoch milliseconds. */
  readonly received: number | undefined;
}

/** Number of alerts of each severity and status. */
export class AlertTally {
  readonly counts: Float64Array;

  constructor(counts: Float64Array = new Float64Array(severities.length * alertStatuses.length)) {
    this.counts = counts;
  }

  /** Returns the index of a severity and a status. */
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
