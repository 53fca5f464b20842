import type { Alert } from '../../contract/resources/alert.ts';
import { within } from '../../database/grouped-rows.ts';
import { jsonPage } from '../../database/json-page.ts';
import { pageOf } from '../../database/lists/list.ts';
import { slackOf, trimHistory } from '../../database/trim-history.ts';
import { limits } from '../../limits.ts';
import type { Actor, ListPage, ListQuery } from '../../store/store.ts';
import { canonicalUuid, uuid7 } from '../../uuid.ts';
import { type AlertChangeRecord, alertChanges } from '../alert-changes.ts';
import { alertHistoryListOf, type NumberedChange } from '../lists/alerts.ts';
import type { AlertRow, AlertTables } from './tables.ts';

/**
 * A stored history record: its time in epoch milliseconds, its id, the principal's id and name (undefined for
 * the service), and the change.
 */
export type AlertHistoryRow = readonly [
  atMs: number,
  id: string,
  by: readonly [id: string, name: string] | undefined,
  record: AlertChangeRecord,
];

/** Author of changes that findings, silences and the ledger cause. */
const system = 'system';

/** Author of the change. Only users have a name. */
export type ChangedBy = Pick<Actor, 'id'> & Partial<Pick<Actor, 'name'>>;

const slack = slackOf(limits.maxAlertHistory);

/** The change history of each alert. */
export class AlertHistories {
  /** Number of records removed since the start to make room for newer ones. */
  removed = 0;
  readonly #table: AlertTables['alertHistory'];

  constructor({ alertHistory }: Pick<AlertTables, 'alertHistory'>) {
    this.#table = alertHistory;
  }

  /**
   * Writes a change of an alert into its history. Runs within the transaction of the change.
   *
   * @returns the history field for the alert's row: the number of the next record, and the number of records
   */
  record(id: string, before: AlertRow | undefined, after: Alert, by: ChangedBy, nowMs: number): AlertRow['history'] {
    const changes = alertChanges(before?.alert, after);
    if (changes.length === 0) return before?.history;
    let [next, kept] = before?.history ?? [0, 0];
    const who = by.id === system ? undefined : ([by.id, by.name ?? by.id] as const);
    for (const change of changes) this.#table.putSync([id, next++], [nowMs, uuid7(nowMs), who, change]);
    kept += changes.length;
    if (kept > limits.maxAlertHistory + slack) kept = this.#trim(id);
    return [next, kept];
  }

  #trim(id: string): number {
    const { removed, left } = trimHistory(this.#table, id, limits.maxAlertHistory, isByPerson);
    this.removed += removed;
    return left;
  }
}

/** Returns whether a user made the change. The author may be null instead of undefined in a stored record. */
const isByPerson = ([, , by]: AlertHistoryRow): boolean => by != null;

/**
 * Returns one page of an alert's history; empty if there is no such alert. Each history has at most about
 * limits.maxAlertHistory records.
 */
export function listAlertHistory(
  { alertHistory }: Pick<AlertTables, 'alertHistory'>,
  alertId: string,
  query: ListQuery,
  cancelled: () => boolean,
): ListPage {
  const alert = canonicalUuid(alertId) ?? '';
  const list = alertHistoryListOf(alert);
  const changes = new Map<string, NumberedChange>();
  for (const { key, value } of alertHistory.getRange(within<number>(alert))) {
    const [at, id, by, record] = value;
    const actor = by == null ? { id: system } : { id: by[0], name: by[1] };
    changes.set(id, { number: key[1], at, actor, record });
  }
  const rows = Array.from(changes, ([id, item]) => ({ id, item }));
  const { shown, ...rest } = pageOf(list, rows, query, cancelled);
  const resources = shown.map(({ id }) => {
    const { at, actor, record } = changes.get(id)!;
    const { action, ...what } = record;
    const attributes = { alert_id: alert, at: new Date(at).toISOString(), action, actor, ...what };
    return { id, type: list.type, attributes };
  });
  return { json: jsonPage(resources, query), ...rest };
}
