import type { ListItem } from '../../../client/client.ts';
import { openAlertStatuses, type Severity, severities } from '../../../contract/vocabulary.ts';

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

/** What is filtered by, and what the view adds: who filters by status or assignee says so in place of the view. */
export function filtersOf(chips: Filters, view: View, me: string): Filters {
  const says = (name: string) => Object.hasOwn(chips, name) || Object.hasOwn(chips, `not_${name}`);
  const added = Object.entries(byView[view](me)).filter(
    ([name]) => !says(name) && !(name === 'assigned' && says('assignee')),
  );
  return { ...Object.fromEntries(added), ...chips };
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
    const has = read(alert).some((one) => one !== undefined && asList(value).includes(one));
    return key.startsWith('not_') ? !has : has;
  });
}

/** The filters that the live channel is asked with: those that an alert matches for good. */
export function streamFilters(filters: Filters): Filters {
  return Object.fromEntries(Object.entries(filters).filter(([key]) => !isChangeable(key)));
}
