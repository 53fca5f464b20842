import { ServiceError } from '../../../errors.ts';
import { api } from '../../state/session.ts';
import { number } from '../../ui/format.ts';
import { say, sayFailure } from '../../ui/toasts.tsx';
import { alertsChanged, putAlerts } from './cache.ts';
import { type Change, predicted, told } from './changes.ts';
import type { Target, Undone } from './target.ts';

/** As many ids as the service takes at a time. */
const idsAtOnce = 1000;

/** What a change of many came to. */
interface Tally {
  matched: number;
  changed: number;
  unchanged: number;
  failed: number;
  readonly reasons: Set<string>;
  readonly failedIds: Set<string>;
}

/**
 * Changes many alerts in the same way: those that are named, or all that match. `onProgress`: alerts that were done.
 *
 * @returns whether that was done to all, or only to some, which is said; and what failed, where nothing was done to any,
 * or it was not tried on the rest
 */
export async function changeMany(
  target: Target,
  change: Change,
  onProgress: (done: number) => void,
): Promise<'all' | 'some' | Undone> {
  const tally: Tally = {
    matched: 0,
    changed: 0,
    unchanged: 0,
    failed: 0,
    reasons: new Set(),
    failedIds: new Set(),
  };
  const ask = async (asked: { ids: string[] } | { filter: Record<string, unknown> }) => {
    const { data } = await api.call('bulkUpdateAlerts', { body: { ...asked, change } });
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
    if ('filter' in target) await ask({ filter: { ...target.filter } });
    for (; at < rows.length; at += idsAtOnce)
      await ask({ ids: rows.slice(at, at + idsAtOnce).map(({ id }) => id) });
  } catch (error) {
    await alertsChanged();
    return {
      left: 'rows' in target ? { rows: rows.slice(at) } : target,
      what:
        tally.changed === 0
          ? 'None was changed'
          : `After ${number(tally.changed)} of them, the rest were not changed`,
      error,
    };
  }
  // What the service did not say to have failed; the live channel brings the rest of what changed.
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
    return { left: target, what: 'None could be changed', error: reasonsOf(tally) };
  report(tally, change);
  return tally.failed === 0 ? 'all' : 'some';
}

const reasonsOf = ({ reasons }: Tally): ServiceError =>
  new ServiceError('CONFLICT', [...reasons].slice(0, 3).join('; '));

function report(tally: Tally, change: Change): void {
  const { changed, unchanged, failed } = tally;
  const same = unchanged > 0 ? `, ${number(unchanged)} were so already` : '';
  say(`${number(changed)} alerts ${told(change)}${same}.`);
  if (failed > 0) sayFailure(`${number(failed)} could not be changed`, reasonsOf(tally));
}
