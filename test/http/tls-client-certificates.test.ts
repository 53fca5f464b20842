import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { Agent } from 'node:https';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { Role } from '../../src/contract/vocabulary.ts';
import { bareJson } from '../../src/http/reply.ts';
import { accessTokens } from '../../src/identities/access-token.ts';
import { createAuthenticator } from '../../src/identities/authenticate.ts';
import { issueLongLived } from '../../src/identities/long-lived.ts';
import { openLedger } from '../../src/ledger/open.ts';
import { openReader } from '../../src/store/reader.ts';
import { openStore } from '../../src/store/writer.ts';
import { uuid7 } from '../../src/uuid.ts';
import { get, serve, stopAll } from './serve.ts';
import { Authority, type Pair, pemOf, temporaryFolder, withoutOpenssl } from './tls-certificates.ts';
import { callTls, type TlsCall } from './tls-client.ts';

if (withoutOpenssl !== undefined) console.warn(`skipped: ${withoutOpenssl}`);

afterEach(stopAll);

const system = { id: 'system', name: 'system' };
const sources = { now: Date.now, newId: () => uuid7(Date.now()) };
const ids = { sensor: sources.newId(), ann: sources.newId(), gone: sources.newId() };

const who = get('/who', ({ identity }) =>
  bareJson([identity?.principal.name, identity?.roles, identity?.jti !== undefined]),
);
const endpoints = [
  { ...who, access: ['sensor', 'admin'] as const },
  {
    ...get('/partly', ({ identity }) => bareJson(identity?.principal.name ?? null)),
    access: ['sensor'] as const,
    partlyPublic: true,
  },
  get('/health', () => bareJson('ok')),
];

