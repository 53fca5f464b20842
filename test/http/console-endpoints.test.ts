/** Requests by browsers, shippers and unauthenticated clients for the console's pages and files. */
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { pino } from 'pino';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { consolePages } from '../../src/contract/console-pages.ts';
import { openApiDocument } from '../../src/contract/openapi.ts';
import { operationIds, routeOf } from '../../src/contract/routes.ts';
import { consoleEndpoints, firstPage } from '../../src/http/console-endpoints.ts';
import { type ConsoleFiles, readConsole } from '../../src/http/console-files.ts';
import { pageHeaders } from '../../src/http/page-headers.ts';
import { securityHeaders } from '../../src/http/security-headers.ts';
import { type BuiltConsole, buildFixture, builtBrotli, builtGzip, font, html, script } from './built-console.ts';
import { eventually, serve, stopAll, Wire } from './serve.ts';
import { adminOf, issue, openService, type Service } from './service.ts';
import { Authority, temporaryFolder, withoutOpenssl } from './tls-certificates.ts';
import { callTls } from './tls-client.ts';

const main = '/console/main-BxY3_-9a.js';
/** The Accept header that Chromium and Firefox send when a page is opened. */
const browser = 'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8';

let fixture: BuiltConsole;
let built: ConsoleFiles;
let service: Service;
let admin: string;
let sensor: string;

beforeAll(async () => {
  fixture = buildFixture();
  built = (await readConsole(fixture.folder, { log: pino({ enabled: false }), limitReached: () => {} }))!;
  service = await openService({}, {}, built);
  admin = await adminOf(service);
  sensor = await issue(service, admin, ['sensor']);
});
afterAll(async () => {
  await service.close();
  fixture.remove();
});
afterEach(stopAll);

const ask = (path: string, headers: Record<string, string> = {}, method = 'GET') =>
  fetch(service.url + path, { method, headers });

describe('the path /', () => {
  test.each([
    browser,
    'text/html',
    'TEXT/HTML; charset=utf-8',
    'application/json;q=0.9, text/html',
    'application/json, text/html',
  ])('sends the console for Accept: %s', async (accept) => {
    const answer = await ask('/', { accept });
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
    expect(answer.headers.get('vary')).toBe('Accept, Accept-Encoding');
    expect(await answer.text()).toBe(html);
  });

  test('ignores credentials that a browser sends, valid or not', async () => {
    for (const authorization of ['Basic Z29uZTpnb25l', 'Bearer nonsense', `Bearer ${sensor}`])
      expect((await ask('/', { accept: browser, authorization })).status).toBe(200);
  });

  test.each([
    undefined,
    '*/*',
    'application/json',
    'application/vnd.elasticsearch+json;compatible-with=8',
    'text/*',
    'text/html;q=0',
    'text/htmlx',
    'application/json, text/html;q=0.5',
  ])('responds as Elasticsearch does to a client with Accept: %s, such as a shipper', async (accept) => {
    const wire = await Wire.open(service.server.port);
    const named = accept === undefined ? '' : `Accept: ${accept}\r\n`;
    for (const method of ['GET', 'HEAD']) {
      wire.received = '';
      wire.send(`${method} / HTTP/1.1\r\nHost: x\r\n${named}\r\n`);
      expect(await wire.until(/X-Elastic-Product: Elasticsearch\r\n[\s\S]*\r\n\r\n/)).toMatch(
        /^HTTP\/1.1 401 [\s\S]*\r\nWWW-Authenticate: /,
      );
    }
    wire.received = '';
    wire.send(`GET / HTTP/1.1\r\nHost: x\r\n${named}Authorization: Bearer ${sensor}\r\n\r\n`);
    const text = await wire.until(/"You Know, for Search"}$/);
    expect(text).toMatch(/^HTTP\/1.1 200 [\s\S]*\r\nX-Elastic-Product: Elasticsearch\r\n/);
    expect(text).not.toContain('html');
    wire.end();
  });

  test('behaves as without a console for other methods', async () => {
    const headers = { accept: browser };
    expect((await ask('/', headers, 'POST')).status).toBe(405);
    const options = await ask('/', headers, 'OPTIONS');
    expect([options.status, options.headers.get('allow')]).toEqual([204, 'GET, HEAD, OPTIONS']);
  });
});

