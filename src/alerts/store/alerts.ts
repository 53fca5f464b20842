import { alertRaised } from '../../contract/critical-events.ts';
import type { Alert } from '../../contract/resources/alert.ts';
import { type Severity, severities } from '../../contract/vocabulary.ts';
import { entryCount, lastSequence } from '../../database/rows.ts';
import { ServiceError } from '../../errors.ts';
import { digestEvents } from '../../events/store/event-digests.ts';
import type { EventStore } from '../../events/store/event-store.ts';
import type { OpenAlerts } from '../../inventory/store/open-alerts.ts';
import { AlertCounts } from '../../rollups/store/alert-counts.ts';
import type { RollupTables } from '../../rollups/store/tables.ts';
import type { Outbox } from '../../store/outbox.ts';
import type { Actor, AlertUpdate } from '../../store/store.ts';
import { canonicalUuid } from '../../uuid.ts';
import { factsRow } from './alert-facts.ts';
import { AlertHistories, type ChangedBy } from './alert-history.ts';
import type { AlertRow, AlertTables } from './tables.ts';
import type { Triage } from './triage.ts';

export const atLeast = (severity: Severity, bound: Severity): boolean =>
  severities.indexOf(severity) >= severities.indexOf(bound);

/** Returns true if an alert with this state must be logged and was not logged yet. */
export const mustBeRaised = (row: Pick<AlertRow, 'raised' | 'alert'>): boolean =>
  !row.raised && atLeast(row.alert.severity, 'high');

/**
 * The alerts and their indexes. Every change goes through `save`, which numbers the change. Each alert with
 * severity high or above therefore gets an `alert.raised` entry in the same transaction.
 */
export class Alerts {
  /**
   * Sequence of the newest change. Only this class changes the sequence. The sequence is read again after an aborted
   * transaction.
   */
  #seq = 0;
  /** Changes since the last `takeChanges`. */
  #changes: AlertUpdate[] = [];
  readonly #tables: AlertTables;
  readonly #outbox: Outbox;
  readonly #openAlerts: OpenAlerts;
  readonly #counts: AlertCounts;
  readonly #histories: AlertHistories;
  readonly #triage: Triage;
  readonly #events: Pick<EventStore, 'resource'>;

  constructor(
    tables: AlertTables & Pick<RollupTables, 'rollupAlerts'>,
    outbox: Outbox,
    openAlerts: OpenAlerts,
    triage: Triage,
    events: Pick<EventStore, 'resource'>,
    believedMs: () => number,
  ) {
    this.#tables = tables;
    this.#outbox = outbox;
    this.#openAlerts = openAlerts;
    this.#counts = new AlertCounts(tables, believedMs);
    this.#histories = new AlertHistories(tables);
    this.#triage = triage;
    this.#events = events;
    this.reload();
  }

  reload(): void {
    this.#seq = lastSequence(this.#tables.alertLog);
    this.#changes = [];
    this.#triage.reload();
  }

  /** Sequence of the last change. */
  get head(): number {
    return this.#seq;
  }

  /** Returns the changes since the last call, without changes of aborted transactions. */
  takeChanges(): readonly AlertUpdate[] {
    const changes = this.#changes;
    this.#changes = [];
    return changes;
  }

  get count(): number {
    return entryCount(this.#tables.alerts);
  }

  /** Number of history records removed since the start to make room for newer ones. */
  get forgotten(): number {
    return this.#histories.removed;
  }

  /** Returns the row of an alert. @throws NOT_FOUND */
  require(id: string): AlertRow {
    const key = canonicalUuid(id);
    const row = key === undefined ? undefined : this.#tables.alerts.getStrict(key);
    if (row === undefined) throw new ServiceError('NOT_FOUND', `there is no alert ${id}`, { field: 'alert_id' });
    return row;
  }

  /**
   * Stores a change of `before`, or a new alert, with the next version, the sequence number and the history
   * records. Triages the alert if due, and learns from an analyst's verdict. Runs within a transaction.
   */
  save(
    before: AlertRow | undefined,
    after: Omit<AlertRow, 'seq'>,
    by: ChangedBy & Pick<Actor, 'call'>,
    nowMs: number,
  ): AlertUpdate {
    const { alerts, alertFacts, alertLog, alertTimes } = this.#tables;
    const seq = ++this.#seq;
    const raises = mustBeRaised(after);
    const alert: Alert = {
      ...after.alert,
      ...this.#triage.verdictFor(before, after, nowMs),
      updated_at: new Date(nowMs).toISOString(),
      version: (before?.alert.version ?? 0) + 1,
    };
    const history = this.#histories.record(after.id, before, alert, by, nowMs);
    const { taught: _, ...rest } = after;
    const row: AlertRow = {
      ...rest,
      seq,
      raised: after.raised || raises,
      ...this.#triage.taughtBy(before, after, nowMs),
      alert,
      ...(history === undefined ? {} : { history }),
    };
    if (before !== undefined) alertLog.removeSync(before.seq);
    alertLog.putSync(seq, row.id);
    if (before?.alert.last_seen !== alert.last_seen) {
      if (before !== undefined) alertTimes.removeSync([Date.parse(before.alert.last_seen), row.id]);
      alertTimes.putSync([Date.parse(alert.last_seen), row.id], true);
    }
    alerts.putSync(row.id, row);
    alertFacts.putSync(row.id, factsRow(alert));
    this.#openAlerts.saved(before, row);
    this.#counts.saved(before, row);
    if (raises) {
      const digest = digestEvents(alert.event_ids, (event) => this.#events.resource(event));
      this.#outbox.add(alertRaised(row.id, alert, by.id, digest), nowMs, by.call);
    }
    const update = { seq, alert: { id: row.id, ...alert } };
    this.#changes.push(update);
    return update;
  }
}
