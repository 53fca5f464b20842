import { gzipSync } from 'node:zlib';
import { afterEach, describe, expect, test } from 'vitest';
import { RequestRate } from '../../src/admission/request-rate.ts';
import { bareJson, data } from '../../src/http/reply.ts';
import { endpoints } from '../../src/http/routes/index.ts';
import { type LimitName, limits } from '../../src/limits.ts';
import { echo, eventually, get, serve, stopAll, Wire } from './serve.ts';
import { openService, password } from './service.ts';

const json = { 'content-type': 'application/json' };
const open: Wire[] = [];
let service: Awaited<ReturnType<typeof openService>> | undefined;

afterEach(async () => {
  for (const wire of open.splice(0)) wire.end();
  await stopAll();
  await service?.close();
  service = undefined;
});

async function say(port: number, text: string, from?: string): Promise<Wire> {
  const wire = await Wire.open(port, from);
  open.push(wire);
  wire.send(text);
  return wire;
}

const request = (line: string, head = '') => `${line} HTTP/1.1\r\nHost: x\r\n${head}\r\n`;
const halfSent = (path: string, length: number, sent = 1) =>
  request(`POST ${path}`, `Content-Type: application/json\r\nContent-Length: ${length}\r\n`) + '{'.repeat(sent);
const chunked = (line: string) => request(line, 'Transfer-Encoding: chunked\r\n');
const status = (wire: Wire) => wire.until(/^HTTP\/1.1 \d{3} /).then((text) => Number(text.slice(9, 12)));

function rateOf(options: Partial<ConstructorParameters<typeof RequestRate>[0]> = {}) {
  const reached: LimitName[] = [];
  const limitReached = (limit: LimitName) => void reached.push(limit);
  return { rate: new RequestRate({ perAddress: 0, perPrincipal: 0, limitReached, ...options }), reached };
}

const inWork = { inWorkPerAddress: 2, inWorkWithoutIdentity: 5 };

describe('bodies of operations that are always public', () => {
  const login = JSON.stringify({ username: 'admin', password });
  const signIn = request('POST /auth/login', `Content-Type: application/json\r\nContent-Length: ${login.length}\r\n`);

  test('are accepted from one address while incomplete long bodies from another address are rejected', async () => {
    service = await openService();
    const { port } = service.server;
    const wires = [];
    for (const path of ['/auth/login', '/auth/refresh'])
      for (let n = 0; n < 32; n++) wires.push(await say(port, halfSent(path, limits.maxJsonBodyBytes)));
    const other = await say(port, signIn + login, '127.0.0.2');
    expect(await status(other)).toBe(200);
    expect(new Set(await Promise.all(wires.map(status)))).toEqual(new Set([413]));
    expect(service.services.metrics.limitsReached()).toContainEqual(
      expect.objectContaining({ limit: 'maxPublicJsonBodyBytes', times: 64 }),
    );
  });

  test('do not reduce the budget of operations that need an identity', async () => {
    service = await openService();
    const { port } = service.server;
    const { body } = await service.call('login', 'POST /auth/login', { text: login, headers: json });
    const most = limits.maxPublicJsonInFlightBytes / limits.maxPublicJsonBodyBytes;
    const longest = limits.maxPublicJsonBodyBytes;
    // Sent at the same time, because incomplete bodies end their connections soon.
    const sent = Array.from({ length: most }, () => say(port, halfSent('/auth/login', longest, longest - 1)));
    await Promise.all([...sent, say(port, halfSent('/auth/login', most, most - 1))]);
    await eventually(() => service!.server.inFlight === most + 1);
    expect(await status(await say(port, signIn + login))).toBe(503);
    const change = { current_password: password, new_password: 'another horse battery' };
    const token = (body as { access_token: string }).access_token;
    const changed = await service.call('changePassword', 'PUT /auth/password', { token, json: change });
    expect(changed.status).toBe(204);
  });

  test('do not prevent sign-in from any address while they are incomplete', async () => {
    service = await openService();
    const { rate, reached } = rateOf();
    const { authenticate } = service.auth;
    const { server } = await serve(endpoints(service.services), { rate, authenticate });
    const { port } = server;
    const most = limits.maxWaitingBodiesPerAddress;
    for (const from of ['127.0.0.1', '127.0.0.2']) {
      const refused = [];
      const before = server.inFlight;
      for (let n = 0; n < most; n++) await say(port, halfSent('/auth/login', 100), from);
      await eventually(() => server.inFlight === before + most);
      for (let n = 0; n < limits.maxRequestsInFlightPerAddress - most; n++)
        refused.push(await say(port, halfSent('/auth/login', 100), from));
      expect(new Set(await Promise.all(refused.map(status)))).toEqual(new Set([503]));
    }
    expect(new Set(reached)).toEqual(new Set(['maxWaitingBodiesPerAddress']));
    for (const from of ['127.0.0.1', '127.0.0.2', '127.0.0.3'])
      expect(await status(await say(port, signIn + login, from))).toBe(200);
  });

  test('end their connection soon if they stay incomplete, even if bytes trickle in steadily', async () => {
    service = await openService();
    const { port } = service.server;
    const wires = [
      await say(port, halfSent('/auth/login', 100)),
      await say(port, chunked('POST /auth/refresh')),
      await say(port, chunked('PUT /api/v1/policy')),
    ];
    const trickle = setInterval(() => {
      wires[0]!.send(' ');
      for (const wire of wires.slice(1)) wire.send('1\r\n \r\n');
    }, 200);
    await Promise.all(wires.map((wire) => wire.untilClosed()));
    clearInterval(trickle);
    expect(service.services.metrics.limitsReached()).toContainEqual(
      expect.objectContaining({ limit: 'bodyTimeoutWithoutIdentityMs', times: 3 }),
    );
  });

  test('are also limited in their decompressed length', async () => {
    service = await openService();
    const text = JSON.stringify({ username: 'a', password: 'x'.repeat(limits.maxPublicJsonBodyBytes) });
    const answer = await fetch(`${service.url}/auth/login`, {
      method: 'POST',
      headers: { ...json, 'content-encoding': 'gzip' },
      body: gzipSync(text),
    });
    expect(answer.status).toBe(413);
  });
});