describe('the pages', () => {
  test.each(consolePages)('/%s sends the console for GET and HEAD, and rejects POST', async (page) => {
    for (const accept of [browser, '*/*']) {
      const answer = await ask(`/${page}?severity=high&from=2026-01-01T00%3A00%3A00Z`, { accept });
      expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
      expect(await answer.text()).toBe(html);
    }
    const head = await ask(`/${page}`, { 'accept-encoding': 'identity' }, 'HEAD');
    expect([head.status, head.headers.get('content-length')]).toEqual([200, String(html.length)]);
    expect((await ask(`/${page}`, {}, 'POST')).status).toBe(405);
  });

  test('have names that no operation uses, and do not shadow an index of a shipper', async () => {
    const taken = new Set(operationIds.map((operation) => routeOf(operation).path.split('/')[1]));
    expect([...consolePages, 'console'].filter((page) => taken.has(page))).toEqual([]);
    const line = '{"create":{}}\n{"ts":1700000000,"uid":"C1","id.orig_h":"10.0.0.1"}\n';
    const headers = { authorization: `Bearer ${sensor}`, 'content-type': 'application/x-ndjson' };
    const init = { method: 'POST', headers, body: line };
    expect((await fetch(`${service.url}/alerts/_bulk`, init)).status).toBe(200);
  });

  test('are not operations of the API', () => {
    const paths = Object.keys(openApiDocument('0').paths as object);
    expect(paths.filter((path) => consolePages.some((page) => path.startsWith(`/${page}`)))).toEqual([]);
    for (const endpoint of [...consoleEndpoints(built), firstPage(built)]) {
      expect(endpoint).toMatchObject({ operation: 'console', access: 'public' });
      expect(endpoint.audited).toBeUndefined();
    }
  });

  test('have a content security policy', async () => {
    for (const path of ['/', '/alerts']) {
      const { headers } = await ask(path, { accept: browser });
      const own = new Map(pageHeaders.map(([name, value]) => [name.toLowerCase(), value]));
      for (const [name, value] of own) expect([name, headers.get(name)]).toEqual([name, value]);
      for (const [name, value] of securityHeaders(false))
        if (!own.has(name.toLowerCase())) expect([name, headers.get(name)]).toEqual([name, value]);
    }
    const policy = (await ask('/alerts')).headers.get('content-security-policy')!.split('; ');
    expect(policy.toSorted()).toEqual([
      "base-uri 'none'",
      "connect-src 'self'",
      "default-src 'none'",
      "font-src 'self'",
      "form-action 'none'",
      "frame-ancestors 'none'",
      "img-src 'self' data: blob:",
      "manifest-src 'self'",
      "require-trusted-types-for 'script'",
      "script-src 'self'",
      "style-src 'self'",
      "trusted-types 'none'",
      "worker-src 'self'",
    ]);
  });

  test('do not change the general policy of other responses, which does not allow loading anything', async () => {
    for (const path of [main, '/console/none.js', '/health', '/nothing']) {
      const { headers } = await ask(path, { accept: browser });
      expect(headers.get('content-security-policy')).toBe("default-src 'none'; frame-ancestors 'none'");
      expect(headers.has('permissions-policy')).toBe(false);
    }
  });
});

