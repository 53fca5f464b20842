import { isDeepStrictEqual } from 'node:util';
import { criticalEvent } from '../../contract/critical-events.ts';
import type { Alert } from '../../contract/resources/alert.ts';
import { alertTransitions, mayBecome } from '../../contract/vocabulary.ts';
import { ServiceError } from '../../errors.ts';
import { priorityOf, riskScore } from '../../inventory/alert-scoring.ts';
import type { LogTables } from '../../store/log-tables.ts';
import type { Outbox } from '../../store/outbox.ts';
import type { Actor, AlertChange, AlertChanged, AlertPosition, Settlement } from '../../store/store.ts';
import { type Alerts, mustBeRaised } from './alerts.ts';
import { putNote, requireRoomForNote, type StoredNote } from './notes.ts';
import type { AlertRow, AlertTables } from './tables.ts';

export interface AlertParts {
  readonly tables: AlertTables & LogTables;
  readonly alerts: Alerts;
  readonly outbox: Outbox;
}

/**
 * Plans a user's change of an alert.
 *
 * @throws NOT_FOUND; VERSION_MISMATCH when `version` is given and differs from the alert's version;
 * INVALID_TRANSITION; CONFLICT for a verdict that differs from an override, and at the limit of notes; UNAVAILABLE when
 * the change must be logged and the outbox is full.
 */
export function planChange(
  { tables, alerts, outbox }: AlertParts,
  id: string,
  change: AlertChange,
  by: Actor,
  version: number | undefined,
  nowMs: number,
): () => AlertChanged {
  const row = alerts.require(id);
  requireVersion(row, version);
  if (change.status !== undefined) requireTransition(row.alert.status, change.status);
  if (change.note !== undefined) requireRoomForNote(row);
  requireOverride(row, change);
  const alert = changed(row.alert, change, by, nowMs);
  if (change.ai_override !== undefined || mustBeRaised({ ...row, alert })) outbox.requireRoom();
  if (change.note === undefined && isDeepStrictEqual(alert, row.alert))
    return () => ({ seq: row.seq, alert: { id: row.id, ...row.alert }, unchanged: true });
  return () => {
    if (change.note !== undefined) {
      putNote(tables, row, change.note, by, nowMs);
      alert.note_count++;
    }
    const update = alerts.save(row, { ...row, alert }, by, nowMs);
    if (change.ai_override !== undefined) outbox.add(overridden(row, change.ai_override, by), nowMs, by.call);
    return update;
  };
}

/** Plans a note. @throws NOT_FOUND; CONFLICT at the limit of notes. */
export function planNote(
  { tables, alerts }: AlertParts,
  alertId: string,
  text: string,
  by: Actor,
  nowMs: number,
): () => StoredNote {
  const row = alerts.require(alertId);
  requireRoomForNote(row);
  return () => {
    const note = putNote(tables, row, text, by, nowMs);
    const alert = { ...row.alert, note_count: row.alert.note_count + 1 };
    alerts.save(row, { ...row, alert }, by, nowMs);
    return note;
  };
}

/**
 * Removes outbox rows that are in the log, and writes their positions to the alerts. Runs within a
 * transaction.
 */
export function settle(
  { tables, alerts, outbox }: AlertParts,
  settlements: readonly Settlement[],
  nowMs: number,
): void {
  let last = tables.lastEntry.get('last');
  for (const { id, leaf_index, tree_size, leaf_hash } of settlements) {
    if (last === undefined || leaf_index > last.leaf_index) last = { leaf_index, leaf_hash };
    const entry = outbox.remove(id);
    if (entry?.kind !== 'alert.raised') continue;
    const row = tables.alerts.get(entry.subject.id);
    if (row === undefined) continue;
    const alert = { ...row.alert, transparency: { leaf_index, tree_size, leaf_hash } };
    tables.alertPlaces.putSync(leaf_index, row.id);
    alerts.save(row, { ...row, alert }, { id: 'system' }, nowMs);
  }
  if (last !== undefined) tables.lastEntry.putSync('last', last);
}

