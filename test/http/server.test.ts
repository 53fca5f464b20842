import { afterEach, describe, expect, test } from 'vitest';
import { ServiceError } from '../../src/errors.ts';
import type { Credentials } from '../../src/http/endpoint.ts';
import { bareJson, created, noContent, page, resource } from '../../src/http/reply.ts';
import { bodyOf, echo, eventually, get, serve, stopAll, Wire } from './serve.ts';

afterEach(stopAll);

const id = '018f0000-0000-7000-8000-000000000001';
const alert = get('/alerts/:alert_id', ({ params }) => resource('alert', params.get('alert_id')!, { version: 3 }));

describe('envelopes', () => {
  test('a resource comes with its type, its meta and its version as ETag', async () => {
    const { url } = await serve([alert]);
    const answer = await fetch(`${url}/alerts/${id}`);
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-type')).toBe('application/json');
    expect(answer.headers.get('etag')).toBe('"3"');
    expect(await answer.json()).toEqual({
      data: { id, type: 'alert', attributes: { version: 3 } },
      meta: { timestamp: expect.stringMatching(/^\d{4}-.*\.\d{3}Z$/), query_time_ms: expect.any(Number) },
    });
  });

  test('a created resource returns 201 and its location', async () => {
    const { url } = await serve([get('/make', () => created('alert_note', id, {}, '/notes/1'))]);
    const answer = await fetch(`${url}/make`);
    expect([answer.status, answer.headers.get('location')]).toEqual([201, '/notes/1']);
  });

  test('a page is inserted unchanged, with its pagination', async () => {
    const json = new TextEncoder().encode('[{"id":"é","n":1.10}]');
    const { url } = await serve([get('/list', () => page({ json, total: 101, page: 2, next_cursor: 'c' }, 50))]);
    const text = await (await fetch(`${url}/list`)).text();
    expect(text).toContain('{"data":[{"id":"é","n":1.10}],');
    expect(JSON.parse(text).pagination).toEqual({
      page: 2,
      per_page: 50,
      total: 101,
      total_pages: 3,
      has_next: true,
      has_prev: true,
      next_cursor: 'c',
    });
  });

  test('an empty response has neither body nor length', async () => {
    const { url } = await serve([get('/empty', () => noContent)]);
    const answer = await fetch(`${url}/empty`);
    expect([answer.status, await answer.text(), answer.headers.get('content-length')]).toEqual([204, '', null]);
  });

  test('an error carries code, message, details and time, and Retry-After if a retry helps', async () => {
    const { url } = await serve([
      get('/full', () => {
        throw new ServiceError('OVERLOADED', 'full', { retry_after_s: 7 });
      }),
      get('/lost', () => Promise.reject(new ServiceError('WORKER_LOST', 'thread died'))),
    ]);
    const full = await fetch(`${url}/full`);
    expect([full.status, full.headers.get('retry-after')]).toEqual([503, '7']);
    expect(await full.json()).toEqual({
      error: { code: 'OVERLOADED', message: 'full', details: { reason: 'full', retry_after_s: 7 } },
      timestamp: expect.any(String),
    });
    const lost = await fetch(`${url}/lost`);
    expect((await bodyOf(lost)).error?.code).toBe('UNAVAILABLE');
    expect(lost.headers.get('retry-after')).toBe('1');
  });

  test('an unexpected error returns INTERNAL without details, and is logged with its stack and the request id', async () => {
    const { url, logged } = await serve([
      get('/bug', () => {
        throw new TypeError('secret detail');
      }),
    ]);
    const answer = await fetch(`${url}/bug?key=hunter2`, { headers: { 'x-request-id': 'trace-1' } });
    const text = await answer.text();
    expect(answer.status).toBe(500);
    expect(JSON.parse(text).error.code).toBe('INTERNAL');
    expect(text).not.toContain('secret');
    expect(logged).toHaveLength(1);
    expect(logged[0]).toMatchObject({
      request_id: 'trace-1',
      operation: 'bug',
      err: { message: 'secret detail' },
    });
    expect(JSON.stringify(logged)).not.toContain('hunter2');
  });
});

