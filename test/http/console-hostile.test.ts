/** Hostile requests to the console: invalid paths and floods. */
import { pino } from 'pino';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { RequestRate } from '../../src/admission/request-rate.ts';
import { consoleEndpoints } from '../../src/http/console-endpoints.ts';
import { type ConsoleFiles, readConsole } from '../../src/http/console-files.ts';
import { bareJson } from '../../src/http/reply.ts';
import { type BuiltConsole, buildFixture, html } from './built-console.ts';
import { eventually, get, serve, stopAll, Wire } from './serve.ts';
import { openService, type Service } from './service.ts';

const main = '/console/main-BxY3_-9a.js';
let fixture: BuiltConsole;
let built: ConsoleFiles;
let service: Service;

beforeAll(async () => {
  fixture = buildFixture();
  built = (await readConsole(fixture.folder, { log: pino({ enabled: false }), limitReached: () => {} }))!;
  service = await openService({}, {}, built);
});
afterAll(async () => {
  await service.close();
  fixture.remove();
});
afterEach(stopAll);

test.each([
  '/console',
  '/console/',
  '/console/none.js',
  '/console/index.html',
  `${main}/`,
  `/${main}`,
  main.replace('/console/', '/console//'),
  main.replace('/console/', '/console/./'),
  main.replace('/console/', '/console/../console/'),
  main.replace('/console/', '/console%2f'),
  main.replace('main', '%6dain'),
  main.toUpperCase(),
  `${main}.br`,
  `${main}.gz`,
  `${main}.map`,
  `${main}%00`,
  '/console/%zz',
  '/console/..%2findex.html',
  '/console/%2e%2e/index.html',
  '/console/../index.html',
  '/console/..\\index.html',
  '/console/../../package.json',
  '/console/../../../../../../etc/passwd',
  '/console/.hidden.js',
  '/console/:name.js',
  '/console/sub/inner.js',
  '/console/link.js',
  '/console/notes.txt',
  '/console/constructor',
  '/console/__proto__',
  '/index.html',
  '//',
  '//alerts',
  '/alerts/',
  '/alerts/1',
  '/alerts.html',
  '/Alerts',
  '/%61lerts',
  '/alerts%2f',
  '/sign-in/../alerts',
  '/dashboard',
])('%s is not found', async (path) => {
  const wire = await Wire.open(service.server.port);
  wire.send(`GET ${path} HTTP/1.1\r\nHost: x\r\nAccept: text/html\r\n\r\n`);
  const answer = await wire.until(/"timestamp":"[^"]*"}$/);
  expect(answer).toMatch(/^HTTP\/1.1 404 [\s\S]*\r\nContent-Type: application\/json\r\n[\s\S]*"code":"NOT_FOUND"/);
  wire.end();
});

describe('under load', () => {
  test('pages are still served, because they are short, but files are not', async () => {
    const rate = new RequestRate({
      perAddress: 0,
      perPrincipal: 0,
      inWorkPerAddress: 0,
      limitReached: () => {},
    });
    const { server, url } = await serve(consoleEndpoints(built), { rate });
    expect(await (await fetch(`${url}/alerts`)).text()).toBe(html);
    expect((await fetch(url + main)).status).toBe(503);
    const wire = await Wire.open(server.port);
    wire.send('GET /alerts HTTP/1.1\r\nHost: x\r\nIf-None-Match: *\r\n\r\n');
    expect(await wire.untilClosed()).toMatch(/^HTTP\/1.1 304 [\s\S]*\r\nConnection: close\r\n/i);
  });

  test('a slow request at the limit of requests in progress does not block pages', async () => {
    let release: () => void = () => undefined;
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    const slow = get('/slow', () => held.then(() => bareJson('done')));
    const { url, server } = await serve([slow, ...consoleEndpoints(built)], { maxInFlight: 1 });
    const first = fetch(`${url}/slow`);
    await eventually(() => server.inFlight === 1);
    expect((await fetch(`${url}/alerts`)).status).toBe(200);
    release();
    expect((await first).status).toBe(200);
  });
});
