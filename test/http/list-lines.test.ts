/** Whole lists as lines: `Accept: application/x-ndjson` at every operation that answers with a page. */
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { type OperationId, operationIds, routeOf } from '../../src/contract/routes.ts';
import { assertResponse } from '../../src/contract/validate.ts';
import { ServiceError } from '../../src/errors.ts';
import { wantsLines } from '../../src/http/wants-lines.ts';
import { limits } from '../../src/limits.ts';
import { eventually } from './serve.ts';
import { openService, password, type Service } from './service.ts';

const accept = 'application/x-ndjson';
const lists = operationIds.filter((operation) => {
  const response = routeOf(operation).responses[200];
  return response?.kind === 'json' && response.lines !== undefined;
});

let service: Service;
let admin: string;
/** Path parameters that name something which has such a list. */
const ids = new Map<string, string>();

beforeAll(async () => {
  service = await openService();
  const json = { username: 'admin', password };
  const { body } = await service.call('login', 'POST /auth/login', { json });
  admin = (body as { access_token: string }).access_token;
  // More than a page of events, assets and services.
  const conns = Array.from({ length: limits.maxPerPage + 200 }, (_, n) => ({
    ts: 1_700_000_000 + n / 10,
    uid: `C${n}`,
    'id.orig_h': '192.168.0.10',
    'id.orig_p': 40_000,
    'id.resp_h': `10.0.${Math.floor(n / 250)}.${1 + (n % 250)}`,
    'id.resp_p': 443,
    proto: 'tcp',
    conn_state: 'SF',
  }));
  const dns = {
    _path: 'dns',
    ts: 1_700_000_000,
    uid: 'D',
    'id.orig_h': '10.0.0.1',
    'id.resp_h': '10.0.0.2',
    'id.orig_p': 5353,
    'id.resp_p': 53,
    proto: 'udp',
    query: 'a.test',
    qtype_name: 'A',
    rcode: 0,
  };
  const alert = {
    timestamp: '2026-01-01T00:00:00.000000+0000',
    event_type: 'alert',
    src_ip: '192.168.0.10',
    dest_ip: '203.0.113.9',
    proto: 'TCP',
    alert: { gid: 1, signature_id: 1, rev: 1, signature: 'Bad thing', severity: 1 },
  };
  const text = [...conns, dns, alert].map((record) => `${JSON.stringify(record)}\n`).join('');
  const headers = { 'content-type': accept };
  const stored = await service.call('ingest', 'POST /api/v1/ingest', { token: admin, text, headers });
  expect(stored.body).toMatchObject({ data: { rejected: 0 } });
  const indicators = { name: 'Bad', content: 'bad.test\nworse.test\n' };
  await service.call('createIntel', 'POST /api/v1/intel', { token: admin, json: indicators });
  for (const [parameter, path] of [
    ['alert_id', '/api/v1/alerts'],
    ['asset_id', '/api/v1/assets'],
    ['intel_id', '/api/v1/intel'],
  ] as const) {
    const answer = await fetch(`${service.url}${path}`, { headers: { authorization: `Bearer ${admin}` } });
    const { data } = (await answer.json()) as { data: { id: string }[] };
    if (data[0] !== undefined) ids.set(parameter, data[0].id);
  }
  const { id, attributes } = record;
  await service.store.addAudit([{ id, ...attributes }]);
  const note = { token: admin, json: { text: 'seen' } };
  await service.call('addAlertNote', `POST /api/v1/alerts/${ids.get('alert_id')}/notes`, note);
});
afterAll(() => service.close());
afterEach(() => vi.restoreAllMocks());

/** This service writes none by itself. */
const record = {
  id: '018f0000-0000-7000-8000-000000000009',
  attributes: {
    actor: 'admin',
    operation: 'listTokens',
    request_id: 'r',
    source_address: '127.0.0.1',
    outcome: 'success',
    time: '2026-01-01T00:00:00.000Z',
  },
} as const;

const pathOf = (operation: OperationId) =>
  routeOf(operation).path.replace(/:(\w+)/, (_, parameter: string) => ids.get(parameter) ?? parameter);
const ask = (path: string, headers: Record<string, string> = {}, init: RequestInit = {}) =>
  fetch(service.url + path, { ...init, headers: { authorization: `Bearer ${admin}`, accept, ...headers } });

async function linesOf(operation: OperationId, query = ''): Promise<unknown[]> {
  const answer = await ask(`${pathOf(operation)}${query}`);
  const text = await answer.text();
  expect([operation, answer.status, answer.headers.get('content-type')]).toEqual([operation, 200, accept]);
  assertResponse(operation, 200, text);
  return text
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line));
}

/** The same by pages. */
async function itemsOf(operation: OperationId, query = ''): Promise<unknown[]> {
  const items: unknown[] = [];
  for (let page = 1; ; page++) {
    const paged = `${pathOf(operation)}${query === '' ? '?' : `${query}&`}per_page=1000&page=${page}`;
    const answer = await ask(paged, { accept: 'application/json' });
    const { data, pagination } = (await answer.json()) as {
      data: unknown[];
      pagination: { has_next: boolean };
    };
    items.push(...data);
    if (!pagination.has_next) return items;
  }
}