describe('paths and methods', () => {
  test('an unknown path is NOT_FOUND in the envelope', async () => {
    const { url, answered } = await serve([alert]);
    for (const path of ['/', '/nothing', `/alerts/${id}/`, '/alerts/', '/alerts']) {
      const answer = await fetch(url + path);
      expect([path, answer.status, (await bodyOf(answer)).error?.code]).toEqual([path, 404, 'NOT_FOUND']);
    }
    expect(new Set(answered.map(({ operation }) => operation))).toEqual(new Set(['none']));
  });

  test('another method is METHOD_NOT_ALLOWED with Allow; OPTIONS returns the same Allow', async () => {
    const { url } = await serve([alert, { ...alert, method: 'PUT' }]);
    const wrong = await fetch(`${url}/alerts/${id}`, { method: 'DELETE' });
    expect([wrong.status, wrong.headers.get('allow')]).toEqual([405, 'GET, PUT, HEAD, OPTIONS']);
    expect((await bodyOf(wrong)).error?.code).toBe('METHOD_NOT_ALLOWED');
    const options = await fetch(`${url}/alerts/${id}`, { method: 'OPTIONS' });
    expect([options.status, options.headers.get('allow')]).toEqual([204, 'GET, PUT, HEAD, OPTIONS']);
    expect((await fetch(`${url}/nothing`, { method: 'OPTIONS' })).status).toBe(404);
  });

  test('HEAD is GET without the body, and the connection stays open', async () => {
    const { url, server } = await serve([alert]);
    const length = (await (await fetch(`${url}/alerts/${id}`)).text()).length;
    const head = await fetch(`${url}/alerts/${id}`, { method: 'HEAD' });
    expect([head.status, await head.text()]).toEqual([200, '']);
    expect(Number(head.headers.get('content-length'))).toBeCloseTo(length, -1);

    const wire = await Wire.open(server.port);
    wire.send(`HEAD /alerts/${id} HTTP/1.1\r\nHost: x\r\n\r\n`);
    await wire.until(/\r\n\r\n/);
    wire.send(`GET /nothing HTTP/1.1\r\nHost: x\r\n\r\n`);
    await wire.until(/NOT_FOUND/);
    wire.end();
  });

  test('a parameter is decoded, and named if its encoding is invalid', async () => {
    const { url } = await serve([get('/echo/:name', ({ params }) => bareJson(params.get('name')))]);
    expect(await (await fetch(`${url}/echo/a%2Fb%20%C3%A9`)).json()).toBe('a/b é');
    const broken = await fetch(`${url}/echo/%ff`);
    expect([broken.status, (await bodyOf(broken)).error?.details?.field]).toEqual([400, 'name']);
  });
});

describe('headers', () => {
  test("every response has a request id: the client's if valid, otherwise a new id", async () => {
    const { url } = await serve([alert]);
    const ids = async (given: string | undefined, path: string) =>
      (await fetch(url + path, given === undefined ? {} : { headers: { 'x-request-id': given } })).headers.get(
        'x-request-id',
      );
    expect(await ids('abc-1', `/alerts/${id}`)).toBe('abc-1');
    expect(await ids('abc-2', '/nothing')).toBe('abc-2');
    const own = await ids(undefined, '/nothing');
    expect(own).toMatch(/^[0-9a-f]{8}-[0-9a-z]+$/);
    expect(await ids('with space', '/nothing')).not.toBe('with space');
    expect(await ids('x'.repeat(129), '/nothing')).not.toContain('xxx');
    expect(await ids(undefined, '/nothing')).not.toBe(own);
  });

  test('responses forbid caching and content sniffing', async () => {
    const { url } = await serve([alert]);
    const { headers } = await fetch(`${url}/alerts/${id}`);
    expect(headers.get('cache-control')).toBe('no-store');
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect(headers.get('uwebsockets')).toBeNull();
  });

  test('cross-origin headers are sent for configured origins only', async () => {
    const closed = await serve([alert]);
    const origin = { origin: 'https://console.example.org' };
    const none = await fetch(`${closed.url}/alerts/${id}`, { headers: origin });
    expect(none.headers.get('access-control-allow-origin')).toBeNull();

    const open = await serve([alert], { corsOrigins: [origin.origin] });
    const allowed = await fetch(`${open.url}/alerts/${id}`, { headers: origin });
    expect(allowed.headers.get('access-control-allow-origin')).toBe(origin.origin);
    expect(allowed.headers.get('vary')).toBe('Origin');
    const other = await fetch(`${open.url}/alerts/${id}`, { headers: { origin: 'https://evil.example' } });
    expect(other.headers.get('access-control-allow-origin')).toBeNull();
    const wire = await Wire.open(open.server.port);
    wire.send(
      `OPTIONS /alerts/${id} HTTP/1.1\r\nHost: x\r\nOrigin: ${origin.origin}\r\nAccess-Control-Request-Method: GET\r\n\r\n`,
    );
    const preflight = await wire.until(/\r\n\r\n/);
    expect(preflight).toMatch(/^HTTP\/1.1 204 /);
    expect(preflight).toMatch(/Access-Control-Allow-Methods: GET, HEAD, OPTIONS/);
    expect(preflight).toMatch(/Access-Control-Allow-Headers: Authorization, /);
    wire.end();
  });
});

