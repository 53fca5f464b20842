import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createClient } from '../../src/client/client.ts';
import { ServiceError } from '../../src/errors.ts';

/** Responds to a request of the client. Each test sets this function. */
let answer: (request: IncomingMessage, response: ServerResponse, body: string) => void;
const server = createServer(async (request, response) => {
  const chunks: Uint8Array[] = [];
  for await (const chunk of request) chunks.push(chunk);
  answer(request, response, Buffer.concat(chunks).toString());
});
let baseUrl: string;

beforeAll(async () => {
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => {
  server.close();
  server.closeAllConnections();
});

const reply = (response: ServerResponse, status: number, body: unknown) => {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(typeof body === 'string' ? body : JSON.stringify(body));
};

const alertId = '0199b1c2-0000-7000-8000-000000000000';

async function failure(attempt: Promise<unknown>): Promise<ServiceError> {
  const error = await attempt.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(ServiceError);
  return error as ServiceError;
}

describe('a call', () => {
  it('uses the method and path of the route, with parameters, query, headers and body', async () => {
    const seen: unknown[] = [];
    answer = (request, response, body) => {
      const { method, url, headers } = request;
      seen.push([method, url, headers.authorization, headers['content-type'], headers['if-match'], body]);
      reply(response, 200, { data: 1 });
    };
    const client = createClient({ baseUrl: `${baseUrl}/`, token: 't' });
    const params = { alert_id: alertId };
    await client.call('updateAlert', {
      params,
      headers: { 'if-match': '"3"' },
      body: { status: 'resolved' },
    });
    await client.call('listNetworkEvents', {
      query: { src_ip: ['10.0.0.0/8', '::1'], dst_port: 443, q: 'a b' },
    });
    client.setToken(undefined);
    await client.call('getTreeHead');
    expect(seen).toEqual([
      ['PUT', `/api/v1/alerts/${alertId}`, 'Bearer t', 'application/json', '"3"', '{"status":"resolved"}'],
      [
        ...['GET', '/api/v1/events/network?src_ip=10.0.0.0%2F8&src_ip=%3A%3A1&dst_port=443&q=a+b', 'Bearer t'],
        ...[undefined, undefined, ''],
      ],
      ['GET', '/api/transparency/sth', undefined, undefined, undefined, ''],
    ]);
  });

  it('escapes path parameters', async () => {
    let url: string | undefined;
    answer = (request, response) => {
      url = request.url;
      reply(response, 200, {});
    };
    await createClient({ baseUrl }).call('getAlert', { params: { alert_id: '../../health?x' } });
    expect(url).toBe('/api/v1/alerts/..%2F..%2Fhealth%3Fx');
  });

  it("fails with the service's code and details", async () => {
    const details = { field: 'alert_id', reason: 'must be a valid UUID' };
    answer = (_, response) =>
      reply(response, 400, {
        error: { code: 'INVALID_REQUEST', message: 'm', details },
        timestamp: new Date().toISOString(),
      });
    const error = await failure(createClient({ baseUrl }).call('getAlert', { params: { alert_id: 'x' } }));
    expect(error).toMatchObject({ code: 'INVALID_REQUEST', message: 'm', details });
  });

  it.each([
    [500, { error: { code: 'FROM_THE_FUTURE', message: 'm' } }, 'INTERNAL'],
    [502, '<html>Bad gateway</html>', 'UNAVAILABLE'],
    [200, 'not JSON', 'UNAVAILABLE'],
    [404, { message: 'a proxy' }, 'UNAVAILABLE'],
    [404, 'null', 'UNAVAILABLE'],
  ])('with the response %d %j fails as %s', async (status, body, code) => {
    answer = (_, response) => reply(response, status, body);
    expect((await failure(createClient({ baseUrl }).call('getTreeHead'))).code).toBe(code);
  });

  it('fails as UNAVAILABLE without a listener, and as CANCELLED if the caller cancelled', async () => {
    const nobody = createClient({ baseUrl: 'http://127.0.0.1:1' });
    expect((await failure(nobody.call('getTreeHead'))).code).toBe('UNAVAILABLE');
    const signal = AbortSignal.abort();
    expect((await failure(createClient({ baseUrl }).call('getTreeHead', { signal }))).code).toBe('CANCELLED');
  });

  it('returns nothing for 204 and text for metrics', async () => {
    answer = (_, response) => response.writeHead(204).end();
    expect(await createClient({ baseUrl }).call('logout')).toBeUndefined();
    answer = (_, response) => response.writeHead(200, { 'content-type': 'text/plain' }).end('# HELP');
    expect(await createClient({ baseUrl }).call('getMetrics')).toBe('# HELP');
  });

  it('ingests bytes, NDJSON by default', async () => {
    const counts = { accepted: 1, rejected: 0, ignored: 0, duplicates: 0, errors: [] };
    const seen: unknown[] = [];
    answer = (request, response, body) => {
      seen.push([request.url, request.headers['content-type'], request.headers['idempotency-key'], body]);
      reply(response, 200, { data: counts, meta: {} });
    };
    const client = createClient({ baseUrl });
    expect(await client.ingest('{"a":1}\n')).toEqual(counts);
    const headers = { 'idempotency-key': 'k' };
    await client.ingest(new TextEncoder().encode('x'), {
      query: { ack: 'memory' },
      headers,
      contentType: 'text/plain',
    });
    expect(seen).toEqual([
      ['/api/v1/ingest', 'application/x-ndjson', undefined, '{"a":1}\n'],
      ['/api/v1/ingest?ack=memory', 'text/plain', 'k', 'x'],
    ]);
  });
});

describe('stream()', () => {
  const ndjson = { 'content-type': 'application/x-ndjson' };

  it("requests the operation's media type, and yields the response incrementally", async () => {
    let finish: (() => void) | undefined;
    const seen: unknown[] = [];
    answer = (request, response) => {
      seen.push([request.url, request.headers.accept]);
      response.writeHead(200, ndjson).write('{"id":"1"}\n');
      finish = () => response.end('{"id":"2"}\n');
    };
    const query = { severity: ['high'], format: 'ocsf' } as const;
    const reader = (await createClient({ baseUrl }).stream('exportAlerts', { query })).getReader();
    const read = async () => new TextDecoder().decode((await reader.read()).value);
    expect(await read()).toBe('{"id":"1"}\n');
    finish?.();
    expect(await read()).toBe('{"id":"2"}\n');
    expect((await reader.read()).done).toBe(true);
    expect(seen).toEqual([['/api/v1/alerts/export?severity=high&format=ocsf', 'application/x-ndjson']]);
  });

  it('cancels the request when the stream is cancelled', async () => {
    const closed = new Promise<void>((resolve) => {
      answer = (_, response) => {
        response.writeHead(200, ndjson).write('{}\n');
        response.on('close', resolve);
      };
    });
    await (await createClient({ baseUrl }).stream('exportAlerts')).cancel();
    await closed;
  });

  it.each([
    ['cancelled by the caller', (_: ServerResponse, controller: AbortController) => controller.abort(), 'CANCELLED'],
    ['cut off by the service', (response: ServerResponse) => response.destroy(), 'UNAVAILABLE'],
  ])('fails if the stream is %s', async (_, end, code) => {
    const controller = new AbortController();
    let sent: ServerResponse | undefined;
    answer = (_request, response) => {
      sent = response;
      response.writeHead(200, ndjson).write('{}\n');
    };
    const reader = (await createClient({ baseUrl }).stream('exportAlerts', { signal: controller.signal })).getReader();
    await reader.read();
    if (sent !== undefined) end(sent, controller);
    expect((await failure(reader.read())).code).toBe(code);
  });

  it("fails with the service's code, and as UNAVAILABLE if another server responds", async () => {
    const client = createClient({ baseUrl });
    answer = (_, response) => reply(response, 403, { error: { code: 'FORBIDDEN', message: 'm' } });
    expect((await failure(client.stream('exportAlerts'))).code).toBe('FORBIDDEN');
    answer = (_, response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<p>Sign in');
    expect((await failure(client.stream('exportAlerts'))).code).toBe('UNAVAILABLE');
  });
});