describe.skipIf(withoutOpenssl !== undefined)('client certificates', () => {
  const folder = temporaryFolder();
  let roots: { ours: Authority; other: Authority };
  let pairs: Record<
    | 'server'
    | 'sensor'
    | 'byName'
    | 'wrong'
    | 'expired'
    | 'early'
    | 'nobody'
    | 'two'
    | 'gone'
    | 'forServers'
    | 'broken'
    | 'behind'
    | 'ann',
    Pair
  >;
  let ca: Buffer;
  let token: string;
  let parts: Awaited<ReturnType<typeof openParts>>;

  async function openParts() {
    const dataDir = join(folder.path, 'data');
    mkdirSync(dataDir);
    const ledger = await openLedger({ dataDir });
    const store = openStore({ dataDir, alertWindowMs: 1000 });
    const reader = openReader(dataDir);
    const tokens = accessTokens(await ledger.accessTokenKeys(), { issuer: 'candor', audience: 'candor' });
    const add = (name: keyof typeof ids, roles: readonly Role[]) =>
      store.createPrincipal(
        { id: ids[name], name, kind: 'user', roles, status: 'active', created_at: new Date().toISOString() },
        system,
      );
    await add('ann', ['admin']);
    await add('sensor', ['sensor']);
    await add('gone', ['sensor']);
    await store.changePrincipal(ids.gone, { status: 'suspended' }, system);
    const issued = await issueLongLived(
      { writer: store, sources },
      reader.principal(ids.ann)!,
      { name: 't', roles: ['admin'] },
      { ...system, roles: ['admin'] },
    );
    return { ledger, store, reader, token: issued.token, authenticate: createAuthenticator(reader, tokens) };
  }

  beforeAll(async () => {
    roots = { ours: Authority.root(folder.path, 'ours'), other: Authority.root(folder.path, 'other') };
    const { ours, other } = roots;
    const named = (name: string) => ({ extensions: [`subjectAltName=DNS:${name}`] });
    const behind = ours.intermediate('middle').issue('behind', named('sensor'));
    const lone = join(folder.path, 'lone.pem');
    writeFileSync(lone, readFileSync(behind.cert, 'utf8').replace(/(-----END CERTIFICATE-----\n)[\s\S]*/, '$1'));
    pairs = {
      server: ours.server('server'),
      sensor: ours.issue('a', named('sensor')),
      ann: ours.issue('ann', named('ann')),
      byName: ours.issue('b', { subject: '/CN=sensor' }),
      wrong: other.issue('c', named('sensor')),
      expired: ours.issue('d', { ...named('sensor'), from: -2, to: -1 }),
      early: ours.issue('e', { ...named('sensor'), from: 1, to: 2 }),
      nobody: ours.issue('f', named('nobody')),
      two: ours.issue('g', { extensions: ['subjectAltName=DNS:sensor,DNS:ann'] }),
      gone: ours.issue('h', named('gone')),
      forServers: ours.issue('i', {
        extensions: ['subjectAltName=DNS:sensor', 'extendedKeyUsage=serverAuth'],
      }),
      broken: { cert: lone, key: behind.key },
      behind,
    };
    ca = readFileSync(ours.pair.cert);
    parts = await openParts();
    token = parts.token;
  });
  afterAll(async () => {
    await parts?.ledger.close();
    await parts?.store.close();
    parts?.reader.close();
    folder.remove();
  });

  async function open(clientCertificates: 'optional' | 'required', corsOrigins: readonly string[] = []) {
    const tls = { ...pairs.server, clientCa: roots.ours.pair.cert, clientCertificates };
    const { server } = await serve(endpoints, { tls, authenticate: parts.authenticate, corsOrigins });
    const call = (path: string, pair: keyof typeof pairs | undefined, call: Partial<TlsCall> = {}) =>
      callTls(server.port, path, { ca, ...(pair === undefined ? {} : pemOf(pairs[pair])), ...call }).then(
        ({ status, body }) => [
          status,
          status === 200 ? (JSON.parse(body) as unknown) : (JSON.parse(body) as { error: { code: string } }).error.code,
        ],
        () => 'no connection',
      );
    return Object.assign(call, { port: server.port });
  }

  const sensor = [200, ['sensor', ['sensor'], false]];
  const refused = [401, 'UNAUTHENTICATED'];
  const bearer = (text: string) => ({ headers: { authorization: `Bearer ${text}` } });

  test.for<[keyof typeof pairs | undefined, unknown, unknown, unknown]>([
    // Certificate, responses of /who, /partly and /health.
    ['sensor', sensor, [200, 'sensor'], [200, 'ok']],
    ['byName', sensor, [200, 'sensor'], [200, 'ok']],
    ['behind', sensor, [200, 'sensor'], [200, 'ok']],
    ['ann', [200, ['ann', ['admin'], false]], [200, 'ann'], [200, 'ok']],
    ['nobody', refused, refused, [200, 'ok']],
    ['two', refused, refused, [200, 'ok']],
    ['gone', refused, refused, [200, 'ok']],
    [undefined, refused, [200, null], [200, 'ok']],
    ['wrong', 'no connection', 'no connection', 'no connection'],
    ['expired', 'no connection', 'no connection', 'no connection'],
    ['early', 'no connection', 'no connection', 'no connection'],
    ['broken', 'no connection', 'no connection', 'no connection'],
    ['forServers', 'no connection', 'no connection', 'no connection'],
  ])('if optional: %s gets %j from /who, %j from /partly, %j from /health', async ([pair, whoIs, partly, health]) => {
    const call = await open('optional');
    expect(await call('/who', pair)).toEqual(whoIs);
    expect(await call('/partly', pair)).toEqual(partly);
    expect(await call('/health', pair)).toEqual(health);
  });

  test.for<[keyof typeof pairs | undefined, unknown, unknown]>([
    ['sensor', sensor, [200, 'ok']],
    ['nobody', refused, [200, 'ok']],
    ['gone', refused, [200, 'ok']],
    [undefined, refused, refused],
    ['wrong', 'no connection', 'no connection'],
    ['expired', 'no connection', 'no connection'],
  ])('if required: %s gets %j from /who, %j from /health', async ([pair, whoIs, health]) => {
    const call = await open('required');
    expect(await call('/who', pair)).toEqual(whoIs);
    expect(await call('/health', pair)).toEqual(health);
  });

  test('are enforced if required: a token is not enough, and no content is disclosed', async () => {
    const call = await open('required');
    expect(await call('/who', undefined, bearer(token))).toEqual(refused);
    expect(await call('/nothing', undefined)).toEqual(refused);
    expect(await call('/health', undefined, { method: 'OPTIONS' })).toEqual(refused);
    expect(await call('/who', 'nobody', bearer(token))).toEqual([200, ['ann', ['admin'], true]]);
  });

  test('are ignored if a token is sent, and a bad token is refused', async () => {
    const call = await open('optional');
    expect(await call('/who', 'sensor', bearer(token))).toEqual([200, ['ann', ['admin'], true]]);
    for (const text of ['x', `${token}x`, 'candor_x'])
      expect(await call('/who', 'sensor', bearer(text))).toEqual(refused);
    expect(await call('/who', 'sensor', { headers: { authorization: 'Basic YTpi' } })).toEqual(refused);
  });

  test('are not read from headers of proxies', async () => {
    const call = await open('optional');
    const headers = Object.fromEntries(
      [
        'X-Client-Cert',
        'X-SSL-Client-Cert',
        'X-Forwarded-Client-Cert',
        'X-SSL-Client-S-DN',
        'Client-Cert',
        'X-ARR-ClientCert',
      ].map((name) => [name, name.endsWith('DN') ? 'CN=sensor' : readFileSync(pairs.sensor.cert, 'base64')]),
    );
    expect(await call('/who', undefined, { headers })).toEqual(refused);
    expect(await call('/who', 'nobody', { headers })).toEqual(refused);
  });

  test('are refused immediately when their principal is suspended, on open connections', async () => {
    const call = await open('optional');
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    expect(await call('/who', 'sensor', { agent })).toEqual(sensor);
    await parts.store.changePrincipal(ids.sensor, { status: 'suspended' }, system);
    expect(await call('/who', 'sensor', { agent })).toEqual(refused);
    await parts.store.changePrincipal(ids.sensor, { status: 'active' }, system);
    expect(await call('/who', 'sensor', { agent })).toEqual(sensor);
    agent.destroy();
  });

  test('do not authenticate requests of a browser for a page of another site', async () => {
    const call = await open('optional', ['https://console.example', '*']);
    const from = (origin: string) => ({ headers: { origin } });
    expect(await call('/who', 'sensor', from('https://evil.example'))).toEqual(refused);
    expect(await call('/who', 'sensor', from('null'))).toEqual(refused);
    expect(await call('/who', 'sensor', from(`http://127.0.0.1:${call.port}`))).toEqual(refused);
    expect(await call('/partly', 'sensor', from('https://evil.example'))).toEqual([200, null]);
    expect(await call('/who', 'sensor', from(`https://127.0.0.1:${call.port}`))).toEqual(sensor);
    expect(await call('/who', 'sensor', from('https://console.example'))).toEqual(sensor);
    const withToken = { headers: { ...from('https://evil.example').headers, ...bearer(token).headers } };
    expect(await call('/who', 'sensor', withToken)).toEqual([200, ['ann', ['admin'], true]]);
  });

  test('are not requested without an authority', async () => {
    const { server } = await serve(endpoints, { tls: pairs.server, authenticate: parts.authenticate });
    const { status } = await callTls(server.port, '/who', { ca, ...pemOf(pairs.sensor) });
    expect(status).toBe(401);
  });
});
