import type { Alert } from '../../contract/resources/alert.ts';
import { limits } from '../../limits.ts';
import { canonicalUuid, uuid7 } from '../../uuid.ts';
import { type AlertChangeRecord, alertChanges } from '../alert-changes.ts';
import { jsonPage } from '../json-page.ts';
import { alertHistoryListOf, type NumberedChange } from '../lists/alert-history.ts';
import { pageOf } from '../lists/list.ts';
import type { Actor, ListPage, ListQuery } from '../store.ts';
import { within } from './inventory/grouped-rows.ts';
import type { AlertRow, Tables } from './tables.ts';
import { slackOf, trimHistory } from './trim-history.ts';

/** Epoch milliseconds; id of the record; who: a principal's id and name, or undefined for the service; what. */
export type AlertHistoryRow = readonly [
  atMs: number,
  id: string,
  by: readonly [id: string, name: string] | undefined,
  record: AlertChangeRecord,
];

/** What findings, silences and the ledger bring about. */
const system = 'system';

/** Who changed it. The name is a person's. */
export type ChangedBy = Pick<Actor, 'id'> & Partial<Pick<Actor, 'name'>>;

const slack = slackOf(limits.maxAlertHistory);

/** What happened to each alert. */
export class AlertHistories {
  /** Records that made room for newer ones since this was opened. */
  removed = 0;
  readonly #table: Tables['alertHistory'];

  constructor({ alertHistory }: Pick<Tables, 'alertHistory'>) {
    this.#table = alertHistory;
  }

  /**
   * Writes what a change of an alert is in its history. Within the transaction of the change.
   *
   * @returns what the alert's row is to say of its history: the number of the next record, and how many there are
   */
  record(
    id: string,
    before: AlertRow | undefined,
    after: Alert,
    by: ChangedBy,
    nowMs: number,
  ): AlertRow['history'] {
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

/** Stored, what is undefined may come back as null. */
const isByPerson = ([, , by]: AlertHistoryRow): boolean => by != null;

/** One page of the history of an alert; empty for one that isn't there. Each has at most limits.maxAlertHistory, or so. */
export function listAlertHistory(
  { alertHistory }: Pick<Tables, 'alertHistory'>,
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
