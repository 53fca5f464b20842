/** Complete lists through the typed client, against the service. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tableFromIPC } from 'apache-arrow';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { type Client, createClient, type ListId, type ListInput } from '../../src/client/client.ts';
import { routeOf } from '../../src/contract/routes.ts';
import { ServiceError } from '../../src/errors.ts';
import { limits } from '../../src/limits.ts';
import { eventually } from '../http/serve.ts';
import { lists, openLists, type ServedLists, settled } from '../http/served-lists.ts';

let served: ServedLists;
let client: Client;
beforeAll(async () => {
  served = await openLists();
  client = createClient({ baseUrl: served.service.url, token: served.admin });
});
afterAll(() => served.service.close());
afterEach(() => vi.restoreAllMocks());

/** Returns the path parameter of a list, such as `alert_id`, with a value for which the list exists. */
function paramsOf(operation: ListId): Record<string, string> {
  const [, parameter] = /:(\w+)/.exec(routeOf(operation).path) ?? [];
  return parameter === undefined ? {} : { [parameter]: served.ids.get(parameter)! };
}

async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const read: T[] = [];
  for await (const item of items) read.push(item);
  return read;
}

async function codeOf(items: AsyncIterable<unknown>): Promise<string> {
  try {
    for await (const _ of items);
  } catch (error) {
    expect(error).toBeInstanceOf(ServiceError);
    return (error as ServiceError).code;
  }
  return 'none';
}

it.each(lists as ListId[])('%s is read to its end', async (operation) => {
  const query = operation === 'listAuditRecords' ? { to: Date.now() } : {};
  const input = { params: paramsOf(operation), query } as ListInput<'listAlerts'>;
  const items = await all(client.items(operation as 'listAlerts', input));
  expect(items).toEqual(await served.itemsOf(operation, operation === 'listAuditRecords' ? `?to=${query.to}` : ''));
});

describe('the items of a list', () => {
  it('are filtered and sorted by the query', async () => {
    const query = { dst_ip: ['10.0.1.0/24', '10.0.2.7'], sort: 'timestamp' } as const;
    const items = await all(client.items('listNetworkEvents', { query }));
    expect(items).toHaveLength(251);
    const times = items.map(({ attributes }) => attributes.timestamp);
    expect(times).toEqual(times.toSorted());
  });

  it('are requested only when the first item is read', async () => {
    const run = vi.spyOn(served.service.services.queries, 'run');
    const items = client.items('listAssets');
    expect(run).not.toHaveBeenCalled();
    await items.next();
    expect(run).toHaveBeenCalled();
    await items.return();
  });

  it('are no longer produced when the loop ends, which releases the slot', async () => {
    const { exports } = served.service.services;
    const take = exports.take.bind(exports);
    let underWay = 0;
    vi.spyOn(exports, 'take').mockImplementation((caller) => {
      const giveBack = take(caller);
      underWay++;
      return () => {
        underWay--;
        giveBack();
      };
    });
    for (let n = 0; n <= 2 * limits.maxExportsPerPrincipal; n++) {
      let read = 0;
      for await (const _ of client.items('listNetworkEvents')) if (++read === 5) break;
      expect(read).toBe(5);
      await eventually(() => underWay === 0);
    }
  });

  it('fail with CANCELLED when the signal is aborted', async () => {
    const controller = new AbortController();
    const read: unknown[] = [];
    const reading = (async () => {
      for await (const item of client.items('listNetworkEvents', { signal: controller.signal })) {
        read.push(item);
        controller.abort();
      }
    })();
    await expect(reading).rejects.toMatchObject({ code: 'CANCELLED' });
    expect(read.length).toBeGreaterThan(0);
    const before = client.items('listAssets', { signal: AbortSignal.abort() });
    expect(await codeOf(before)).toBe('CANCELLED');
  });

  it('are produced on demand', async () => {
    const rows = await served.addLargeEvents();
    const run = vi.spyOn(served.service.services.queries, 'run');
    // Compressed, the whole list would fit into the buffers of the connection.
    const uncompressed: typeof fetch = (input, init) => {
      const headers = new Headers(init?.headers);
      headers.set('accept-encoding', 'identity');
      return fetch(input, { ...init, headers });
    };
    const options = { baseUrl: served.service.url, token: served.admin, fetch: uncompressed };
    const items = createClient(options).items('listNetworkEvents', { query: { dst_port: 8443 } });
    await items.next();
    expect(await settled(() => run.mock.calls.length)).toBeLessThan(rows / limits.maxPerPage);
    expect(await all(items)).toHaveLength(rows - 1);
  });

  it("fail with the service's code, and with UNAVAILABLE without a listener", async () => {
    expect(await codeOf(createClient({ baseUrl: served.service.url }).items('listAlerts'))).toBe('UNAUTHENTICATED');
    const query = { sort: 'colour' as 'name' };
    expect(await codeOf(client.items('listAssets', { query }))).toBe('INVALID_REQUEST');
    const params = { alert_id: '018f0000-0000-7000-8000-000000000001' };
    expect(await codeOf(client.items('listAlertNotes', { params }))).toBe('NOT_FOUND');
    expect(await codeOf(createClient({ baseUrl: 'http://127.0.0.1:1' }).items('listAssets'))).toBe('UNAVAILABLE');
  });

  it('fail if the list ends prematurely', async () => {
    const { queries } = served.service.services;
    const run = queries.run.bind(queries) as (...args: unknown[]) => Promise<unknown>;
    let asked = 0;
    vi.spyOn(queries, 'run').mockImplementation(((...args: unknown[]) =>
      ++asked === 2 ? Promise.reject(new TypeError('bug')) : run(...args)) as never);
    expect(await codeOf(client.items('listNetworkEvents'))).toBe('UNAVAILABLE');
  });
});

