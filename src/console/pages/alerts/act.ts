import { ServiceError } from '../../../errors.ts';
import { api } from '../../state/session.ts';
import { number } from '../../ui/format.ts';
import { say, sayFailure } from '../../ui/toasts.tsx';
import { alertsChanged, putAlerts } from './cache.ts';
import { type Change, decisions, predicted, refusal, told } from './changes.ts';
import type { AlertRow, Filters } from './question.ts';

/** How often a change is tried again on an alert that was only seen again meanwhile. */
const maxAttempts = 5;
/** As many ids as the service takes at a time. */
const idsAtOnce = 1000;

/**
 * Changes one alert, if it is still what was seen (If-Match). It is shown changed at once, and as it was where that
 * fails. Occurrences that came meanwhile are no obstacle; a decision of somebody else is, and is told.
 *
 * @returns whether it was changed
 */
export async function changeAlert(seen: AlertRow, change: Change): Promise<boolean> {
  const { status, title } = seen.attributes;
  const why = change.status === undefined ? undefined : refusal(status, change.status);
  if (why !== undefined) {
    sayFailure('Not changed', new ServiceError('INVALID_TRANSITION', why));
    return false;
  }
  put({ ...seen, attributes: predicted(seen.attributes, change) });
  try {
    put(await inTurn(seen, change));
    void alertsChanged();
    say(`“${title}”: ${told(change)}.`);
    return true;
  } catch (error) {
    const now = await current(seen);
    put(now);
    sayFailure(`“${title}” was not changed`, explained(error, seen, now));
    return false;
  }
}

/** The last change of each alert that is under way here. */
const underWay = new Map<string, Promise<AlertRow | undefined>>();

/** One after the other for each alert: who presses keys faster than the service answers is not in conflict with himself. */
async function inTurn(seen: AlertRow, change: Change): Promise<AlertRow> {
  const before = underWay.get(seen.id);
  const turn = (async () => changed(seen, await before, change))();
  const settled = turn.catch(() => undefined);
  underWay.set(seen.id, settled);
  try {
    return await turn;
  } finally {
    if (underWay.get(seen.id) === settled) underWay.delete(seen.id);
  }
}

/** `known`: what the change before made of it. */
async function changed(seen: AlertRow, known: AlertRow | undefined, body: Change): Promise<AlertRow> {
  let basis = known !== undefined && known.attributes.version > seen.attributes.version ? known : seen;
  for (let attempt = 1; ; attempt++) {
    try {
      const input = {
        params: { alert_id: seen.id },
        headers: { 'if-match': `"${basis.attributes.version}"` },
        body,
      };
      return (await api.call('updateAlert', input)).data;
    } catch (error) {
      if (!isCode(error, 'VERSION_MISMATCH') || attempt === maxAttempts) throw error;
      basis = (await api.call('getAlert', { params: { alert_id: seen.id } })).data;
      if (decisions(seen.attributes, basis.attributes).length > 0) throw error;
    }
  }
}

/** The alert as the service has it, or as it was seen where that cannot be told. */
async function current(seen: AlertRow): Promise<AlertRow> {
  try {
    return (await api.call('getAlert', { params: { alert_id: seen.id } })).data;
  } catch {
    return seen;
  }
}

const isCode = (error: unknown, code: ServiceError['code']): boolean =>
  error instanceof ServiceError && error.code === code;

function explained(error: unknown, seen: AlertRow, now: AlertRow): unknown {
  if (!(error instanceof ServiceError)) return error;
  if (error.code === 'VERSION_MISMATCH') {
    const others = decisions(seen.attributes, now.attributes);
    return new ServiceError(
      error.code,
      others.length > 0
        ? `somebody changed it meanwhile: ${others.join(', ')}. Look again and decide.`
        : 'it changes faster than this could follow. Press again.',
    );
  }
  if (error.code === 'INVALID_TRANSITION' && error.details !== undefined) {
    const { from, to } = error.details;
    const why = refusal(from as AlertRow['attributes']['status'], to as AlertRow['attributes']['status']);
    return new ServiceError(error.code, why ?? error.message);
  }
  if (error.code === 'UNAVAILABLE')
    return new ServiceError(
      error.code,
      `${error.message}. Nothing is known to be changed; it is shown as it was.`,
    );
  return error;
}

function put(alert: AlertRow): void {
  putAlerts(new Map([[alert.id, alert]]));
}

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
  which: { readonly rows: readonly AlertRow[] } | { readonly filter: Filters },
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
  const rows = 'rows' in which ? which.rows : [];
  try {
    if ('filter' in which) await ask({ filter: { ...which.filter } });
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
