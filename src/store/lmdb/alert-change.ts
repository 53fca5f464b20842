import { isDeepStrictEqual } from 'node:util';
import { verdictOverridden } from '../../contract/critical-events.ts';
import type { Alert } from '../../contract/resources/alert.ts';
import { alertTransitions, mayBecome } from '../../contract/vocabulary.ts';
import { ServiceError } from '../../errors.ts';
import { priorityOf, riskScore } from '../alert-scoring.ts';
import type { Actor, AlertChange, AlertChanged, AlertPlace, AlertUpdate, Settlement } from '../store.ts';
import { type Alerts, mustBeRaised } from './alerts.ts';
import { putNote, requireRoomForNote, type StoredNote } from './notes.ts';
import type { Outbox } from './outbox.ts';
import type { AlertRow, Tables } from './tables.ts';

export interface AlertTables {
  readonly tables: Tables;
  readonly alerts: Alerts;
  readonly outbox: Outbox;
}

/**
 * Plans a user's change of an alert.
 *
 * @throws NOT_FOUND; VERSION_MISMATCH when `version` is given and is not the alert's; INVALID_TRANSITION;
 * UNAVAILABLE when the change must be logged and the outbox is full.
 */
export function planChange(
  { tables, alerts, outbox }: AlertTables,
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

/** Plans a note. @throws NOT_FOUND */
export function planNote(
  { tables, alerts }: AlertTables,
  alertId: string,
  text: string,
  by: Actor,
  nowMs: number,
): () => { note: StoredNote; update: AlertUpdate } {
  const row = alerts.require(alertId);
  requireRoomForNote(row);
  return () => {
    const note = putNote(tables, row, text, by, nowMs);
    const alert = { ...row.alert, note_count: row.alert.note_count + 1 };
    return { note, update: alerts.save(row, { ...row, alert }, by, nowMs) };
  };
}

/** Removes the rows that the log has, and writes their positions to the alerts. Runs within a transaction. */
export function settle(
  { tables, alerts, outbox }: AlertTables,
  settlements: readonly Settlement[],
  nowMs: number,
): AlertUpdate[] {
  const updates: AlertUpdate[] = [];
  let last = tables.lastEntry.get('last');
  for (const { id, leaf_index, tree_size, leaf_hash } of settlements) {
    if (last === undefined || leaf_index > last.leaf_index) last = { leaf_index, leaf_hash };
    const entry = outbox.remove(id);
    if (entry?.kind !== 'alert.raised') continue;
    const row = tables.alerts.get(entry.subject.id);
    if (row === undefined) continue;
    const alert = { ...row.alert, transparency: { leaf_index, tree_size, leaf_hash } };
    tables.alertPlaces.putSync(leaf_index, row.id);
    updates.push(alerts.save(row, { ...row, alert }, { id: 'system' }, nowMs));
  }
  if (last !== undefined) tables.lastEntry.putSync('last', last);
  return updates;
}

/** Returns the positions of the last alerts in the log, highest leaf first. */
export function lastAlertPlaces(tables: Tables, limit: number, below?: number): AlertPlace[] {
  const places: AlertPlace[] = [];
  const start = below === undefined ? {} : { start: below - 1 };
  for (const { value: id } of tables.alertPlaces.getRange({ reverse: true, limit, ...start })) {
    const { leaf_index, leaf_hash } = tables.alerts.get(id)?.alert.transparency ?? {};
    if (leaf_index !== undefined && leaf_hash !== undefined)
      places.push({ kind: 'alert', place: leaf_index, alert_id: id, leaf_hash });
  }
  return places;
}

/**
 * Removes the log positions of alerts; saving them raises those that must be logged. Runs within a
 * transaction.
 */
export function logAlertsAgain(
  { tables, alerts }: AlertTables,
  ids: readonly string[],
  nowMs: number,
): AlertUpdate[] {
  const updates: AlertUpdate[] = [];
  for (const id of ids) {
    const row = tables.alerts.get(id);
    if (row?.alert.transparency === undefined) continue;
    const { transparency, ...alert } = row.alert;
    tables.alertPlaces.removeSync(transparency.leaf_index);
    updates.push(alerts.save(row, { ...row, raised: false, alert }, { id: 'system' }, nowMs));
  }
  return updates;
}

function requireVersion(row: AlertRow, version: number | undefined): void {
  if (version === undefined || version === row.alert.version) return;
  throw new ServiceError(
    'VERSION_MISMATCH',
    `alert ${row.id} has version ${row.alert.version}, not ${version}`,
    { version: row.alert.version },
  );
}

/** An override of the AI's verdict is in the log, so only another override can replace the verdict. */
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
    `status: an alert that is ${from} can become ${allowed.join(' or ') || 'nothing else'}, not ${to}`,
    { from, to, allowed },
  );
}

function changed(before: Alert, change: AlertChange, by: Actor, nowMs: number): Alert {
  const alert: Alert = { ...before };
  if (change.status !== undefined) {
    alert.status = change.status;
    // From here on the status is a user's decision, which neither a silence nor a flood reverts.
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

/** Sets the severity with its risk score, and the priority unless a user set another one. */
export function setSeverity(alert: Alert, severity: Alert['severity']): void {
  if (alert.priority === priorityOf(alert.severity)) alert.priority = priorityOf(severity);
  alert.severity = severity;
  alert.risk_score = riskScore(severity, alert.confidence);
}

function overridden(row: AlertRow, override: NonNullable<AlertChange['ai_override']>, by: Actor) {
  const ai = row.alert.ai_verdict;
  return verdictOverridden(row.id, { ...override, ai_verdict: ai?.verdict, model: ai?.model }, by.id);
}