describe('credentials', () => {
  const guarded = { ...alert, access: ['analyst', 'admin'] as const };
  const authenticate = ({ authorization }: Credentials) => {
    if (authorization !== 'Bearer good') throw new ServiceError('UNAUTHENTICATED', 'no');
    return { principal: { id, name: 'ann' }, roles: ['viewer'] as const, jti: id };
  };

  test('an endpoint returns UNAUTHENTICATED without credentials and names the scheme, and FORBIDDEN without the role', async () => {
    const { url } = await serve([guarded], { authenticate });
    const none = await fetch(`${url}/alerts/${id}`);
    expect([none.status, none.headers.get('www-authenticate')]).toEqual([401, 'Bearer realm="candor"']);
    const bad = (authorization: string) => fetch(`${url}/alerts/${id}`, { headers: { authorization } });
    expect((await bad('bearer bad')).headers.get('www-authenticate')).toBe(
      'Bearer realm="candor", error="invalid_token"',
    );
    expect((await bad('Basic YTpi')).headers.get('www-authenticate')).toBe('Bearer realm="candor"');
    const little = await fetch(`${url}/alerts/${id}`, { headers: { authorization: 'Bearer good' } });
    expect([little.status, (await bodyOf(little)).error?.code]).toEqual([403, 'FORBIDDEN']);
  });

  test('an endpoint runs for a caller with its role, and gets the name and address of the caller', async () => {
    const who = get('/who', ({ identity, remoteAddress }) => bareJson([identity?.principal.name, remoteAddress]));
    const { url } = await serve([{ ...who, access: ['viewer'] }], {
      authenticate: async (credentials) => authenticate(credentials),
    });
    const answer = await fetch(`${url}/who`, { headers: { authorization: 'Bearer good' } });
    expect(await answer.json()).toEqual(['ann', '127.0.0.1']);
  });

  test('a body is not validated before the credentials', async () => {
    const { url } = await serve([{ ...echo(), access: ['viewer'] }], { authenticate });
    const answer = await fetch(`${url}/echo`, {
      method: 'POST',
      headers: { 'content-type': 'image/png' },
      body: 'x'.repeat(10_000),
    });
    expect(answer.status).toBe(401);
  });
});

describe('lifecycle', () => {
  test('requests beyond the limit of concurrent requests are OVERLOADED', async () => {
    let release: (() => void) | undefined;
    const slow = get(
      '/slow',
      () =>
        new Promise((resolve) => {
          release = () => resolve(bareJson('done'));
        }),
    );
    const { url, limitsReached } = await serve([slow, alert], { maxInFlight: 1 });
    const first = fetch(`${url}/slow`);
    await eventually(() => release !== undefined);
    const second = await fetch(`${url}/alerts/${id}`);
    expect([second.status, (await bodyOf(second)).error?.code]).toEqual([503, 'OVERLOADED']);
    expect(limitsReached).toEqual(['maxRequestsInFlight']);
    release?.();
    expect((await first).status).toBe(200);
    expect((await fetch(`${url}/alerts/${id}`)).status).toBe(200);
  });

  test('a port is opened exclusively', async () => {
    const first = await serve([alert]);
    await expect(serve([], { port: first.server.port })).rejects.toThrow(/cannot listen on 127.0.0.1 port \d+/);
    expect((await fetch(`${first.url}/alerts/${id}`)).status).toBe(200);
  });

  test('an unreadable certificate is reported with its path and the cause', async () => {
    const tls = { cert: '/nonexistent/cert.pem', key: '/nonexistent/key.pem' };
    await expect(serve([], { tls })).rejects.toThrow(
      /cannot set up TLS with \/nonexistent\/cert.pem: it cannot be read \(ENOENT\)/,
    );
  });

  test('close refuses new connections, answers accepted requests, then closes the other connections', async () => {
    let release: (() => void) | undefined;
    const slow = get(
      '/slow',
      () =>
        new Promise((resolve) => {
          release = () => resolve(bareJson('done'));
        }),
    );
    const { url, server } = await serve([slow]);
    const idle = await Wire.open(server.port);
    const answer = fetch(`${url}/slow`);
    await eventually(() => release !== undefined);
    const closed = server.close();
    await expect(fetch(`${url}/slow`)).rejects.toThrow();
    release?.();
    expect(await (await answer).json()).toBe('done');
    expect((await answer).headers.get('connection')).toBe('close');
    await closed;
    await idle.untilClosed();
    expect(server.inFlight).toBe(0);
  });

  test('close aborts requests that take too long, and logs this', async () => {
    const { server, logged } = await serve([get('/never', () => new Promise(() => undefined))], {
      drainMs: 20,
    });
    const wire = await Wire.open(server.port);
    wire.send('GET /never HTTP/1.1\r\nHost: x\r\n\r\n');
    await eventually(() => server.inFlight === 1);
    await server.close();
    await wire.untilClosed();
    expect(logged[0]).toMatchObject({ level: 40, requests: 1 });
  });
});
