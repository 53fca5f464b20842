import { expect, test } from 'vitest';
import { alertFilterQuery } from '../../src/contract/alert-parameters.ts';
import { alertQuery } from '../../src/contract/parameters.ts';
import { decodeQuery, parseList, parseListFilter } from '../../src/contract/query.ts';

test("a JSON filter is equivalent to the list's query parameters", () => {
  const filter = {
    severity: ['high', 'critical'],
    min_severity: 'low',
    from: 1_700_000_000_000,
    to: '2026-11-20T00:00:00Z',
    src_ip: '10.0.0.0/8',
    src_port: 22,
    q: 'bad',
  };
  const query =
    'severity=high&severity=critical&min_severity=low&from=1700000000000&to=2026-11-20T00:00:00Z&src_ip=10.0.0.0/8&src_port=22&q=bad';
  expect(parseListFilter(alertFilterQuery, filter)).toEqual(parseList(alertQuery, decodeQuery(query)).filter);
  expect(parseListFilter(alertFilterQuery, {})).toEqual({ terms: [] });
});

test.each([
  [{ sort: 'title' }, 'filter.sort'],
  [{ page: 1 }, 'filter.page'],
  [{ cursor: 'x' }, 'filter.cursor'],
  [{ status: 'gone' }, 'filter.status'],
  [{ status: [] }, 'filter.status'],
  [{ status: null }, 'filter.status'],
  [{ status: [{ a: 1 }] }, 'filter.status'],
  [{ nothing: 1 }, 'filter.nothing'],
  [{ from: 2, to: 1 }, 'filter.from'],
  [JSON.parse('{"__proto__": 1}'), 'filter.__proto__'],
])('%j is rejected with the name of the field', (filter, field) => {
  expect(() => parseListFilter(alertFilterQuery, filter)).toThrow(
    expect.objectContaining({ code: 'INVALID_REQUEST', details: expect.objectContaining({ field }) }),
  );
});

test('all operations on alerts have the same filters', () => {
  const paging = ['page', 'per_page', 'cursor', 'sort'];
  expect(Object.keys(alertFilterQuery.properties).sort()).toEqual(
    Object.keys(alertQuery.properties)
      .filter((name) => !paging.includes(name))
      .sort(),
  );
});
