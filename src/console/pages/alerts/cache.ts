import type { CallId } from '../../../client/client.ts';
import { answers } from '../../state/answers.ts';
import { newer } from '../../state/newer.ts';
import type { AlertRow } from './question.ts';

interface Page {
  readonly data: readonly { readonly id: string }[];
}
type CachedResponse =
  | { readonly pages: readonly Page[] }
  | Page
  | { readonly data: { readonly id: string } }
  | undefined;

/** Updates alerts in cached responses in place: lists keep their order and scroll position. */
export function putAlerts(alerts: ReadonlyMap<string, AlertRow>): void {
  if (alerts.size === 0) return;
  answers.setQueriesData<CachedResponse>({ predicate: ({ queryKey: [name] }) => name === 'listAlerts' }, (cached) => {
    if (cached === undefined) return cached;
    if ('pages' in cached)
      return unlessSame(
        cached,
        'pages',
        cached.pages.map((page) => updatedPage(page, alerts)),
      );
    return Array.isArray(cached.data) ? updatedPage(cached as Page, alerts) : cached;
  });
  for (const [id, alert] of alerts)
    answers.setQueriesData<CachedResponse>(
      { predicate: ({ queryKey: [name, input] }) => name === 'getAlert' && isOf(input, id) },
      (cached) =>
        cached !== undefined && 'data' in cached ? { ...cached, data: newer(cached.data as AlertRow, alert) } : cached,
    );
}

const isOf = (input: unknown, id: string): boolean =>
  (input as { params?: { alert_id?: string } }).params?.alert_id === id;

function updatedPage(page: Page, alerts: ReadonlyMap<string, AlertRow>): Page {
  return unlessSame(
    page,
    'data',
    page.data.map((row) => {
      const alert = alerts.get(row.id);
      return alert === undefined ? row : newer(row as AlertRow, alert);
    }),
  );
}

/**
 * Returns `whole` itself if all parts are unchanged, so that nothing is rendered again; otherwise returns a copy with
 * the new parts.
 */
function unlessSame<T, K extends keyof T>(whole: T, name: K, parts: readonly unknown[]): T {
  const before = whole[name] as readonly unknown[];
  return parts.every((part, index) => part === before[index]) ? whole : { ...whole, [name]: parts };
}

/** Refetches everything derived from alerts, except the queue, which does not change while the user reads it. */
export async function alertsChanged(): Promise<void> {
  const about: readonly CallId[] = [
    'listAlerts',
    'groupAlerts',
    'getAlertHistogram',
    'listAlertHistory',
    'listAlertNotes',
  ];
  await answers.invalidateQueries({
    predicate: ({ queryKey }) => about.some((name) => name === queryKey[0]) && !isQueue(queryKey),
  });
}

const isQueue = ([name, , list]: readonly unknown[]): boolean => name === 'listAlerts' && list === 'list';
