/** Wildcards in text filters, and syntax that free text rejects, over HTTP. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { OperationId } from '../../src/contract/routes.ts';
import { adminOf, openService, type Service } from './service.ts';

let service: Service;
let admin: string;

const names = ['www.google.com', 'google.com', 'notgoogle.com', 'Mail.Google.COM', '*.wild.example', 'a.wild.example'];
const lookup = (query: string, n: number) => ({
  timestamp: new Date(Date.now() - 1000 + n).toISOString(),
  src_ip: '10.0.0.1',
  dst_ip: '10.0.0.53',
  transport: 'udp',
  kind: 'transaction',
  query,
  answers: [{ type: 'CNAME', ttl: 60, data: `edge-${n}.cdn.example` }],
});

beforeAll(async () => {
  service = await openService();
  admin = await adminOf(service);
  await service.call('ingestDnsEvents', 'POST /api/v1/events/dns', { token: admin, json: names.map(lookup) });
  for (const name of ['printer-2', 'Printer AND scanner', 'severity: unknown'])
    await service.call('createAsset', 'POST /api/v1/assets', {
      token: admin,
      json: { name, tags: ['Floor 1'] },
    });
});
afterAll(() => service.close());

const list = (operation: OperationId, path: string, query: Record<string, string>) =>
  service.call(operation, `GET ${path}?${new URLSearchParams(query)}`, { token: admin });

async function found(operation: OperationId, path: string, query: Record<string, string>, attribute: string) {
  const { status, body } = await list(operation, path, query);
  expect([status, body]).toEqual([200, body]);
  const { data } = body as { data: { attributes: Record<string, string> }[] };
  return data.map(({ attributes }) => attributes[attribute]).sort();
}

test.each([
  [{ query: '*.google.com' }, ['Mail.Google.COM', 'www.google.com']],
  [{ query: '*google.com' }, ['Mail.Google.COM', 'google.com', 'notgoogle.com', 'www.google.com']],
  [{ query: 'www.*' }, ['www.google.com']],
  [{ query: 'w*g*gle*' }, ['www.google.com']],
  [{ query: '*' }, [...names].sort()],
  [{ query: '\\*.wild.example' }, ['*.wild.example']],
  [{ query: '*.wild.example' }, ['*.wild.example', 'a.wild.example']],
  [{ not_query: '*g*' }, ['*.wild.example', 'a.wild.example']],
  [{ registered_domain: 'google.*' }, ['Mail.Google.COM', 'google.com', 'www.google.com']],
  [{ answer: 'edge-1.*' }, ['google.com']],
  [{ answer: '*.cdn.example', query: 'a.*' }, ['a.wild.example']],
])('DNS events are filtered by %j', async (query, expected) => {
  expect(await found('listDnsEvents', '/api/v1/events/dns', query, 'query')).toEqual(expected);
});

test.each([
  [{ name: 'PRINTER*' }, ['Printer AND scanner', 'printer-2']],
  [{ name: '*scan*' }, ['Printer AND scanner']],
  [{ tag: '*1', name: '*-*' }, ['printer-2']],
  [{ q: '"Printer AND scanner"' }, ['Printer AND scanner']],
  [{ q: 'printer and' }, ['Printer AND scanner']],
  [{ q: '"severity: unknown"' }, ['severity: unknown']],
  [{ q: 'severity: unknown' }, ['severity: unknown']],
])('assets are filtered by %j', async (query, expected) => {
  expect(await found('listAssets', '/api/v1/assets', query, 'name')).toEqual(expected);
});

describe('a list', () => {
  test.each([
    ['a AND b', 'has no operator AND'],
    ['NOT dns', 'has no operator NOT'],
    ['alpha OR beta', 'has no operator OR'],
    ['*.google.com', 'does not support wildcards'],
    ['say "so"', 'has a double quote'],
    ['query:google.com', 'use the parameter query'],
    ['x (src_ip = 10.0.0.1)', 'use the parameter src_ip'],
    ['""', 'has a double quote'],
    ['a && b', 'has no operator &&'],
    ['a | b', 'has no operator |'],
    ['%google%', 'does not support wildcards'],
    ['/goo.+/', 'does not support regular expressions'],
  ])('rejects q=%s, which would silently match nothing', async (q, reason) => {
    const { status, body } = await list('listDnsEvents', '/api/v1/events/dns', { q });
    expect(status).toBe(400);
    expect(body).toMatchObject({
      error: { code: 'INVALID_REQUEST', details: { field: 'q', reason: expect.stringContaining(reason) } },
    });
  });

  test.each([
    ['query', 'a?b.com'],
    ['query', 'google.* OR x'],
    ['query', '/goo.*/'],
    ['not_query', '%google%'],
    ['registered_domain', 'a.com || b.com'],
    ['query', 'NOT google.com'],
  ])('rejects %s=%s, which would silently match nothing', async (field, value) => {
    const { status, body } = await list('listDnsEvents', '/api/v1/events/dns', { [field]: value });
    expect(status).toBe(400);
    const reason = expect.stringContaining('* matches any characters');
    expect(body).toMatchObject({ error: { code: 'INVALID_REQUEST', details: { field, reason } } });
  });

  test('rejects wildcards in a community ID', async () => {
    const { body } = await list('listDnsEvents', '/api/v1/events/dns', { community_id: '1:*' });
    expect(body).toMatchObject({ error: { code: 'INVALID_REQUEST', details: { field: 'community_id' } } });
  });

  test.each(['fe80::1', 'http://example', 'ET SCAN: x', 'and', 'Zeek::Notice', 'x-y_z', 'a|b', '50%', '/etc/'])(
    'accepts q=%s',
    async (q) => {
      expect((await list('listDnsEvents', '/api/v1/events/dns', { q })).status).toBe(200);
    },
  );
});
