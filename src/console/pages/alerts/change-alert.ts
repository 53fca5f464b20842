import { ServiceError } from '../../../errors.ts';
import { ifVersion } from '../../state/answers.ts';
import { api } from '../../state/session.ts';
import { say, sayFailure } from '../../ui/toasts.tsx';
import { quoted } from '../../ui/words.ts';
import { alertsChanged, putAlerts } from './cache.ts';
import { type Change, decisions, describeChange, predicted, refusal } from './changes.ts';
import type { AlertRow } from './question.ts';
import type { FailedChange } from './target.ts';

/** Maximum attempts to apply a change while new occurrences keep raising the alert's version. */
const maxAttempts = 5;

/**
 * Changes one alert if it is still the version on screen (If-Match). The change is shown optimistically and rolled back
 * on failure. New occurrences do not conflict with the change, but a decision of another user does.
 *
 * @returns the failure with the current alert; undefined after a successful change, which a toast confirms
 */
export async function tryChange(seen: AlertRow, change: Change): Promise<FailedChange | undefined> {
  const { status, title } = seen.attributes;
  const what = `${quoted(title)} was not changed`;
  const why = change.status === undefined ? undefined : refusal(status, change.status);
  if (why !== undefined) return { left: { rows: [seen] }, what, error: new ServiceError('INVALID_TRANSITION', why) };
  put({ ...seen, attributes: predicted(seen.attributes, change) });
  try {
    put(await applyInOrder(seen, change));
    void alertsChanged();
    say(`${quoted(title)}: ${describeChange(change)}.`);
    return undefined;
  } catch (error) {
    const now = await current(seen);
    put(now);
    return { left: { rows: [now] }, what, error: explainError(error, seen, now) };
  }
}

/** Changes one alert, and also shows a toast on failure. @returns whether it was changed */
export async function changeAlert(seen: AlertRow, change: Change): Promise<boolean> {
  const failed = await tryChange(seen, change);
  if (failed !== undefined) sayFailure(failed.what, failed.error);
  return failed === undefined;
}

/** The last pending change of each alert in this browser. */
const pendingChanges = new Map<string, Promise<unknown>>();
/** Alerts as returned for recent changes from this browser, to distinguish them from changes by other users. */
const ownAnswers = new Map<string, AlertRow>();
const maxOwnAnswers = 1000;

/** Serializes the changes of each alert, so that quick key presses do not conflict with each other. */
async function applyInOrder(seen: AlertRow, change: Change): Promise<AlertRow> {
  const before = pendingChanges.get(seen.id);
  const turn = (async () => {
    await before;
    return applyChange(seen, change);
  })();
  const settled = turn.catch(() => undefined);
  pendingChanges.set(seen.id, settled);
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
    if (pendingChanges.get(seen.id) === settled) pendingChanges.delete(seen.id);
  }
}

async function applyChange(seen: AlertRow, body: Change): Promise<AlertRow> {
  const own = ownAnswers.get(seen.id);
  const known = own !== undefined && own.attributes.version > seen.attributes.version ? own : seen;
  let basis = known;
  for (let attempt = 1; ; attempt++) {
    try {
      const input = { params: { alert_id: seen.id }, headers: ifVersion(basis.attributes.version), body };
      return (await api.call('updateAlert', input)).data;
    } catch (error) {
      if (!isCode(error, 'VERSION_MISMATCH') || attempt === maxAttempts) throw error;
      basis = (await api.call('getAlert', { params: { alert_id: seen.id } })).data;
      if (decisions(known.attributes, basis.attributes).length > 0) throw error;
    }
  }
}

/** Returns the alert as stored, or the given version if it cannot be fetched. */
async function current(seen: AlertRow): Promise<AlertRow> {
  try {
    return (await api.call('getAlert', { params: { alert_id: seen.id } })).data;
  } catch {
    return seen;
  }
}

const isCode = (error: unknown, code: ServiceError['code']): boolean =>
  error instanceof ServiceError && error.code === code;

function explainError(error: unknown, seen: AlertRow, now: AlertRow): unknown {
  if (!(error instanceof ServiceError)) return error;
  if (error.code === 'VERSION_MISMATCH') {
    const others = decisions(seen.attributes, now.attributes);
    return new ServiceError(
      error.code,
      others.length > 0
        ? `another user changed it: ${others.join(', ')}. Review the alert and try again.`
        : 'it keeps changing. Try again.',
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
      `${error.message}. The change may not have been saved; the alert is shown as before.`,
    );
  return error;
}

function put(alert: AlertRow): void {
  putAlerts(new Map([[alert.id, alert]]));
}
