import { ServiceError } from '../../../errors.ts';
import { api } from '../../state/session.ts';
import { number } from '../../ui/format.ts';
import { say, sayFailure } from '../../ui/toasts.tsx';
import { alertsChanged, putAlerts } from './cache.ts';
import { type Change, predicted, told } from './changes.ts';
import type { Target } from './target.ts';

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

/** Changes many alerts in the same way: those that are named, or all that match. `onProgress`: alerts that were done. */
export async function changeMany(
  target: Target,
  change: Change,
  onProgress: (done: number) => void,
): Promise<boolean> {
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
  try {
    if ('filter' in target) await ask({ filter: { ...target.filter } });
    for (let at = 0; at < rows.length; at += idsAtOnce)
      await ask({ ids: rows.slice(at, at + idsAtOnce).map(({ id }) => id) });
  } catch (error) {
    sayFailure(`After ${number(tally.changed)} of them, the rest were not changed`, error);
    await alertsChanged();
    return false;
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
  report(tally, change);
  return tally.failed === 0;
}

function report({ changed, unchanged, failed, reasons }: Tally, change: Change): void {
  const same = unchanged > 0 ? `, ${number(unchanged)} were so already` : '';
  say(`${number(changed)} alerts ${told(change)}${same}.`);
  if (failed > 0)
    sayFailure(
      `${number(failed)} could not be changed`,
      new ServiceError('CONFLICT', [...reasons].slice(0, 3).join('; ')),
    );
}
