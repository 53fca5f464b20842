import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import WebSocket from 'ws';
import { ServiceError } from '../../../src/errors.ts';
import type { Credentials } from '../../../src/http/endpoint.ts';
import { Hub } from '../../../src/http/live/hub.ts';
import { createSockets, type SocketCredentials, type Sockets } from '../../../src/http/live/sockets.ts';
import { type Server, startServer } from '../../../src/http/server.ts';
import { certificatePrincipal } from '../../../src/identities/client-certificate.ts';
import type { Principal } from '../../../src/store/store.ts';
import { Authority, type Pair, pemOf, temporaryFolder, withoutOpenssl } from '../tls-certificates.ts';
import { MemoryChannel } from './fakes.ts';

if (withoutOpenssl !== undefined) console.warn(`skipped: ${withoutOpenssl}`);

const stream = '/api/v1/alerts/stream';

/** Names of active principals: a principal has the name in its certificate, and a role of the same name. */
const active = new Set<string>();
function authenticate({ authorization, certificate }: Credentials, now: number): SocketCredentials {
  const as = (role: string, rest: object) =>
    ({ principal: { id: `id of ${role}`, name: role }, roles: [role], ...rest }) as SocketCredentials;
  if (authorization !== undefined) {
    if (authorization !== 'Bearer analyst') throw new ServiceError('UNAUTHENTICATED', 'bad token');
    return as('analyst', { jti: 't' });
  }
  if (certificate === undefined) throw new ServiceError('UNAUTHENTICATED', 'none');
  const principalByName = (name: string) =>
    active.has(name) ? ({ id: name, name, status: 'active' } as Principal) : undefined;
  const { name } = certificatePrincipal({ principalByName }, certificate, now);
  return as(name, { expiresAt: certificate.validTo });
}

