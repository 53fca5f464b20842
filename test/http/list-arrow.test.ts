/** Whole lists in Arrow, read back with apache-arrow, for every operation that returns a page. */
import { connect } from 'node:net';
import { tableFromIPC } from 'apache-arrow';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { type OperationId, routeOf } from '../../src/contract/routes.ts';
import { ServiceError } from '../../src/errors.ts';
import { limits } from '../../src/limits.ts';
import { readArrow } from './read-arrow.ts';
import { eventually } from './serve.ts';
import { lists, openLists, type ServedLists, settled } from './served-lists.ts';

const accept = 'application/vnd.apache.arrow.stream';

let served: ServedLists;
beforeAll(async () => {
  served = await openLists();
});
afterAll(() => served.service.close());
afterEach(() => vi.restoreAllMocks());

const ask = (path: string, headers: Record<string, string> = {}, init: RequestInit = {}) =>
  served.ask(path, { accept, ...headers }, init);

async function arrowOf(operation: OperationId, query = '') {
  const answer = await ask(`${served.pathOf(operation)}${query}`);
  expect([operation, answer.status, answer.headers.get('content-type')]).toEqual([operation, 200, accept]);
  return readArrow(operation, new Uint8Array(await answer.arrayBuffer()));
}

const withoutType = (items: unknown[]) =>
  (items as { id: string; attributes: object }[]).map(({ id, attributes }) => ({ id, attributes }));

describe.each(lists)('%s', (operation) => {
  test('returns the whole list, equal to its pages, with a column for each attribute', async () => {
    // With an audit log, these calls would add records, so only older records are compared.
    const query = operation === 'listAuditRecords' ? `?to=${Date.now()}` : '';
    const items = withoutType(await served.itemsOf(operation, query));
    const { schema, batches } = await arrowOf(operation, query);
    expect(batches.flat()).toEqual(items);
    expect(batches.every((batch) => batch.length > 0 && batch.length <= limits.maxPerPage)).toBe(true);
    const { properties, required } = attributesOf(operation);
    expect(schema.fields.map(({ name }) => name)).toEqual(['id', ...Object.keys(properties)]);
    for (const { name, nullable } of schema.fields)
      expect([name, nullable]).toEqual([name, name !== 'id' && !required.includes(name)]);
  });

  test('rejects a page size', async () => {
    const { status } = await ask(`${served.pathOf(operation)}?per_page=10`);
    expect(status).toBe(400);
  });
});

function attributesOf(operation: OperationId) {
  const { lines } = routeOf(operation).responses[200] as { lines?: unknown };
  const item = lines as { properties: { attributes: { properties: object; required: string[] } } };
  return item.properties.attributes;
}

test('more items than a page come in several batches', async () => {
  for (const operation of ['listNetworkEvents', 'listAssets', 'listServices'] as const)
    expect((await arrowOf(operation)).batches.length).toBeGreaterThan(1);
});

test('events have specific column types', async () => {
  const { schema } = await arrowOf('listNetworkEvents', '?dst_port=1');
  const types = Object.fromEntries(schema.fields.map(({ name, type }) => [name, String(type)]));
  expect(types).toMatchObject({
    id: 'Utf8',
    timestamp: 'Timestamp<MILLISECOND, UTC>',
    duration_ms: 'Float64',
    src_ip: 'Dictionary<Int32, Utf8>',
    src_port: 'Uint16',
    src_bytes: 'Int64',
    severity: 'Dictionary<Int32, Utf8>',
    community_id: 'Utf8',
  });
  const dns = await arrowOf('listDnsEvents');
  expect(String(dns.schema.fields.find(({ name }) => name === 'truncated')?.type)).toBe('Bool');
  const assets = await arrowOf('listAssets', '?q=nothing');
  expect(String(assets.schema.fields.find(({ name }) => name === 'tags')?.type)).toBe('List<Utf8>');
});

test('filters and orders are equal to those of paged lists', async () => {
  for (const [operation, query] of [
    ['listNetworkEvents', '?dst_ip=10.0.1.0/24&sort=timestamp'],
    ['listDnsEvents', '?src_ip=10.0.0.1'],
    ['listAssets', '?sort=-risk_score&q=10.0'],
    ['listServices', '?sort=port'],
    ['listAlerts', '?severity=high'],
  ] as const) {
    const items = withoutType(await served.itemsOf(operation, query));
    expect(items.length).toBeGreaterThan(0);
    expect((await arrowOf(operation, query)).batches.flat()).toEqual(items);
  }
});

test('an empty list has columns and no batch', async () => {
  for (const [operation, query] of [
    ['listNetworkEvents', '?dst_port=1'],
    ['listAssets', '?q=nothing+like+it'],
    ['listScans', ''],
  ] as const) {
    const { schema, batches } = await arrowOf(operation, query);
    expect([schema.fields.length > 5, batches]).toEqual([true, []]);
  }
});

