/** Whole lists as lines: `Accept: application/x-ndjson` for every operation that returns a page. */
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { assertResponse } from '../../scripts/contract-assertions.ts';
import { type OperationId, routeOf } from '../../src/contract/routes.ts';
import { ServiceError } from '../../src/errors.ts';
import { exportForm } from '../../src/http/export-list.ts';
import { limits } from '../../src/limits.ts';
import { eventually } from './serve.ts';
import { lists, openLists, type ServedLists } from './served-lists.ts';

const accept = 'application/x-ndjson';

let served: ServedLists;
beforeAll(async () => {
  served = await openLists();
});
afterAll(() => served.service.close());
afterEach(() => vi.restoreAllMocks());

const ask = (path: string, headers: Record<string, string> = {}, init: RequestInit = {}) =>
  served.ask(path, { accept, ...headers }, init);

async function linesOf(operation: OperationId, query = ''): Promise<unknown[]> {
  const answer = await ask(`${served.pathOf(operation)}${query}`);
  const text = await answer.text();
  expect([operation, answer.status, answer.headers.get('content-type')]).toEqual([operation, 200, accept]);
  assertResponse(operation, 200, text);
  return text
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line));
}

describe.each(lists)('%s', (operation) => {
  test('returns the whole list, one item per line, equal to its pages', async () => {
    // With an audit log, these calls would add records, so only older records are compared.
    const query = operation === 'listAuditRecords' ? `?to=${Date.now()}` : '';
    const items = await served.itemsOf(operation, query);
    expect(await linesOf(operation, query)).toEqual(items);
  });

  test.each(['page=1', 'per_page=10', ...(routeOf(operation).query?.properties.cursor ? ['cursor=x'] : [])])(
    'has no pages: rejects %s',
    async (parameter) => {
      const answer = await ask(`${served.pathOf(operation)}?${parameter}`);
      const { error } = (await answer.json()) as { error: { code: string; details: { field: string } } };
      expect([answer.status, error.details.field]).toEqual([400, parameter.split('=')[0]]);
    },
  );
});

test('in the test data, nearly every list has items, and several lists have more than a page', async () => {
  const counts = new Map<string, number>();
  for (const operation of lists) counts.set(operation, (await linesOf(operation)).length);
  for (const operation of ['listNetworkEvents', 'listAssets', 'listServices'])
    expect(counts.get(operation)).toBeGreaterThan(limits.maxPerPage);
  // These lists are empty here.
  const none = ['listBackups', 'listRules', 'listScans', 'listSilences', 'listTokens'];
  for (const [operation, count] of counts)
    if (!none.includes(operation)) expect([operation, count > 0]).toEqual([operation, true]);
});

test('filters and orders are those of paged lists', async () => {
  for (const [operation, query] of [
    ['listNetworkEvents', '?dst_ip=10.0.1.0/24&sort=timestamp'],
    ['listAssets', '?sort=-risk_score&q=10.0'],
    ['listServices', '?sort=port'],
    ['listAlerts', '?severity=high'],
  ] as const)
    expect(await linesOf(operation, query)).toEqual(await served.itemsOf(operation, query));
});

test('HEAD has no body; a list is 401 without credentials, and 404 for an unknown asset', async () => {
  const head = await ask('/api/v1/assets', {}, { method: 'HEAD' });
  expect([head.status, head.headers.get('content-type'), await head.text()]).toEqual([200, accept, '']);
  const stranger = await fetch(`${served.service.url}/api/v1/assets`, { headers: { accept } });
  expect(stranger.status).toBe(401);
  const none = await ask('/api/v1/services/asset/018f0000-0000-7000-8000-000000000001');
  expect(none.status).toBe(404);
});

/** Runs `act` instead of the n-th query that follows. */
function atQuery(n: number, act: (signal: AbortSignal) => Promise<never>) {
  const { queries } = served.service.services;
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

test('a failure after the first page truncates the response', async () => {
  atQuery(2, async () => {
    throw new TypeError('bug');
  });
  const answer = await ask('/api/v1/events/network');
  expect(answer.status).toBe(200);
  await expect(answer.text()).rejects.toThrow();
  expect(served.service.logged.at(-1)).toMatchObject({ msg: 'a streamed response failed before its end' });
});

test('a failure of the first page returns the same error as the list', async () => {
  atQuery(1, async () => {
    throw new ServiceError('OVERLOADED', 'busy');
  });
  expect((await ask('/api/v1/events/network')).status).toBe(503);
});

test('a client that disconnects ends its query and releases its slot', async () => {
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
  await vi.waitFor(async () => expect((await ask('/api/v1/assets')).status).toBe(200), 60_000);
});

test.each([
  [undefined, undefined],
  ['application/x-ndjson', 'lines'],
  ['Application/X-NDJSON; charset=utf-8', 'lines'],
  ['application/json, application/x-ndjson', 'lines'],
  ['application/x-ndjson;q=0.9, application/json', undefined],
  ['application/x-ndjson;q=0.9, application/json;q=0.1, */*', 'lines'],
  ['application/x-ndjson;q=0', undefined],
  ['application/x-ndjson;q=much', undefined],
  ['application/vnd.apache.arrow.stream', 'arrow'],
  ['Application/vnd.Apache.arrow.stream, application/json', 'arrow'],
  ['application/vnd.apache.arrow.stream, application/x-ndjson', 'lines'],
  ['application/vnd.apache.arrow.stream;q=0.5, application/x-ndjson;q=0.6', 'lines'],
  ['application/vnd.apache.arrow.stream;q=0.5, application/json;q=0.6', undefined],
  ['application/vnd.apache.arrow.file', undefined],
  ['*/*', undefined],
  ['text/html, application/*', undefined],
] as const)('the format for Accept: %s is %s (undefined: pages in JSON)', (value, wanted) => {
  const headers = new Map(value === undefined ? [] : [['accept', value] as const]);
  expect(exportForm({ headers, query: '' })).toBe(wanted);
});
