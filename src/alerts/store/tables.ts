import type { Alert } from '../../contract/resources/alert.ts';
import type { AlertNote } from '../../contract/resources/alert-note.ts';
import type { Severity } from '../../contract/vocabulary.ts';
import { type OpenTables, table } from '../../database/rows.ts';
import type { TriageState } from '../triage/local/describe.ts';
import type { FactsRow } from './alert-facts.ts';
import type { AlertHistoryRow } from './alert-history.ts';
import type { FoldedEnds } from './folded-ends.ts';
import type { Interval } from './intervals.ts';
import type { FoundInEvents } from './pending-findings.ts';
import type { SilenceRow } from './silence-list.ts';
import type { TallyKey, TallyRow, TaughtRow } from './triage.ts';

/** A stored alert: the resource, and fields that only the store uses. */
export interface AlertRow {
  readonly id: string;
  /** Position in the sequence of changes, which is the key in `alertLog` for this alert. */
  readonly seq: number;
  /** Whether the alert's `alert.raised` entry is in the outbox or the log. */
  readonly raised: boolean;
  /** Highest severity of the alert's findings. A severity set by an analyst is only in the resource. */
  readonly found: Severity;
  /**
   * Time when the last finding that no silence matched was received, in epoch milliseconds of the server clock.
   */
  readonly heard?: number;
  /** The addresses that a summary alert covers; absent for other alerts. */
  readonly folded?: FoldedEnds;
  /** The training step for the alert's verdict. */
  readonly taught?: TaughtRow;
  /**
   * Counters of the history: the number of the next record, and the number of stored records. Absent before the
   * first record.
   */
  readonly history?: readonly [next: number, kept: number];
  readonly alert: Alert;
}

/**
 * New alerts of one rule, or of one rule at one host, in one window of event time that begins with the first
 * alert.
 */
export interface RuleWindow {
  readonly start: number;
  readonly alerts: number;
  /**
   * Ids of the alerts that a summary alert would include. Stored only in the two newest windows, until a summary alert
   * includes these alerts.
   */
  readonly ids?: readonly string[];
}

export const alertTables = {
  /** alert id → row */
  alerts: table<AlertRow, string>('alerts', { original: true }),
  /** alert id → attributes by which alerts are counted */
  alertFacts: table<FactsRow, string>('alert-facts'),
  /** change sequence → alert id. Each alert has one key, for its latest change */
  alertLog: table<string, number>('alert-log', { original: true }),
  /** [last_seen in epoch ms, alert id] → nothing */
  alertTimes: table<true, [number, string]>('alert-times', { original: true }),
  /** leaf index → id of the alert whose entry is at this position in the log */
  alertPlaces: table<string, number>('alert-places', { original: true }),
  /** deduplication key → intervals of its recent alerts, oldest alert first */
  alertKeys: table<readonly Interval[], string>('alert-keys', { original: true }),
  /** hash of a limit (its kind, source, rule, host and scope) → recent windows, oldest first */
  ruleWindows: table<readonly RuleWindow[], string>('alert-rule-windows', { original: true }),
  /** [alert id, number of the note from 1] → note */
  notes: table<AlertNote & { id: string }, [string, number]>('alert-notes', { original: true }),
  /** [alert id, number from 0] → history record */
  alertHistory: table<AlertHistoryRow, [string, number]>('alert-history'),
  /** number → a finding in stored events that waits for the outbox to have room */
  waitingFindings: table<FoundInEvents, number>('waiting-findings'),
  /** silence id → silence */
  silences: table<SilenceRow, string>('silences'),
  /** The learned triage model */
  triageState: table<TriageState, 'model'>('triage-state'),
  /** a rule, or a rule with a source or target address → verdicts of analysts on the alerts */
  triageTallies: table<TallyRow, TallyKey>('triage-tallies'),
};

export type AlertTables = OpenTables<typeof alertTables>;
