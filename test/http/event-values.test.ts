/** The most frequent values of events over HTTP. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ValueCounts } from '../../src/contract/resources/value-counts.ts';
import { onlyId } from '../../src/contract/singleton.ts';
import { limits } from '../../src/limits.ts';
import { openService, password, type Service } from './service.ts';

let service: Service;
let token: string;

const conn = (n: number) => ({
  ts: 1_763_632_800 + n,
  uid: `C${n}`,
  'id.orig_h': `10.0.0.${n % 30}`,
  'id.orig_p': 40_000,
  'id.resp_h': '198.51.100.7',
  'id.resp_p': [22, 53, 443][n % 3]!,
  proto: 'tcp',
  conn_state: 'SF',
  ...(n % 4 === 0 ? {} : { service: n % 2 === 0 ? 'ssl' : 'ssh' }),
});

beforeAll(async () => {
  service = await openService();
  const json = { username: 'admin', password };
  const { body } = await service.call('login', 'POST /auth/login', { json });
  token = (body as { access_token: string }).access_token;
  const dns = { ...conn(0), query: 'www.Example.com', qtype_name: 'A', proto: 'udp', conn_state: undefined };
  const records = [...Array.from({ length: 120 }, (_, n) => conn(n)), dns];
  const text = records.map((record) => `${JSON.stringify(record)}\n`).join('');
  const headers = { 'content-type': 'application/x-ndjson' };
  const answer = await service.call('ingest', 'POST /api/v1/ingest', { token, text, headers });
  expect([answer.status, (answer.body as { data: object }).data]).toMatchObject([200, { accepted: 121 }]);
});
afterAll(() => service.close());

const get = (query: string) =>
  service.call('getNetworkEventValues', `GET /api/v1/events/network/values?${query}`, { token });
const counts = async (query: string): Promise<ValueCounts> => {
  const { status, body } = await get(query);
  expect([status, query]).toEqual([200, query]);
  const { data } = body as { data: { id: string; type: string; attributes: ValueCounts } };
  expect([data.id, data.type]).toEqual([onlyId, 'value_counts']);
  return data.attributes;
};

test('the endpoint counts values of the matching events, and events without a value', async () => {
  expect(await counts('by=app_protocol')).toEqual({
    of: 'network_event',
    by: 'app_protocol',
    total: 120,
    absent: 30,
    values: [
      { value: 'ssh', count: 60 },
      { value: 'tls', count: 30 },
    ],
    distinct: 2,
    other: 0,
    complete: true,
  });
  expect(await counts('by=dst_port&not_app_protocol=ssh&dst_port=22&dst_port=443')).toMatchObject({
    total: 40,
    values: [
      { value: '22', count: 20 },
      { value: '443', count: 20 },
    ],
  });
});

test('the endpoint returns twenty values, or as many as requested', async () => {
  const some = await counts('by=ip');
  expect([some.values.length, some.distinct]).toEqual([limits.defaultShownValues, 31]);
  expect(some.values[0]).toEqual({ value: '198.51.100.7', count: 120 });
  expect(some.other).toBe(120 - 19 * 4);
  expect((await counts('by=ip&limit=100')).other).toBe(0);
});

test('the endpoint returns case-insensitive names in lower case', async () => {
  const target = 'GET /api/v1/events/dns/values?by=query';
  const { body } = await service.call('getDnsEventValues', target, { token });
  const { values } = (body as { data: { attributes: ValueCounts } }).data.attributes;
  expect(values).toEqual([{ value: 'www.example.com', count: 1 }]);
});

test.each([
  ['', 'by'],
  ['by=nothing', 'by'],
  ['by=query', 'by'],
  ['by=ip&by=vlan', 'by'],
  ['by=ip&limit=0', 'limit'],
  [`by=ip&limit=${limits.maxShownValues + 1}`, 'limit'],
])('the endpoint rejects "%s", and the error names %s', async (query, field) => {
  const { status, body } = await get(query);
  const { error } = body as { error: { code: string; details: { field: string } } };
  expect([status, error.code, error.details.field]).toEqual([400, 'INVALID_REQUEST', field]);
});