describe.skipIf(withoutOpenssl !== undefined)('sockets over TLS', () => {
  const folder = temporaryFolder();
  let root: Authority;
  let clients: Authority;
  let pairs: { viewer: Pair; sensor: Pair; nobody: Pair };
  let live: Pair & { clientCa: string };
  let server: Server;
  let sockets: Sockets;
  const errors: unknown[] = [];
  const open: WebSocket[] = [];

  beforeAll(() => {
    root = Authority.root(folder.path, 'root');
    clients = Authority.root(folder.path, 'clients');
    pairs = {
      viewer: clients.issue('viewer'),
      sensor: clients.issue('sensor'),
      nobody: clients.issue('nobody'),
    };
    live = { ...root.server('server'), clientCa: join(folder.path, 'live.pem') };
  });
  afterAll(() => folder.remove());

  beforeEach(() => {
    for (const name of ['viewer', 'sensor']) active.add(name);
    copyFileSync(clients.pair.cert, live.clientCa);
  });
  afterEach(async () => {
    for (const socket of open.splice(0)) socket.terminate();
    await server.close();
    expect(errors.splice(0)).toEqual([]);
  });

  async function start(clientCertificates: 'optional' | 'required' = 'optional', corsOrigins: string[] = []) {
    const limitReached = () => {};
    const logError = (error: unknown) => void errors.push(error);
    const hub = new Hub(
      {
        'events.network': new MemoryChannel(1),
        'events.dns': new MemoryChannel(1),
        alerts: new MemoryChannel(1),
        discovery: new MemoryChannel(1),
        topology: new MemoryChannel(1),
      },
      { live: () => {}, limitReached },
      logError,
    );
    const accessOf = () => ['viewer', 'analyst'] as const;
    sockets = createSockets({
      hub,
      authenticate,
      accessOf,
      now: Date.now,
      maxSockets: 10,
      limitReached,
      logError,
    });
    server = await startServer({
      host: '127.0.0.1',
      port: 0,
      tls: { ...live, clientCertificates },
      endpoints: [],
      authenticate: () => {
        throw new ServiceError('UNAUTHENTICATED', 'no endpoints here');
      },
      corsOrigins,
      log: pino({ level: 'silent' }),
      observer: { answered: () => {}, limitReached },
      sockets: sockets.register,
      leave: sockets.leave,
      drainMs: 100,
    });
  }

  /** Opens a socket and records its events in order. `first` is sent as soon as the socket is open. */
  function dial(pair: Pair | undefined, headers: Record<string, string> = {}, path = stream, first?: object) {
    const events: string[] = [];
    const socket = new WebSocket(`wss://127.0.0.1:${server.port}${path}`, {
      ca: readFileSync(root.pair.cert),
      ...(pair === undefined ? {} : pemOf(pair)),
      headers,
    });
    open.push(socket);
    let told = () => {};
    const note = (event: string) => {
      events.push(event);
      told();
    };
    socket.on('open', () => first !== undefined && socket.send(JSON.stringify(first)));
    socket.on('message', (data: Buffer) => note((JSON.parse(data.toString()) as { type: string }).type));
    socket.on('close', (code) => note(`closed ${code}`));
    socket.on('unexpected-response', (_request, answer) => {
      note(`status ${answer.statusCode}`);
      socket.terminate();
    });
    socket.on('error', () => {});
    const until = async (wanted: string) => {
      while (!events.includes(wanted)) {
        if (events.some((event) => event.startsWith('closed') && event !== wanted)) throw new Error(events.join());
        await new Promise<void>((resolve) => {
          told = resolve;
        });
      }
      return events;
    };
    return { until, events, socket };
  }

  test('belong to the principal of their certificate', async () => {
    await start();
    expect(await dial(pairs.viewer).until('subscribed')).toEqual(['subscribed']);
    expect(await dial(pairs.sensor).until('closed 4403')).toEqual(['error', 'closed 4403']);
  });

  test('belong to the principal of their token if they have a token; a bad token is refused', async () => {
    await start();
    await dial(pairs.sensor, { authorization: 'Bearer analyst' }).until('subscribed');
    await dial(pairs.viewer, { authorization: 'Bearer x' }).until('closed 4401');
  });

  test('wait for a token if their certificate has no principal or is missing', async () => {
    await start();
    const auth = { type: 'auth', token: 'analyst' };
    for (const pair of [pairs.nobody, undefined]) {
      await dial(pair, {}, stream, auth).until('subscribed');
      await dial(pair, {}, stream, { ...auth, token: 'x' }).until('closed 4401');
      await dial(pair, {}, stream, { type: 'ping' }).until('closed 4401');
    }
  });

  test('are closed if their principal is suspended', async () => {
    await start();
    const socket = dial(pairs.viewer);
    await socket.until('subscribed');
    active.delete('viewer');
    sockets.principalChanged('id of viewer');
    await socket.until('closed 4401');
  });

  test('are refused without a certificate if certificates are required, with or without a token', async () => {
    await start('required');
    await dial(undefined).until('status 401');
    await dial(undefined, { authorization: 'Bearer analyst' }).until('status 401');
    await dial(pairs.viewer).until('subscribed');
    await dial(pairs.nobody, { authorization: 'Bearer analyst' }).until('subscribed');
  });

  test('ignore the certificate if a browser opens them for another site, even if any origin is allowed', async () => {
    await start('optional', ['*']);
    const auth = { type: 'auth', token: 'analyst' };
    const evil = { origin: 'https://evil.example' };
    await dial(pairs.viewer, evil, stream, { type: 'ping' }).until('closed 4401');
    await dial(pairs.viewer, evil, stream, auth).until('subscribed');
    await dial(pairs.viewer, { origin: `https://127.0.0.1:${server.port}` }).until('subscribed');
  });

  test('stay open when an authority is added, and end immediately when their own authority is removed', async () => {
    await start();
    const socket = dial(pairs.viewer);
    await socket.until('subscribed');
    const more = Authority.root(folder.path, 'more');
    writeFileSync(live.clientCa, readFileSync(clients.pair.cert, 'utf8') + readFileSync(more.pair.cert, 'utf8'));
    expect(await server.reloadTls()).toBe('reloaded');
    const later = dial(pairs.viewer);
    await later.until('subscribed');
    expect(socket.events).toEqual(['subscribed']);
    copyFileSync(more.pair.cert, live.clientCa);
    expect(await server.reloadTls()).toBe('reloaded');
    await socket.until('closed 1001');
    await later.until('closed 1001');
  });
});