describe('a complete list as a file', () => {
  const bytesOf = async (body: Promise<ReadableStream<Uint8Array<ArrayBuffer>>>) =>
    new Uint8Array(await new Response(await body).arrayBuffer());
  const query = { dst_ip: ['10.0.1.0/24'], sort: 'timestamp' } as const;

  it('has its items as lines', async () => {
    const text = new TextDecoder().decode(await bytesOf(client.whole('listNetworkEvents', 'lines', { query })));
    const items = text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(items).toEqual(await all(client.items('listNetworkEvents', { query })));
  });

  it('is an Arrow table', async () => {
    const table = tableFromIPC(await bytesOf(client.whole('listNetworkEvents', 'arrow', { query })));
    expect(table.numRows).toBe((await all(client.items('listNetworkEvents', { query }))).length);
  });

  it('ends when its reader cancels it', async () => {
    const body = await client.whole('listNetworkEvents', 'lines');
    const reader = body.getReader();
    expect((await reader.read()).done).toBe(false);
    await reader.cancel();
    expect(await reader.read()).toEqual({ done: true, value: undefined });
  });

  it('fails with the same codes as calls, both before the response and while it is read', async () => {
    await expect(createClient({ baseUrl: served.service.url }).whole('listAlerts', 'lines')).rejects.toMatchObject({
      code: 'UNAUTHENTICATED',
    });
    const controller = new AbortController();
    const reader = (await client.whole('listNetworkEvents', 'lines', { signal: controller.signal })).getReader();
    controller.abort();
    const read = (async () => {
      while (!(await reader.read()).done);
    })();
    await expect(read).rejects.toMatchObject({ code: 'CANCELLED' });
  });

  it('fails if it ends prematurely', async () => {
    const { queries } = served.service.services;
    const run = queries.run.bind(queries) as (...args: unknown[]) => Promise<unknown>;
    let asked = 0;
    vi.spyOn(queries, 'run').mockImplementation(((...args: unknown[]) =>
      ++asked === 2 ? Promise.reject(new TypeError('bug')) : run(...args)) as never);
    await expect(bytesOf(client.whole('listNetworkEvents', 'lines'))).rejects.toMatchObject({
      code: 'UNAVAILABLE',
    });
  });
});

describe('a response from another server', () => {
  let server: Server;
  let type: string;
  let body: string;
  beforeAll(async () => {
    server = createServer((_, response) => response.writeHead(200, { 'content-type': type }).end(body));
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  });
  afterAll(() => server.close());

  it.each([
    ['text/html', '<p>Sign in', 'UNAVAILABLE'],
    ['application/json', '{"data":[]}', 'UNAVAILABLE'],
    ['application/x-ndjson', '{"id":"1"}\nno JSON\n', 'UNAVAILABLE'],
    ['application/x-ndjson', '{"id":"1"}\n{"id":"2"}', 'UNAVAILABLE'],
    ['application/x-ndjson', '{"id":"1"}\n', 'none'],
    ['application/x-ndjson', '', 'none'],
  ])('with type %s and body %j results in the error code %s', async (contentType, text, code) => {
    [type, body] = [contentType, text];
    const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    expect(await codeOf(createClient({ baseUrl }).items('listAssets'))).toBe(code);
  });
});
