import type { ListItem } from '../../../client/client.ts';
import { alertStatuses, openAlertStatuses, type Severity, severities } from '../../../contract/vocabulary.ts';
import { oneOfTexts } from '../../../contract/wildcards.ts';

/** What of the queue is shown; all pure, so that lists, counts, the histogram and live updates ask the same. */
export type AlertRow = ListItem<'listAlerts'>;
export type Alert = AlertRow['attributes'];

export const views = ['open', 'mine', 'unassigned', 'all'] as const;
export type View = (typeof views)[number];

export const isOpen = ({ status }: Pick<Alert, 'status'>): boolean => openAlertStatuses.includes(status);

/** Filters by name, as the list takes them. */
export type Filters = Readonly<Record<string, string | readonly string[]>>;

const byView: Readonly<Record<View, (me: string) => Filters>> = {
  open: () => ({ status: openAlertStatuses }),
  mine: (me) => ({ status: openAlertStatuses, assignee: [me] }),
  unassigned: () => ({ status: openAlertStatuses, assigned: ['false'] }),
  all: () => ({}),
};

/** The view that the address need not name: open alerts, or all where the filters ask for others by status. */
export function usualView({ status, not_status = [] }: Filters): View {
  if (status === undefined && not_status.length === 0) return 'open';
  const asked = alertStatuses.filter(
    (one) => asList(status ?? alertStatuses).includes(one) && !asList(not_status).includes(one),
  );
  return asked.every((one) => isOpen({ status: one })) ? 'open' : 'all';
}

/** Alerts of the view that match the filters, so that the number on a tab is that of the list behind it. */
export function filtersOf(chips: Filters, view: View, me: string): Filters {
  const filters: Record<string, string | readonly string[]> = { ...chips };
  for (const [name, wanted] of Object.entries(byView[view](me))) {
    const both = asList(chips[name] ?? wanted).filter((one) => asList(wanted).includes(one));
    filters[name] = both.length > 0 ? both : wanted;
    // No alert is both.
    if (both.length === 0) filters[`not_${name}`] = wanted;
  }
  return filters;
}

const rank = (severity: string): number => severities.indexOf(severity as Severity);
const asList = (value: string | readonly string[]): readonly string[] =>
  typeof value === 'string' ? [value] : value;

/** What may change of an alert once it is there, and so is judged here: the service is asked about the rest. */
const changeable: Readonly<Record<string, (alert: Alert) => readonly (string | undefined)[]>> = {
  status: (alert) => [alert.status],
  severity: (alert) => [alert.severity],
  priority: (alert) => [alert.priority],
  verdict: (alert) => [alert.verdict],
  ai_verdict: (alert) => [alert.ai_verdict?.verdict],
  assignee: (alert) => [alert.assignee],
  assigned: (alert) => [String(alert.assignee !== undefined)],
  risk_score: (alert) => [alert.risk_score === undefined ? undefined : String(alert.risk_score)],
  count: (alert) => [String(alert.count)],
  silence_id: (alert) => [alert.silence_id],
  folded_into: (alert) => [alert.folded_into],
  tag: (alert) => alert.tags,
  tags: (alert) => alert.tags,
};

const nameOf = (key: string): string => (key.startsWith('not_') ? key.slice(4) : key);
const isChangeable = (key: string): boolean =>
  key === 'min_severity' || Object.hasOwn(changeable, nameOf(key));

/** Whether an alert, of which all else is as wanted, is so in what may change. */
export function stillMatches(alert: Alert, filters: Filters): boolean {
  return Object.entries(filters).every(([key, value]) => {
    if (key === 'min_severity') return rank(alert.severity) >= rank(asList(value)[0] ?? '');
    const read = Object.hasOwn(changeable, nameOf(key)) ? changeable[nameOf(key)] : undefined;
    if (read === undefined) return true;
    const isWanted = oneOfTexts(asList(value));
    const has = read(alert).some((one) => one !== undefined && isWanted(one));
    return key.startsWith('not_') ? !has : has;
  });
}

/** The filters that the live channel is asked with: those that an alert matches for good. */
export function streamFilters(filters: Filters): Filters {
  return Object.fromEntries(Object.entries(filters).filter(([key]) => !isChangeable(key)));
}
