import { ServiceError } from '../../../errors.ts';
import { api } from '../../state/session.ts';
import { counted, number } from '../../ui/format.ts';
import { say, sayFailure } from '../../ui/toasts.tsx';
import { alertsChanged, putAlerts } from './cache.ts';
import { type Change, describeChange, predicted } from './changes.ts';
import type { FailedChange, Target } from './target.ts';

/** Maximum number of ids in one bulk request. */
const idsAtOnce = 1000;

/** Totals of a bulk change. */
interface Tally {
  matched: number;
  changed: number;
  unchanged: number;
  failed: number;
  readonly reasons: Set<string>;
  readonly failedIds: Set<string>;
}

/**
 * Applies one change to the listed alerts, or to all alerts that match a filter. `onProgress` receives the number of
 * alerts processed.
 *
 * @returns `all` if no alert failed, otherwise `some`; a toast reports the numbers. Returns the failure if a request
 * failed, or if the service rejected the change of every alert
 */
export async function changeMany(
  target: Target,
  change: Change,
  onProgress: (done: number) => void,
): Promise<'all' | 'some' | FailedChange> {
  const tally: Tally = {
    matched: 0,
    changed: 0,
    unchanged: 0,
    failed: 0,
    reasons: new Set(),
    failedIds: new Set(),
  };
  const update = async (selection: { ids: string[] } | { filter: Record<string, unknown> }) => {
    const { data } = await api.call('bulkUpdateAlerts', { body: { ...selection, change } });
    tally.matched += data.matched;
    tally.changed += data.changed;
    tally.unchanged += data.unchanged;
    tally.failed += data.failed_total;
    for (const { id, reason } of data.failed) {
      tally.failedIds.add(id);
      tally.reasons.add(reason.replace(id, '').replace(/ {2,}/g, ' '));
    }
    onProgress(tally.matched);
  };
  const rows = 'rows' in target ? target.rows : [];
  let at = 0;
  try {
    if ('filter' in target) await update({ filter: { ...target.filter } });
    for (; at < rows.length; at += idsAtOnce) await update({ ids: rows.slice(at, at + idsAtOnce).map(({ id }) => id) });
  } catch (error) {
    await alertsChanged();
    return {
      left: 'rows' in target ? { rows: rows.slice(at) } : target,
      what:
        tally.changed === 0
          ? 'No alerts were changed'
          : `Stopped after ${counted(tally.changed, 'alert')}; the other alerts were not changed`,
      error,
    };
  }
  // If the service named all alerts that failed, shows the expected changes on the other alerts. Other fields arrive
  // over the live channel.
  if (tally.failed === tally.failedIds.size)
    putAlerts(
      new Map(
        rows
          .filter(({ id }) => !tally.failedIds.has(id))
          .map((row) => [row.id, { ...row, attributes: predicted(row.attributes, change) }]),
      ),
    );
  await alertsChanged();
  if (tally.failed > 0 && tally.changed + tally.unchanged === 0)
    return { left: target, what: 'No alerts could be changed', error: reasonsOf(tally) };
  report(tally, change);
  return tally.failed === 0 ? 'all' : 'some';
}

const reasonsOf = ({ reasons }: Tally): ServiceError =>
  new ServiceError('CONFLICT', [...reasons].slice(0, 3).join('; '));

function report(tally: Tally, change: Change): void {
  const { changed, unchanged, failed } = tally;
  const same = unchanged > 0 ? `, ${number(unchanged)} unchanged` : '';
  say(`${counted(changed, 'alert')} ${describeChange(change)}${same}.`);
  if (failed > 0) sayFailure(`${counted(failed, 'alert')} could not be changed`, reasonsOf(tally));
}