test('integers that a double cannot hold are preserved', async () => {
  const { data } = (await (await served.ask('/api/transparency/sths')).json()) as { data: { id: string }[] };
  const answer = await ask('/api/transparency/sths');
  const table = tableFromIPC(new Uint8Array(await answer.arrayBuffer()));
  const ids = Array.from(table, (row) => `${row?.tree_size}-${row?.timestamp_ns}`);
  expect(ids).toEqual(data.map(({ id }) => id));
});

test('HEAD has no body, and unauthenticated callers are refused in JSON', async () => {
  const head = await ask('/api/v1/assets', {}, { method: 'HEAD' });
  expect([head.status, head.headers.get('content-type'), await head.text()]).toEqual([200, accept, '']);
  const stranger = await fetch(`${served.service.url}/api/v1/assets`, { headers: { accept } });
  expect([stranger.status, stranger.headers.get('content-type')]).toEqual([401, 'application/json']);
});

test('another variant of Arrow is not supported: the response is a page in JSON', async () => {
  const answer = await ask('/api/v1/assets', { accept: 'application/vnd.apache.arrow.file' });
  expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'application/json']);
});

/** The tasks that produce a page. */
const makers = ['arrowPage', 'exportArrowEvents'];

/** Counts the pages that are made, and lets `act` replace the n-th page. */
function atPage(n: number, act: (signal: AbortSignal) => Promise<never>) {
  const { queries } = served.service.services;
  const run = queries.run.bind(queries) as (...args: unknown[]) => Promise<unknown>;
  let asked = 0;
  vi.spyOn(queries, 'run').mockImplementation(((...args: unknown[]) => {
    const [task, , options] = args as [string, unknown, { signal: AbortSignal }];
    return makers.includes(task) && ++asked === n ? act(options.signal) : run(...args);
  }) as never);
  return () => asked;
}

test('later pages wait for idle threads; a failed page truncates the stream; a refused first page is 503', async () => {
  atPage(2, async () => {
    throw new ServiceError('OVERLOADED', 'busy');
  });
  expect((await arrowOf('listAssets')).batches.flat()).toEqual(withoutType(await served.itemsOf('listAssets')));
  vi.restoreAllMocks();
  atPage(2, async () => {
    throw new TypeError('bug');
  });
  const answer = await ask('/api/v1/events/network');
  expect(answer.status).toBe(200);
  await expect(answer.arrayBuffer()).rejects.toThrow();
  vi.restoreAllMocks();
  atPage(1, async () => {
    throw new ServiceError('OVERLOADED', 'busy');
  });
  expect((await ask('/api/v1/assets')).status).toBe(503);
});

test('a client that disconnects ends its query and releases its slot', async () => {
  const gone = new AbortController();
  let aborted = false;
  atPage(
    2,
    (signal) =>
      new Promise((_, reject) =>
        signal.addEventListener('abort', () => {
          aborted = true;
          reject(new ServiceError('CANCELLED', 'gone'));
        }),
      ),
  );
  const answer = await ask('/api/v1/events/network', {}, { signal: gone.signal });
  await answer.body?.getReader().read();
  gone.abort();
  await eventually(() => aborted);
  vi.restoreAllMocks();
  const answers: Response[] = [];
  for (let n = 0; n < limits.maxExportsPerPrincipal; n++) answers.push(await ask('/api/v1/assets'));
  expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
  await Promise.all(answers.map((one) => one.arrayBuffer()));
});

test('a stalled reader pauses the stream, which is complete once the reader reads', async () => {
  const rows = await served.addLargeEvents();
  const pages = atPage(0, async () => {
    throw new Error('never');
  });
  const { hostname, port } = new URL(served.service.url);
  const socket = connect(Number(port), hostname);
  socket.pause();
  socket.write(
    `GET /api/v1/events/network?dst_port=8443 HTTP/1.1\r\nHost: candor\r\nAccept: ${accept}\r\nAuthorization: Bearer ${served.admin}\r\nConnection: close\r\n\r\n`,
  );
  await eventually(() => pages() > 1);
  expect(await settled(pages)).toBeLessThan(rows / limits.maxPerPage);
  const chunks: Uint8Array[] = [];
  for await (const chunk of socket) chunks.push(chunk);
  const answer = Buffer.concat(chunks);
  const body = unchunked(answer.subarray(answer.indexOf('\r\n\r\n') + 4));
  expect(tableFromIPC(body).numRows).toBe(rows);
});

/** Decodes the chunks of a body (RFC 9112, section 7.1). */
function unchunked(body: Buffer): Uint8Array {
  const parts: Buffer[] = [];
  for (let at = 0; ; ) {
    const end = body.indexOf('\r\n', at);
    const size = Number.parseInt(body.toString('latin1', at, end), 16);
    if (size === 0) return Buffer.concat(parts);
    parts.push(body.subarray(end + 2, end + 2 + size));
    at = end + 2 + size + 2;
  }
}