describe('requests in progress without an identity', () => {
  const health = { ...get('/health', () => data('alive')), alwaysAnswered: true };
  const known = { ...get('/known', () => data('known')), access: ['viewer'] as const };
  const authenticate = () => ({ principal: { id: 'p', name: 'p' }, roles: ['viewer' as const], jti: 'j' });
  const denied = () => {
    throw new Error('no request here has credentials');
  };

  test('are limited per address and in total; other addresses, authenticated callers and /health are not', async () => {
    const { rate, reached } = rateOf(inWork);
    const { server } = await serve([echo(), health, known], { rate, authenticate });
    const { port } = server;
    const flood = [];
    for (const from of ['127.0.0.1', '127.0.0.2']) {
      for (let n = 0; n < 2; n++) flood.push(await say(port, halfSent('/echo', 10), from));
      await eventually(() => server.inFlight === flood.length);
      const refused = await say(port, halfSent('/echo', 10), from);
      expect(await refused.until(/OVERLOADED/)).toMatch(/^HTTP\/1.1 503 [\s\S]*Retry-After: 1/);
    }
    expect(reached).toEqual(['maxRequestsInFlightPerAddress', 'maxRequestsInFlightPerAddress']);
    flood.push(await say(port, halfSent('/echo', 10), '127.0.0.3'));
    await eventually(() => server.inFlight === 5);
    const refused = await say(port, halfSent('/echo', 10), '127.0.0.3');
    expect(await refused.until(/OVERLOADED/)).toMatch(/^HTTP\/1.1 503 /);
    expect(reached.slice(2)).toEqual(['maxRequestsInFlightWithoutIdentity']);

    for (const from of ['127.0.0.1', '127.0.0.4']) {
      expect(await status(await say(port, request('GET /health'), from))).toBe(200);
      expect(await status(await say(port, request('GET /known'), from))).toBe(200);
    }
    flood[0]!.end();
    await eventually(() => server.inFlight === 4);
    const next = await say(port, `${halfSent('/echo', 2)}}`);
    expect(await status(next)).toBe(200);
  });

  test('do not wait for the end of their bodies if they are refused', async () => {
    const { rate } = rateOf(inWork);
    const { server } = await serve([echo(), health, known], { rate, authenticate });
    const lines = ['POST /nothing', 'POST /known', 'GET /health', 'OPTIONS /echo', 'POST /echo'];
    const wires: Wire[] = [];
    for (let round = 0; round < 4; round++) for (const line of lines) wires.push(await say(server.port, chunked(line)));
    await eventually(() => wires.filter((wire) => wire.closed).length === wires.length - 2);
    expect(server.inFlight).toBe(2);
    expect(await status(await say(server.port, request('GET /known')))).toBe(200);
  });

  test('do not block /health when every slot is in use, by any callers', async () => {
    let release: () => void = () => undefined;
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    const slow = { ...known, path: '/slow', run: () => held.then(() => bareJson('done')) };
    const { server } = await serve([slow, known, health], { authenticate, maxInFlight: 1 });
    const first = await say(server.port, request('GET /slow'));
    await eventually(() => server.inFlight === 1);
    expect(await status(await say(server.port, request('GET /known')))).toBe(503);
    expect(await status(await say(server.port, request('GET /health')))).toBe(200);
    release();
    expect(await status(first)).toBe(200);
  });

  test('bypass the limits only for the operation getHealth', async () => {
    service = await openService();
    const always = endpoints(service.services).filter(({ alwaysAnswered }) => alwaysAnswered);
    expect(always.map(({ operation }) => operation)).toEqual(['getHealth']);
  });

  test('count towards the limit only until they are answered', async () => {
    const { rate, reached } = rateOf({ inWorkPerAddress: 1, inWorkWithoutIdentity: 1 });
    const { server } = await serve([get('/ok', () => data('fine')), echo()], { rate, authenticate: denied });
    const wire = await say(server.port, '');
    for (let n = 1; n <= 20; n++) {
      wire.send(request(n % 2 === 0 ? 'GET /ok' : 'GET /nothing'));
      await eventually(() => wire.received.split('HTTP/1.1 ').length === n + 1);
    }
    const leaving = await say(server.port, halfSent('/echo', 10));
    await eventually(() => server.inFlight === 1);
    leaving.end();
    await eventually(() => server.inFlight === 0);
    wire.send(request('GET /ok'));
    await eventually(() => wire.received.split('HTTP/1.1 200').length === 12);
    expect(reached).toEqual([]);
  });
});
