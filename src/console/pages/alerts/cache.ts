import type { CallId } from '../../../client/client.ts';
import { answers } from '../../state/answers.ts';
import { newer } from '../../state/newer.ts';
import type { AlertRow } from './question.ts';

/** Alerts as they are now, put in place of what they were: lists keep their order and what is read stays where it is. */

interface Page {
  readonly data: readonly { readonly id: string }[];
}
type Kept =
  | { readonly pages: readonly Page[] }
  | Page
  | { readonly data: { readonly id: string } }
  | undefined;

export function putAlerts(alerts: ReadonlyMap<string, AlertRow>): void {
  if (alerts.size === 0) return;
  answers.setQueriesData<Kept>({ predicate: ({ queryKey: [name] }) => name === 'listAlerts' }, (kept) => {
    if (kept === undefined) return kept;
    if ('pages' in kept)
      return renewed(
        kept,
        'pages',
        kept.pages.map((page) => renewedPage(page, alerts)),
      );
    return Array.isArray(kept.data) ? renewedPage(kept as Page, alerts) : kept;
  });
  for (const [id, alert] of alerts)
    answers.setQueriesData<Kept>(
      { predicate: ({ queryKey: [name, input] }) => name === 'getAlert' && isOf(input, id) },
      (kept) =>
        kept !== undefined && 'data' in kept ? { ...kept, data: newer(kept.data as AlertRow, alert) } : kept,
    );
}

const isOf = (input: unknown, id: string): boolean =>
  (input as { params?: { alert_id?: string } }).params?.alert_id === id;

function renewedPage(page: Page, alerts: ReadonlyMap<string, AlertRow>): Page {
  return renewed(
    page,
    'data',
    page.data.map((row) => {
      const alert = alerts.get(row.id);
      return alert === undefined ? row : newer(row as AlertRow, alert);
    }),
  );
}

/** The same where nothing in it changed, so that nothing is drawn again. */
function renewed<T, K extends keyof T>(whole: T, name: K, parts: readonly unknown[]): T {
  const before = whole[name] as readonly unknown[];
  return parts.every((part, index) => part === before[index]) ? whole : { ...whole, [name]: parts };
}

/** Asks again for what tells of alerts, but for the queue itself, which stays as it is read. */
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
