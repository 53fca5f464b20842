import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { compileAlertFilter } from '../../../src/alerts/lists/alerts.ts';
import {
  type Alert,
  filtersOf,
  stillMatches,
  streamFilters,
  usualView,
  views,
} from '../../../src/console/pages/alerts/question.ts';
import { channels } from '../../../src/contract/channels.ts';
import { alertQuery } from '../../../src/contract/parameters.ts';
import { listFilterOf, parseFilters, parseQuery } from '../../../src/contract/query.ts';
import { alertStatuses, priorities, severities, verdicts } from '../../../src/contract/vocabulary.ts';
import { someAlert } from './some-alert.ts';

describe('a view', () => {
  test('adds its filters', () => {
    expect(filtersOf({}, 'open', 'ana')).toEqual({ status: ['new', 'in_progress'] });
    expect(filtersOf({}, 'mine', 'ana')).toEqual({ status: ['new', 'in_progress'], assignee: ['ana'] });
    expect(filtersOf({}, 'unassigned', 'ana')).toEqual({
      status: ['new', 'in_progress'],
      assigned: ['false'],
    });
    expect(filtersOf({ q: 'scan' }, 'all', 'ana')).toEqual({ q: 'scan' });
  });

  test("combines its filters with the user's filters", () => {
    expect(filtersOf({ status: ['new', 'resolved'] }, 'open', 'ana')).toEqual({ status: ['new'] });
    expect(filtersOf({ status: ['resolved'] }, 'all', 'ana')).toEqual({ status: ['resolved'] });
    expect(filtersOf({ not_status: ['new'] }, 'open', 'ana')).toEqual({
      status: ['new', 'in_progress'],
      not_status: ['new'],
    });
    expect(filtersOf({ status: ['new'] }, 'mine', 'ana')).toEqual({ status: ['new'], assignee: ['ana'] });
  });

  test.each([
    ['open', { status: ['resolved'] }],
    ['mine', { assignee: ['bob'] }],
    ['unassigned', { assigned: ['true'] }],
    ['unassigned', { assignee: ['bob'] }],
  ] as const)('named %s matches nothing with the filters %j', (view, chips) => {
    const filters = filtersOf(chips, view, 'ana');
    expect(() => parsed(filters)).not.toThrow();
    for (const status of alertStatuses)
      for (const assignee of [undefined, 'ana', 'bob'])
        expect(stillMatches(someAlert({ status, ...(assignee && { assignee }) }), filters)).toBe(false);
  });

  test.each([
    [{}, 'open'],
    [{ q: 'scan' }, 'open'],
    [{ status: ['new'] }, 'open'],
    [{ status: ['new', 'resolved'] }, 'all'],
    [{ not_status: ['new'] }, 'all'],
    [{ not_status: ['resolved', 'suppressed', 'archived'] }, 'open'],
  ] as const)('is chosen by default for the filters %j: %s', (chips, view) => {
    expect(usualView(chips)).toBe(view);
  });

  test.each(views)('named %s makes a valid query for the list', (view) => {
    expect(() => parsed(filtersOf({}, view, 'ana'))).not.toThrow();
  });
});

type Query = Readonly<Record<string, string | readonly string[]>>;
const raw = (filters: Query) =>
  new Map(Object.entries(filters).map(([name, value]) => [name, typeof value === 'string' ? [value] : [...value]]));
const parsed = (filters: Query) => listFilterOf(parseQuery(alertQuery, raw(filters)));

const people = ['ana', 'bob'] as const;
const values: Readonly<Record<string, readonly string[]>> = {
  status: alertStatuses,
  severity: severities,
  priority: priorities,
  verdict: verdicts,
  ai_verdict: verdicts,
  assignee: people,
  assigned: ['true', 'false'],
  risk_score: ['5', '47', '99'],
  count: ['1', '3'],
  tag: ['vpn', 'test'],
  tags: ['vpn', 'test'],
};
const option = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined });
const alerts: fc.Arbitrary<Alert> = fc
  .record({
    status: fc.constantFrom(...alertStatuses),
    severity: fc.constantFrom(...severities),
    priority: option(fc.constantFrom(...priorities)),
    verdict: option(fc.constantFrom(...verdicts)),
    ai: option(fc.constantFrom(...verdicts)),
    assignee: option(fc.constantFrom(...people)),
    risk_score: option(fc.constantFrom(5, 47, 99)),
    count: fc.constantFrom(1, 3),
    tags: fc.uniqueArray(fc.constantFrom('vpn', 'test')),
  })
  .map(({ ai, ...rest }) => {
    const model = { confidence: 1, model: 'm', reasons: [], at: '2026-11-20T10:00:00.000Z' };
    const describeChange = { ...rest, ...(ai !== undefined && { ai_verdict: { ...model, verdict: ai } }) };
    return someAlert(Object.fromEntries(Object.entries(describeChange).filter(([, value]) => value !== undefined)));
  });
const bounds = fc.constantFrom('min_risk_score', 'max_count').chain((name) =>
  fc.tuple(
    fc.constant(name),
    fc.constantFrom(...values[name.slice(4)]!).map((value): string | string[] => value),
  ),
);
const equalities = fc
  .constantFrom(...Object.keys(values))
  .chain((name) =>
    fc.tuple(
      fc.constantFrom(name, `not_${name}`),
      fc.uniqueArray(fc.constantFrom(...values[name]!), { minLength: 1, maxLength: 3 }),
    ),
  );
const questions = fc
  .tuple(
    fc.array(fc.oneof({ weight: 4, arbitrary: equalities }, bounds), { maxLength: 3 }),
    option(fc.constantFrom(...severities)),
  )
  .map(
    ([some, least]): Query => ({
      ...Object.fromEntries(some),
      ...(least !== undefined && { min_severity: least }),
    }),
  );

test('the browser matches changed alerts as the service does', () => {
  fc.assert(
    fc.property(alerts, questions, (alert, filters) => {
      expect(stillMatches(alert, filters)).toBe(compileAlertFilter(parsed(filters))(alert));
    }),
    { numRuns: 2000 },
  );
});

test('the live channel gets only filters on fields that never change, and accepts them', () => {
  const filters = {
    q: 'scan',
    src_ip: ['10.0.0.0/8'],
    not_rule_id: ['1:2'],
    dst_port: ['443'],
    min_src_port: '1024',
    max_count: '9',
    status: ['new'],
    not_severity: ['low'],
    min_severity: 'medium',
    assigned: ['false'],
  };
  const asked = streamFilters(filters);
  expect(asked).toEqual({
    q: 'scan',
    src_ip: ['10.0.0.0/8'],
    not_rule_id: ['1:2'],
    dst_port: ['443'],
    min_src_port: '1024',
  });
  expect(() => parseFilters(channels.alerts.filters, asked)).not.toThrow();
});
