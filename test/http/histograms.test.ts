/** Histograms and negated filters over HTTP: their counts agree with lists of the same filters. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Histogram } from '../../src/contract/resources/histogram.ts';
import type { OperationId } from '../../src/contract/routes.ts';
import { onlyId } from '../../src/contract/singleton.ts';
import { severities } from '../../src/contract/vocabulary.ts';
import { limits } from '../../src/limits.ts';
import { openService, password, type Service } from './service.ts';

const start = Date.parse('2026-11-20T10:00:00Z');
const minute = 60_000;

let service: Service;
let token: string;

const conn = (n: number) => ({
  ts: (start + n * minute) / 1000,
  uid: `C${n}`,
  'id.orig_h': `10.0.0.${n % 5}`,
  'id.orig_p': 40_000,
  'id.resp_h': '198.51.100.7',
  'id.resp_p': [22, 53, 443][n % 3]!,
  proto: 'tcp',
  conn_state: 'SF',
  ...(n % 4 === 0 ? {} : { service: n % 2 === 0 ? 'ssl' : 'ssh' }),
});
const dns = (n: number) => ({
  ts: (start + n * minute) / 1000,
  uid: `D${n}`,
  'id.orig_h': '10.0.0.1',
  'id.orig_p': 50_000,
  'id.resp_h': '10.0.0.53',
  'id.resp_p': 53,
  proto: 'udp',
  query: `host${n % 3}.example.com`,
  qtype_name: 'A',
});
const eve = (n: number) => ({
  timestamp: new Date(start + n * minute).toISOString(),
  event_type: 'alert',
  src_ip: `10.0.0.${n % 5}`,
  dest_ip: '198.51.100.7',
  proto: 'TCP',
  alert: {
    gid: 1,
    signature_id: n % 4,
    rev: 1,
    signature: `Rule ${n % 4}`,
    severity: (n % 3) + 1,
    ...(n % 2 === 0 ? { category: 'Trojan' } : {}),
  },
});

beforeAll(async () => {
  service = await openService();
  const json = { username: 'admin', password };
  const { body } = await service.call('login', 'POST /auth/login', { json });
  token = (body as { access_token: string }).access_token;
  const numbers = Array.from({ length: 40 }, (_, n) => n);
  const records = [...numbers.map(conn), ...numbers.map(dns), ...numbers.map(eve)];
  const text = records.map((record) => `${JSON.stringify(record)}\n`).join('');
  const headers = { 'content-type': 'application/x-ndjson' };
  const answer = await service.call('ingest', 'POST /api/v1/ingest', { token, text, headers });
  const { accepted } = (answer.body as { data: { accepted: number } }).data;
  expect([answer.status, accepted]).toEqual([200, 120]);
});
afterAll(() => service.close());

const get = async (operation: OperationId, path: string, query: string) =>
  service.call(operation, `GET ${path}?${query}`, { token });

const counted = [
  {
    list: 'listNetworkEvents',
    histogram: 'getNetworkEventHistogram',
    path: '/api/v1/events/network',
    of: 'network_event',
    queries: ['not_dst_port=22&not_dst_port=53', 'not_app_protocol=ssl', 'not_ip=10.0.0.0/30', 'q=C1'],
  },
  {
    list: 'listDnsEvents',
    histogram: 'getDnsEventHistogram',
    path: '/api/v1/events/dns',
    of: 'dns_event',
    queries: ['not_query=HOST0.example.com', 'not_answer=1.2.3.4', 'not_registered_domain=example.com'],
  },
  {
    list: 'listAlerts',
    histogram: 'getAlertHistogram',
    path: '/api/v1/alerts',
    of: 'alert',
    queries: ['not_category=Trojan', 'not_rule_id=1:0&not_rule_id=1:1', 'not_src_ip=10.0.0.0/31', 'q=rule'],
  },
] as const;

describe.each(counted)('$histogram', ({ list, histogram, path, of, queries }) => {
  const ask = async (query: string): Promise<Histogram> => {
    const { status, body } = await get(histogram, `${path}/histogram`, query);
    expect([status, query]).toEqual([200, query]);
    const { data } = body as { data: { id: string; type: string; attributes: Histogram } };
    expect([data.id, data.type, data.attributes.of]).toEqual([onlyId, 'histogram', of]);
    return data.attributes;
  };
  const itemsOf = async (query: string) => {
    const { status, body } = await get(list, path, `${query}&per_page=1000`);
    expect([status, query]).toEqual([200, query]);
    return (body as { data: { attributes: Record<string, string> }[] }).data.map(({ attributes }) => attributes);
  };

  const severe = ['not_severity=medium', `not_severity=${severities.join('&not_severity=')}`];
  test.each(['', 'min_severity=low', ...severe, ...queries])('has the same counts as the list: %s', async (query) => {
    const half = `from=${start}&to=${start + 20 * minute}&${query}`;
    for (const one of [query, half]) {
      const items = await itemsOf(one);
      const found = await ask(one);
      expect([one, found.total]).toEqual([one, items.length]);
      expect(found.buckets.reduce((sum, { count }) => sum + count, 0)).toBe(items.length);
      for (const { at, count, by_severity } of found.buckets) {
        const from = Date.parse(at);
        const inside = items.filter(({ timestamp, last_seen }) => {
          const time = Date.parse((of === 'alert' ? last_seen : timestamp)!);
          return time >= from && time < from + found.bucket_ms;
        });
        expect(count).toBe(inside.length);
        for (const severity of severities)
          expect(by_severity[severity] ?? 0).toBe(inside.filter((item) => item.severity === severity).length);
      }
    }
  });

  test.each(queries)('matches some items, but not all, if the data permit it: %s', async (query) => {
    const [some, all] = [await ask(query), await ask('')];
    if (!query.includes('registered_domain')) expect(some.total).toBeGreaterThan(0);
    if (!query.includes('answer') && !query.includes('q=rule')) expect(some.total).toBeLessThan(all.total);
  });

  test('uses the requested bounds, with at most as many buckets as requested', async () => {
    const { from, to, bucket_ms, buckets } = await ask(`from=${start}&to=${start + 60 * minute}&buckets=12`);
    expect([Date.parse(from), Date.parse(to), bucket_ms]).toEqual([start, start + 60 * minute, 5 * minute]);
    expect(buckets.map(({ at }) => Date.parse(at))).toEqual(
      Array.from({ length: 12 }, (_, n) => start + 5 * n * minute),
    );
    // The response includes the last four buckets, although they are empty.
    expect(buckets.slice(-4)).toEqual(buckets.slice(-4).map(({ at }) => ({ at, count: 0, by_severity: {} })));
  });

  test('covers all stored data if there are no bounds', async () => {
    const all = await itemsOf('');
    const times = all.map((item) => Date.parse((of === 'alert' ? item.last_seen : item.timestamp)!));
    const { from, to } = await ask('');
    expect([Date.parse(from), Date.parse(to)]).toEqual([Math.min(...times), Math.max(...times) + 1]);
  });

  test.each([
    ['buckets=0', 'buckets'],
    [`buckets=${limits.maxHistogramBuckets + 1}`, 'buckets'],
    ['from=2&to=1', 'from'],
    ['page=1', 'page'],
    ['not_from=1', 'not_from'],
    ['not_src_ip=nowhere', 'not_src_ip'],
  ])('rejects %s', async (query, field) => {
    const { status, body } = await get(histogram, `${path}/histogram`, query);
    const { error } = body as { error: { code: string; details: { field: string } } };
    expect([status, error.code, error.details.field]).toEqual([400, 'INVALID_REQUEST', field]);
  });
});

test('groups, exports and bulk changes of alerts accept negated filters', async () => {
  const query = 'not_category=Trojan&not_rule_id=1:1';
  const { body } = await get('listAlerts', '/api/v1/alerts', query);
  const { data, pagination } = body as { data: { id: string }[]; pagination: { total: number } };
  expect(pagination.total).toBeGreaterThan(0);
  const groups = await get('groupAlerts', '/api/v1/alerts/groups', `by=category&${query}`);
  expect((groups.body as { data: { alerts: number } }).data.alerts).toBe(pagination.total);
  const exported = await get('exportAlerts', '/api/v1/alerts/export', query);
  const ids = String(exported.body).trim().split('\n');
  expect(ids.map((line) => (JSON.parse(line) as { id: string }).id).sort()).toEqual(data.map(({ id }) => id).sort());
  const json = {
    filter: { not_category: 'Trojan', not_rule_id: ['1:1'] },
    change: { priority: 'critical' },
  };
  const changed = await service.call('bulkUpdateAlerts', 'POST /api/v1/alerts/bulk', { token, json });
  expect((changed.body as { data: object }).data).toMatchObject({ matched: pagination.total });
});