/** Returns the positions of the last alerts in the log, highest leaf first. */
export function lastAlertPositions(tables: AlertTables & LogTables, limit: number, below?: number): AlertPosition[] {
  const positions: AlertPosition[] = [];
  const start = below === undefined ? {} : { start: below - 1 };
  for (const { value: id } of tables.alertPlaces.getRange({ reverse: true, limit, ...start })) {
    const { leaf_index, leaf_hash } = tables.alerts.get(id)?.alert.transparency ?? {};
    if (leaf_index !== undefined && leaf_hash !== undefined)
      positions.push({ kind: 'alert', place: leaf_index, alert_id: id, leaf_hash });
  }
  return positions;
}

/**
 * Removes the log positions of alerts. Saving the alerts then creates new entries for alerts that must be
 * logged. Runs within a transaction.
 */
export function logAlertsAgain({ tables, alerts }: AlertParts, ids: readonly string[], nowMs: number): void {
  for (const id of ids) {
    const row = tables.alerts.get(id);
    if (row?.alert.transparency === undefined) continue;
    const { transparency, ...alert } = row.alert;
    tables.alertPlaces.removeSync(transparency.leaf_index);
    alerts.save(row, { ...row, raised: false, alert }, { id: 'system' }, nowMs);
  }
}

function requireVersion(row: AlertRow, version: number | undefined): void {
  if (version === undefined || version === row.alert.version) return;
  throw new ServiceError('VERSION_MISMATCH', `alert ${row.id} has version ${row.alert.version}, not ${version}`, {
    version: row.alert.version,
  });
}

/**
 * Rejects a verdict that differs from the analyst's override of the AI verdict, because overrides are in the log. Only
 * another override can replace it.
 */
function requireOverride({ id, alert: { override } }: AlertRow, { verdict, ai_override }: AlertChange): void {
  if (verdict === undefined || ai_override !== undefined || override === undefined) return;
  if (verdict === override.verdict) return;
  throw new ServiceError(
    'CONFLICT',
    `verdict: alert ${id} has the verdict ${override.verdict} by an override; use ai_override to replace it`,
    { field: 'verdict', override: override.verdict },
  );
}

function requireTransition(from: Alert['status'], to: Alert['status']): void {
  if (mayBecome(from, to)) return;
  const allowed = alertTransitions[from];
  throw new ServiceError(
    'INVALID_TRANSITION',
    `status: cannot change from ${from} to ${to}; allowed: ${allowed.join(', ') || 'none'}`,
    { from, to, allowed },
  );
}

function changed(before: Alert, change: AlertChange, by: Actor, nowMs: number): Alert {
  const alert: Alert = { ...before };
  if (change.status !== undefined) {
    alert.status = change.status;
    // A user set the status, so neither a silence nor a flood may revert it.
    delete alert.silence_id;
    delete alert.folded_into;
  }
  if (change.severity !== undefined) setSeverity(alert, change.severity);
  if (change.priority !== undefined) alert.priority = change.priority;
  if (change.tags !== undefined) alert.tags = [...change.tags];
  if (change.assignee) alert.assignee = change.assignee;
  else if (change.assignee !== undefined) delete alert.assignee;
  if (change.ai_override !== undefined) {
    const { verdict, reason } = change.ai_override;
    alert.override = { verdict, reason, by: by.name, at: new Date(nowMs).toISOString() };
    alert.verdict = verdict;
  }
  if (change.verdict) alert.verdict = change.verdict;
  else if (change.verdict !== undefined) delete alert.verdict;
  return alert;
}

/** Sets the severity with its risk score, and the priority unless a user has set the priority. */
export function setSeverity(alert: Alert, severity: Alert['severity']): void {
  if (alert.priority === priorityOf(alert.severity)) alert.priority = priorityOf(severity);
  alert.severity = severity;
  alert.risk_score = riskScore(severity, alert.confidence);
}

function overridden(row: AlertRow, override: NonNullable<AlertChange['ai_override']>, by: Actor) {
  const ai = row.alert.ai_verdict;
  return criticalEvent('verdict.overridden', row.id, { ...override, ai_verdict: ai?.verdict, model: ai?.model }, by.id);
}
