import type { ListItem } from '../../../client/client.ts';
import { type ParsedTerm, termOf } from '../../../contract/filter-term.ts';
import { alertStatuses, openAlertStatuses, type Severity, severities } from '../../../contract/vocabulary.ts';
import { oneOfTexts } from '../../../contract/wildcards.ts';

/** Queries of the queue, shared by the list, counts, histogram and live updates. All functions here are pure. */

export type AlertRow = ListItem<'listAlerts'>;
export type Alert = AlertRow['attributes'];

export const views = ['open', 'mine', 'unassigned', 'all'] as const;
export type View = (typeof views)[number];

export const isOpen = ({ status }: Pick<Alert, 'status'>): boolean => openAlertStatuses.includes(status);

/** Filters by name, as in the request for the list. */
export type Filters = Readonly<Record<string, string | readonly string[]>>;

const byView: Readonly<Record<View, (me: string) => Filters>> = {
  open: () => ({ status: openAlertStatuses }),
  mine: (me) => ({ status: openAlertStatuses, assignee: [me] }),
  unassigned: () => ({ status: openAlertStatuses, assigned: ['false'] }),
  all: () => ({}),
};

/** Returns the default view: open alerts, or all alerts if the filters name other statuses. */
export function usualView({ status, not_status = [] }: Filters): View {
  if (status === undefined && not_status.length === 0) return 'open';
  const requested = alertStatuses.filter(
    (one) => asList(status ?? alertStatuses).includes(one) && !asList(not_status).includes(one),
  );
  return requested.every((one) => isOpen({ status: one })) ? 'open' : 'all';
}

/** Combines the view with the filters, so that the count on a tab equals the total of its list. */
export function filtersOf(chips: Filters, view: View, me: string): Filters {
  const filters: Record<string, string | readonly string[]> = { ...chips };
  for (const [name, wanted] of Object.entries(byView[view](me))) {
    const both = asList(chips[name] ?? wanted).filter((one) => asList(wanted).includes(one));
    filters[name] = both.length > 0 ? both : wanted;
    // The view and the filters exclude each other, so the query must match nothing.
    if (both.length === 0) filters[`not_${name}`] = wanted;
  }
  return filters;
}

const rank = (severity: string): number => severities.indexOf(severity as Severity);
const asList = (value: string | readonly string[]): readonly string[] => (typeof value === 'string' ? [value] : value);

/** Fields of an alert that can change. The browser evaluates filters on these fields, the service all other filters. */
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

const isChangeable = (key: string): boolean =>
  key === 'min_severity' || Object.hasOwn(changeable, termIn(key, []).field);

/** Returns the term of a filter. A bound has one value; other filters have one value or a list of values. */
function termIn(key: string, value: string | readonly string[]): ParsedTerm {
  const values = asList(value);
  return termOf(key, values[0] ?? '') ?? termOf(key, values)!;
}

/** Returns whether an alert matches the filters on changeable fields; its other fields already match. */
export function stillMatches(alert: Alert, filters: Filters): boolean {
  return Object.entries(filters).every(([key, value]) => {
    if (key === 'min_severity') return rank(alert.severity) >= rank(asList(value)[0] ?? '');
    const { field, values, negated, bound } = termIn(key, value);
    const read = Object.hasOwn(changeable, field) ? changeable[field] : undefined;
    if (read === undefined) return true;
    const [limit] = values.map(Number);
    const isWanted =
      bound === undefined
        ? oneOfTexts(values.map(String))
        : (one: string) => (bound === 'min' ? Number(one) >= limit! : Number(one) <= limit!);
    const has = read(alert).some((one) => one !== undefined && isWanted(one));
    return negated === true ? !has : has;
  });
}

/** Returns the filters of the live channel: filters on fields that never change. */
export function streamFilters(filters: Filters): Filters {
  return Object.fromEntries(Object.entries(filters).filter(([key]) => !isChangeable(key)));
}