describe.each(lists)('%s', (operation) => {
  test('gives the whole list, an item a line, as its pages do', async () => {
    // What calls themselves add to: the older part must agree.
    const query = operation === 'listAuditRecords' ? `?to=${Date.now()}` : '';
    const items = await itemsOf(operation, query);
    expect(await linesOf(operation, query)).toEqual(items);
  });

  test.each(['page=1', 'per_page=10', ...(routeOf(operation).query?.properties.cursor ? ['cursor=x'] : [])])(
    'has no pages: %s is refused',
    async (parameter) => {
      const answer = await ask(`${pathOf(operation)}?${parameter}`);
      const { error } = (await answer.json()) as { error: { code: string; details: { field: string } } };
      expect([answer.status, error.details.field]).toEqual([400, parameter.split('=')[0]]);
    },
  );
});

test('every list was one of more than nothing, and some of more than a page', async () => {
  const counts = new Map<string, number>();
  for (const operation of lists) counts.set(operation, (await linesOf(operation)).length);
  for (const operation of ['listNetworkEvents', 'listAssets', 'listServices'])
    expect(counts.get(operation)).toBeGreaterThan(limits.maxPerPage);
  // Nothing has been made of these.
  const none = ['listBackups', 'listRules', 'listScans', 'listSilences', 'listTokens'];
  for (const [operation, count] of counts)
    if (!none.includes(operation)) expect([operation, count > 0]).toEqual([operation, true]);
});

test('filters and orders are those of the list', async () => {
  for (const [operation, query] of [
    ['listNetworkEvents', '?dst_ip=10.0.1.0/24&sort=timestamp'],
    ['listAssets', '?sort=-risk_score&q=10.0'],
    ['listServices', '?sort=port'],
    ['listAlerts', '?severity=high'],
  ] as const)
    expect(await linesOf(operation, query)).toEqual(await itemsOf(operation, query));
});

test('HEAD has no body, and who may not read the list is told so', async () => {
  const head = await ask('/api/v1/assets', {}, { method: 'HEAD' });
  expect([head.status, head.headers.get('content-type'), await head.text()]).toEqual([200, accept, '']);
  const stranger = await fetch(`${service.url}/api/v1/assets`, { headers: { accept } });
  expect(stranger.status).toBe(401);
  const none = await ask('/api/v1/services/asset/018f0000-0000-7000-8000-000000000001');
  expect(none.status).toBe(404);
});

/** The n-th query from here on fails or waits as `act` says. */
function atQuery(n: number, act: (signal: AbortSignal) => Promise<never>) {
  const { queries } = service.services;
  const run = queries.run.bind(queries) as (...args: unknown[]) => Promise<unknown>;
  let asked = 0;
  vi.spyOn(queries, 'run').mockImplementation(((...args: unknown[]) => {
    const [, , options] = args as [string, unknown, { signal: AbortSignal }];
    return ++asked === n ? act(options.signal) : run(...args);
  }) as never);
}

const leave = (signal: AbortSignal) =>
  new Promise<never>((_, reject) =>
    signal.addEventListener('abort', () => reject(new ServiceError('CANCELLED', 'gone')), { once: true }),
  );

test('what fails on the way cuts the answer off before its end', async () => {
  atQuery(2, async () => {
    throw new TypeError('bug');
  });
  const answer = await ask('/api/v1/events/network');
  expect(answer.status).toBe(200);
  await expect(answer.text()).rejects.toThrow();
  expect(service.logged.at(-1)).toMatchObject({ msg: 'an answer could not be made to its end' });
});

test('what fails at first is answered as for the list', async () => {
  atQuery(1, async () => {
    throw new ServiceError('OVERLOADED', 'busy');
  });
  expect((await ask('/api/v1/events/network')).status).toBe(503);
});

test('a client that leaves ends its query, and gives its turn back', async () => {
  const signals: AbortSignal[] = [];
  const gone = new AbortController();
  for (let n = 0; n < limits.maxExportsPerPrincipal; n++) {
    atQuery(2, (signal) => {
      signals.push(signal);
      return leave(signal);
    });
    const answer = await ask('/api/v1/events/network', {}, { signal: gone.signal });
    await answer.body?.getReader().read();
    await eventually(() => signals.length === n + 1);
    vi.restoreAllMocks();
  }
  const refused = await ask('/api/v1/assets');
  expect([refused.status, refused.headers.has('retry-after')]).toEqual([429, true]);
  gone.abort();
  await eventually(() => signals.every(({ aborted }) => aborted));
  await vi.waitFor(async () => expect((await ask('/api/v1/assets')).status).toBe(200));
});

test.each([
  [undefined, false],
  ['application/x-ndjson', true],
  ['Application/X-NDJSON; charset=utf-8', true],
  ['application/json, application/x-ndjson', true],
  ['application/x-ndjson;q=0.9, application/json', false],
  ['application/x-ndjson;q=0.9, application/json;q=0.1, */*', true],
  ['application/x-ndjson;q=0', false],
  ['application/x-ndjson;q=much', false],
  ['*/*', false],
  ['text/html, application/*', false],
])('Accept: %s', (value, wanted) => {
  const headers = new Map(value === undefined ? [] : [['accept', value] as const]);
  expect(wantsLines({ headers, query: '' })).toBe(wanted);
});
