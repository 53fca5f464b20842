import type { Alert } from '../../contract/resources/alert.ts';
import { type Severity, severities } from '../../contract/resources/common.ts';
import { ServiceError } from '../../errors.ts';
import { canonicalUuid } from '../../uuid.ts';
import { present } from '../present.ts';
import type { AlertUpdate } from '../store.ts';
import { entryText, type Outbox } from './outbox.ts';
import { type AlertRow, entryCount, lastSequence, type Tables } from './tables.ts';

/** Event ids that go into the log with an alert. */
const loggedEventIds = 5;

export const atLeast = (severity: Severity, bound: Severity): boolean =>
  severities.indexOf(severity) >= severities.indexOf(bound);

/** True when the alert, as it would be, is to be logged and has not been. */
export const mustBeRaised = (row: Pick<AlertRow, 'raised' | 'alert'>): boolean =>
  !row.raised && atLeast(row.alert.severity, 'high');

/**
 * The alerts and their indexes. Every change goes through `save`, which numbers it, and so each alert that is at or
 * above high has its `alert.raised` entry from the same transaction, whatever brought it there.
 */
export class Alerts {
  /** The newest change: owned here, read anew after an undone transaction. */
  #seq = 0;
  readonly #tables: Tables;
  readonly #outbox: Outbox;

  constructor(tables: Tables, outbox: Outbox) {
    this.#tables = tables;
    this.#outbox = outbox;
    this.reload();
  }

  reload(): void {
    this.#seq = lastSequence(this.#tables.alertLog);
  }

  get count(): number {
    return entryCount(this.#tables.alerts);
  }

  /** @throws NOT_FOUND */
  require(id: string): AlertRow {
    const key = canonicalUuid(id);
    const row = key === undefined ? undefined : this.#tables.alerts.get(key);
    if (row === undefined) throw new ServiceError('NOT_FOUND', `no alert ${id}`, { field: 'alert_id' });
    return row;
  }

  /**
   * Stores a change of `before`, or a new alert: the next version, the next place in the sequence of changes.
   * Within a transaction.
   */
  save(
    before: AlertRow | undefined,
    after: Omit<AlertRow, 'seq'>,
    actor: string,
    nowMs: number,
  ): AlertUpdate {
    const { alerts, alertLog, alertTimes } = this.#tables;
    const seq = ++this.#seq;
    const raises = mustBeRaised(after);
    const alert: Alert = {
      ...after.alert,
      updated_at: new Date(nowMs).toISOString(),
      version: (before?.alert.version ?? 0) + 1,
    };
    const row: AlertRow = { ...after, seq, raised: after.raised || raises, alert };
    if (before !== undefined) alertLog.removeSync(before.seq);
    alertLog.putSync(seq, row.id);
    if (before?.alert.last_seen !== alert.last_seen) {
      if (before !== undefined) alertTimes.removeSync([Date.parse(before.alert.last_seen), row.id]);
      alertTimes.putSync([Date.parse(alert.last_seen), row.id], true);
    }
    alerts.putSync(row.id, row);
    if (raises)
      this.#outbox.add(
        { kind: 'alert.raised', actor, subject: { type: 'alert', id: row.id }, data: facts(alert) },
        nowMs,
      );
    return { seq, alert: { id: row.id, ...alert } };
  }
}

/** What the log says of an alert: bounded whatever a sensor wrote. */
function facts(alert: Alert): Record<string, unknown> {
  const { severity, src_ip, src_port, dst_ip, dst_port, count, first_seen, last_seen, dedup_key } = alert;
  return {
    rule: {
      source: alert.rule_source,
      id: entryText(alert.rule_id),
      name: entryText(alert.rule_name),
    },
    title: entryText(alert.title),
    severity,
    ...present({
      category: bounded(alert.category),
      src_ip,
      src_port,
      dst_ip,
      dst_port,
      transport: bounded(alert.transport),
      domain: bounded(alert.domain),
    }),
    count,
    first_seen,
    last_seen,
    event_ids: alert.event_ids.slice(0, loggedEventIds),
    dedup_key,
  };
}

const bounded = (text: string | undefined) => (text === undefined ? undefined : entryText(text));
