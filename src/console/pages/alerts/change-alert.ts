import { ServiceError } from '../../../errors.ts';
import { api } from '../../state/session.ts';
import { say, sayFailure } from '../../ui/toasts.tsx';
import { quoted } from '../../ui/words.ts';
import { alertsChanged, putAlerts } from './cache.ts';
import { type Change, decisions, predicted, refusal, told } from './changes.ts';
import type { AlertRow } from './question.ts';
import type { Undone } from './target.ts';

/** How often a change is tried again on an alert that was only seen again meanwhile. */
const maxAttempts = 5;

/**
 * Changes one alert, if it is still what was seen (If-Match). It is shown changed at once, and as it was where that
 * fails. Occurrences that came meanwhile are no obstacle; a decision of somebody else is.
 *
 * @returns what failed, with the alert as it is now; undefined where it was changed, which is said
 */
export async function tryChange(seen: AlertRow, change: Change): Promise<Undone | undefined> {
  const { status, title } = seen.attributes;
  const what = `${quoted(title)} was not changed`;
  const why = change.status === undefined ? undefined : refusal(status, change.status);
  if (why !== undefined)
    return { left: { rows: [seen] }, what, error: new ServiceError('INVALID_TRANSITION', why) };
  put({ ...seen, attributes: predicted(seen.attributes, change) });
  try {
    put(await inTurn(seen, change));
    void alertsChanged();
    say(`${quoted(title)}: ${told(change)}.`);
    return undefined;
  } catch (error) {
    const now = await current(seen);
    put(now);
    return { left: { rows: [now] }, what, error: explained(error, seen, now) };
  }
}

/** The same, told where it fails, too. @returns whether it was changed */
export async function changeAlert(seen: AlertRow, change: Change): Promise<boolean> {
  const undone = await tryChange(seen, change);
  if (undone !== undefined) sayFailure(undone.what, undone.error);
  return undone === undefined;
}

/** The last change of each alert that is under way here. */
const underWay = new Map<string, Promise<unknown>>();
/** What the last changes from here made of alerts: these are decisions of oneself. */
const ownAnswers = new Map<string, AlertRow>();
const maxOwnAnswers = 1000;

/** One after the other for each alert: who presses keys faster than the service answers is not in conflict with himself. */
async function inTurn(seen: AlertRow, change: Change): Promise<AlertRow> {
  const before = underWay.get(seen.id);
  const turn = (async () => {
    await before;
    return changed(seen, change);
  })();
  const settled = turn.catch(() => undefined);
  underWay.set(seen.id, settled);
  try {
    const answer = await turn;
    ownAnswers.delete(seen.id);
    ownAnswers.set(seen.id, answer);
    for (const oldest of ownAnswers.keys()) {
      if (ownAnswers.size <= maxOwnAnswers) break;
      ownAnswers.delete(oldest);
    }
    return answer;
  } finally {
    if (underWay.get(seen.id) === settled) underWay.delete(seen.id);
  }
}

async function changed(seen: AlertRow, body: Change): Promise<AlertRow> {
  const own = ownAnswers.get(seen.id);
  const known = own !== undefined && own.attributes.version > seen.attributes.version ? own : seen;
  let basis = known;
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
      if (decisions(known.attributes, basis.attributes).length > 0) throw error;
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