describe('the files', () => {
  test.each([
    ['/console/style-C0ffee00.css', 'text/css; charset=utf-8'],
    ['/console/icon-D15ea5e0.svg', 'image/svg+xml'],
    ['/console/mono-Ab12Cd34.woff2', 'font/woff2'],
    [main, 'text/javascript; charset=utf-8'],
  ])('%s is cached permanently', async (path, type) => {
    const { status, headers } = await ask(path);
    expect([status, headers.get('content-type')]).toEqual([200, type]);
    expect(headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
    expect(headers.get('vary')).toBe('Accept-Encoding');
    expect(headers.get('x-content-type-options')).toBe('nosniff');
  });

  test.each<[string | undefined, string | null, Buffer]>([
    ['gzip, deflate, br, zstd', 'br', builtBrotli],
    ['BR', 'br', builtBrotli],
    ['gzip;q=1.0, br;q=0.1', 'br', builtBrotli],
    ['br;q=0, gzip', 'gzip', builtGzip],
    ['gzip', 'gzip', builtGzip],
    ['deflate, xbr, *;q=0', null, Buffer.from(script)],
    ['', null, Buffer.from(script)],
    [undefined, null, Buffer.from(script)],
  ])('are served for Accept-Encoding "%s" with the coding %s', async (accepted, coding, bytes) => {
    const named = accepted === undefined ? '' : `Accept-Encoding: ${accepted}\r\n`;
    const wire = await Wire.open(service.server.port);
    for (const method of ['HEAD', 'GET']) {
      wire.received = '';
      wire.send(`${method} ${main} HTTP/1.1\r\nHost: x\r\n${named}\r\n`);
      const head = (await wire.until(/\r\n\r\n/)).split('\r\n\r\n', 1)[0]!;
      const headers = new Headers(
        head
          .split('\r\n')
          .slice(1)
          .map((line) => line.split(': ', 2) as [string, string]),
      );
      expect(headers.get('content-encoding')).toBe(coding);
      expect(headers.get('content-length')).toBe(String(bytes.length));
      if (method === 'HEAD') continue;
      await eventually(() => wire.received.length >= head.length + 4 + bytes.length);
      expect(Buffer.from(wire.received.slice(head.length + 4), 'latin1').equals(bytes)).toBe(true);
    }
    wire.end();
  });

  test('are sent unchanged if their file format is already compressed', async () => {
    const answer = await ask('/console/mono-Ab12Cd34.woff2', { 'accept-encoding': 'br, gzip' });
    expect(answer.headers.has('content-encoding')).toBe(false);
    expect(Buffer.from(await answer.arrayBuffer()).equals(font)).toBe(true);
  });

  test('are read once: later changes of the folder have no effect on a running service', async () => {
    const own = buildFixture();
    const log = pino({ enabled: false });
    const files = await readConsole(own.folder, { log, limitReached: () => {} });
    own.remove();
    const { url } = await serve(consoleEndpoints(files), { pages: [firstPage(files)] });
    expect(await (await fetch(url + main)).text()).toBe(script);
    expect(await (await fetch(url, { headers: { accept: browser } })).text()).toBe(html);
  });
});

describe("a file in the browser's cache", () => {
  test.each([
    ['/alerts', {}],
    ['/', { accept: browser }],
    [main, {}],
    ['/console/mono-Ab12Cd34.woff2', {}],
  ])('%s is not sent again', async (path, headers) => {
    const first = await ask(path, headers);
    const etag = first.headers.get('etag')!;
    expect(etag).toMatch(/^"[\w-]{22}"$/);
    for (const known of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
      const again = await ask(path, { ...headers, 'if-none-match': known });
      expect([known, again.status, await again.text()]).toEqual([known, 304, '']);
      for (const name of ['etag', 'vary', 'cache-control', 'content-security-policy', 'permissions-policy'])
        expect([name, again.headers.get(name)]).toEqual([name, first.headers.get(name)]);
      expect(again.headers.has('content-length')).toBe(false);
      expect(again.headers.has('content-encoding')).toBe(false);
    }
    for (const other of ['"other"', etag.slice(1, -1), ''])
      expect((await ask(path, { ...headers, 'if-none-match': other })).status).toBe(200);
  });

  test('has a separate validator for each coding', async () => {
    const brotli = (await ask(main, { 'accept-encoding': 'br' })).headers.get('etag')!;
    const plain = { 'accept-encoding': 'identity' };
    expect((await ask(main, { ...plain, 'if-none-match': brotli })).status).toBe(200);
  });

  test('is revalidated each time if it is a page, and the connection stays open after 304', async () => {
    const first = await ask('/alerts');
    expect(first.headers.get('cache-control')).toBe('no-cache');
    const wire = await Wire.open(service.server.port);
    const request = `GET /alerts HTTP/1.1\r\nHost: x\r\nIf-None-Match: *\r\n\r\n`;
    for (let n = 1; n <= 3; n++) {
      wire.send(request);
      await eventually(() => wire.received.split('HTTP/1.1 304 Not Modified\r\n').length === n + 1);
    }
    expect(wire.received).not.toMatch(/content-length/i);
    wire.end();
  });
});

describe('without a console', () => {
  test('the pages explain how to build the console; all other paths are unaffected', async () => {
    const { url } = await serve(consoleEndpoints(undefined), { pages: [firstPage(undefined)] });
    for (const path of ['/', '/overview', '/sign-in']) {
      const answer = await fetch(url + path, { headers: { accept: browser } });
      expect([answer.status, answer.headers.get('content-type')]).toEqual([404, 'text/plain; charset=utf-8']);
      expect(answer.headers.get('cache-control')).toBe('no-store');
      expect(await answer.text()).toContain('npm run build:console');
    }
    const none = await fetch(url + main);
    expect([none.status, none.headers.get('content-type')]).toEqual([404, 'application/json']);
    expect((await fetch(url)).headers.get('content-type')).toBe('application/json');
  });
});

test('metrics count the console as one operation', async () => {
  await ask(main);
  const metrics = await (await ask('/metrics', { authorization: `Bearer ${admin}` })).text();
  expect(metrics).toMatch(/^candor_http_requests_total\{operation="console",status="200"\} \d+$/m);
  const operations = new Set(Array.from(metrics.matchAll(/operation="([^"]*)"/g), ([, name]) => name));
  expect([...operations].filter((name) => name?.includes('/'))).toEqual([]);
});

test('a WebSocket opens next to the console, even if the client prefers HTML', async () => {
  const socket = new WebSocket(`${service.url.replace('http', 'ws')}/ws`, {
    headers: { authorization: `Bearer ${admin}`, accept: browser },
  });
  await once(socket, 'open');
  socket.close();
  await once(socket, 'close');
  expect((await ask('/ws', { accept: browser })).status).toBe(400);
});

test.skipIf(withoutOpenssl !== undefined)(
  'over TLS, the service sends Strict-Transport-Security to browsers',
  async () => {
    const folder = temporaryFolder();
    const authority = Authority.root(folder.path, 'root');
    const { server } = await serve(consoleEndpoints(built), {
      tls: authority.server('server'),
      pages: [firstPage(built)],
    });
    const ca = readFileSync(authority.pair.cert);
    for (const path of ['/', '/alerts', main]) {
      const { status, headers } = await callTls(server.port, path, { ca, headers: { accept: browser } });
      expect([path, status, headers['strict-transport-security']]).toEqual([path, 200, 'max-age=31536000']);
    }
    folder.remove();
  },
);
