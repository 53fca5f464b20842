import { copyFileSync, mkdirSync, readFileSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { Agent } from 'node:https';
import { join } from 'node:path';
import { connect } from 'node:tls';
import { pino } from 'pino';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { ServiceError } from '../../src/errors.ts';
import type { VolumeQueue } from '../../src/files/volume-queue.ts';
import { bareJson } from '../../src/http/reply.ts';
import { type App, TlsListener } from '../../src/http/tls-listener.ts';
import type { TlsTransport } from '../../src/http/tls-transport.ts';
import { certificatePrincipal } from '../../src/identities/client-certificate.ts';
import { hangingVolume } from '../files/hanging-volume.ts';
import { eventually, get, serve, stopAll } from './serve.ts';
import { Authority, type Pair, pemOf, temporaryFolder, withoutOpenssl } from './tls-certificates.ts';
import { callTls } from './tls-client.ts';

if (withoutOpenssl !== undefined) console.warn(`skipped: ${withoutOpenssl}`);

afterEach(stopAll);

/** An endpoint that responds with a delay, so that requests are in progress when certificates change. */
const slow = get('/slow', async () => {
  await new Promise((resolve) => setTimeout(resolve, 20));
  return bareJson('done');
});
const who = {
  ...get('/who', ({ identity }) => bareJson(identity?.principal.name)),
  access: ['sensor'] as const,
};

describe.skipIf(withoutOpenssl !== undefined)('new TLS files', () => {
  const folder = temporaryFolder();
  let root: Authority;
  let clients: { old: Authority; next: Authority };
  let versions: Pair[];
  let ca: Buffer;
  let count = 0;
  beforeAll(() => {
    root = Authority.root(folder.path, 'root');
    clients = { old: Authority.root(folder.path, 'old'), next: Authority.root(folder.path, 'next') };
    versions = ['first', 'second', 'third'].map((name) => root.server(name));
    ca = readFileSync(root.pair.cert);
  });
  afterAll(() => folder.remove());

  /** Writes the files of the service, with the first certificate in them. */
  function files(): Pair & { readonly clientCa: string } {
    const at = join(folder.path, `live-${count++}`);
    mkdirSync(at);
    const live = { cert: join(at, 'cert.pem'), key: join(at, 'key.pem'), clientCa: join(at, 'clients.pem') };
    put(live, versions[0]!);
    copyFileSync(clients.old.pair.cert, live.clientCa);
    return live;
  }

  /** Replaces each file in one step, as certbot does. */
  function put(live: Pair, version: Pair): void {
    for (const part of ['key', 'cert'] as const) {
      copyFileSync(version[part], `${live[part]}.new`);
      renameSync(`${live[part]}.new`, live[part]);
    }
  }

  /** Returns the common name of the certificate that new connections get. */
  function shown(port: number): Promise<string> {
    return new Promise((resolve, reject) => {
      const socket = connect({ host: '127.0.0.1', port, ca }, () => {
        resolve(String(socket.getPeerCertificate().subject.CN));
        socket.destroy();
      });
      socket.on('error', reject);
    });
  }

  test('are used for new connections, and under load no request fails', async () => {
    const live = files();
    const { server, logged } = await serve([slow], { tls: live });
    const agent = new Agent({ keepAlive: true, maxSockets: 4 });
    const failures: unknown[] = [];
    let [answered, hammering] = [0, true];
    const hammer = async (kept?: Agent): Promise<void> => {
      while (hammering) {
        await callTls(server.port, '/slow', { ca, ...(kept === undefined ? {} : { agent: kept }) }).then(
          ({ status, body }) => {
            answered++;
            if (status !== 200 || body !== '"done"') failures.push([status, body]);
          },
          (error: unknown) => failures.push(error),
        );
      }
    };
    const load = [...Array.from({ length: 6 }, () => hammer()), ...Array.from({ length: 4 }, () => hammer(agent))];
    for (let round = 1; round <= 8; round++) {
      const before = answered;
      await eventually(() => answered > before + 20 || failures.length > 0);
      put(live, versions[round % 3]!);
      expect(await server.reloadTls()).toBe('reloaded');
      expect(await shown(server.port)).toBe(['first', 'second', 'third'][round % 3]);
    }
    hammering = false;
    await Promise.all(load);
    agent.destroy();
    expect(failures).toEqual([]);
    expect(logged.filter(({ msg }) => msg === 'new TLS certificates are in use')).toHaveLength(8);
    expect(server.inFlight).toBe(0);
  });

  test('are not reloaded if their contents are unchanged', async () => {
    const live = files();
    const { server } = await serve([slow], { tls: live });
    expect(await server.reloadTls()).toBe('unchanged');
    put(live, versions[0]!);
    expect(await server.reloadTls()).toBe('unchanged');
  });

  test('are ignored if one of them is invalid, and the log names the invalid file', async () => {
    const live = files();
    const { server, logged } = await serve([slow], { tls: live });
    const bad: [string, () => void][] = [
      [live.cert, () => writeFileSync(live.cert, 'x')],
      [live.key, () => writeFileSync(live.key, 'x')],
      // Only the key has changed, so the key does not match the certificate.
      [live.key, () => copyFileSync(versions[1]!.key, live.key)],
      [live.clientCa, () => writeFileSync(live.clientCa, '')],
      [live.clientCa, () => renameSync(live.clientCa, `${live.clientCa}.away`)],
    ];
    for (const [file, spoil] of bad) {
      put(live, versions[0]!);
      spoil();
      expect(await server.reloadTls()).toBe('refused');
      expect(logged.at(-1)).toMatchObject({ level: 50, file });
      expect(await shown(server.port)).toBe('first');
    }
    put(live, versions[1]!);
    copyFileSync(clients.old.pair.cert, live.clientCa);
    expect(await server.reloadTls()).toBe('reloaded');
    expect(await shown(server.port)).toBe('second');
  });

  test('close kept-alive connections with their next response, which announces the close', async () => {
    const live = files();
    const { server } = await serve([slow], { tls: live });
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const call = () => callTls(server.port, '/slow', { ca, agent });
    expect((await call()).headers.connection).not.toBe('close');
    put(live, versions[1]!);
    const pending = call();
    await server.reloadTls();
    const last = await pending;
    expect([last.status, last.headers.connection]).toEqual([200, 'close']);
    const next = await call();
    expect([next.status, next.headers.connection]).not.toEqual([200, 'close']);
    agent.destroy();
  });

  const authenticate: Parameters<typeof serve>[1] = {
    authenticate: ({ certificate }, now) => {
      if (certificate === undefined) throw new ServiceError('UNAUTHENTICATED', 'no certificate');
      const known = {
        id: 'p',
        name: 's',
        kind: 'sensor',
        roles: ['sensor'],
        status: 'active',
        created_at: '',
      } as const;
      const { id, name } = certificatePrincipal({ principalByName: () => known }, certificate, now);
      return { principal: { id, name }, roles: ['sensor'] };
    },
  };

  test('take effect on open connections if the authority changed', async () => {
    const live = files();
    const [old, next] = [clients.old.issue('s'), clients.next.issue('s')];
    const behind = clients.old.intermediate('middle').issue('s');
    const { server } = await serve([who], { tls: live, ...authenticate });
    const agents = {
      old: new Agent({ keepAlive: true, maxSockets: 1 }),
      behind: new Agent({ keepAlive: true, maxSockets: 1 }),
    };
    const call = (pair: Pair, agent?: Agent) =>
      callTls(server.port, '/who', { ca, ...pemOf(pair), ...(agent === undefined ? {} : { agent }) }).then(
        ({ status }) => status,
        () => 'no connection',
      );
    const open = async () => [await call(old, agents.old), await call(behind, agents.behind)];
    expect(await open()).toEqual([200, 200]);
    expect(await call(next)).toBe('no connection');

    // Adding an authority does not end connections of clients with valid certificates.
    const both = readFileSync(clients.old.pair.cert, 'utf8') + readFileSync(clients.next.pair.cert, 'utf8');
    writeFileSync(live.clientCa, both);
    expect(await server.reloadTls()).toBe('reloaded');
    expect(await open()).toEqual([200, 200]);
    expect([await call(old), await call(next)]).toEqual([200, 200]);

    // After an authority is removed, its certificates have no principal, on old and new connections.
    expect(await open()).toEqual([200, 200]);
    copyFileSync(clients.next.pair.cert, live.clientCa);
    expect(await server.reloadTls()).toBe('reloaded');
    expect(await open()).toEqual([401, 401]);
    expect([await call(old), await call(next)]).toEqual(['no connection', 200]);
    for (const agent of Object.values(agents)) agent.destroy();
  });

  test('end TLS sessions of clients whose authority was removed', async () => {
    const live = files();
    const client = pemOf(clients.old.issue('resuming'));
    const { server } = await serve([who], { tls: live, ...authenticate });
    const call = (session?: Buffer): Promise<{ resumed: boolean; status: string; next?: Buffer }> =>
      new Promise((resolve, reject) => {
        const options = { host: '127.0.0.1', port: server.port, ca, ...client };
        const socket = connect(session === undefined ? options : { ...options, session });
        socket.on('error', reject);
        let next: Buffer | undefined;
        socket.on('session', (one: Buffer) => {
          next = one;
        });
        socket.setEncoding('utf8').on('data', (part: string) => {
          resolve({
            resumed: socket.isSessionReused(),
            status: part.slice(9, 12),
            ...(next === undefined ? {} : { next }),
          });
          socket.destroy();
        });
        socket.write('GET /who HTTP/1.1\r\nHost: x\r\n\r\n');
      });
    const { next } = await call();
    expect(await call(next)).toMatchObject({ resumed: true, status: '200' });
    copyFileSync(clients.next.pair.cert, live.clientCa);
    await server.reloadTls();
    await expect(call(next)).rejects.toThrow(/unknown ca/);
  });

  /** Returns a listener whose apps only record the calls that they get. */
  function listener(live: Pair, retiredMs: number, watchMs = 3_600_000, volume?: VolumeQueue) {
    const events: string[] = [];
    const names = new Map<TlsTransport, number>();
    const made = new TlsListener({
      tls: live,
      acceptor: {
        addChildAppDescriptor: (n) => events.push(`to ${n}`),
        removeChildAppDescriptor: (n) => events.push(`no more to ${n}`),
      },
      open(transport) {
        const name = names.size + 1;
        names.set(transport, name);
        return { getDescriptor: () => name, close: () => events.push(`close ${name}`) } satisfies App;
      },
      leave: (transport) => events.push(`leave ${names.get(transport)}`),
      log: pino({ level: 'silent' }),
      retiredMs,
      watchMs,
      ...(volume === undefined ? {} : { volume }),
    });
    return { made, events };
  }

  test('close earlier connections after a while, and notify WebSockets first', async () => {
    const live = files();
    const { made, events } = listener(live, 10);
    put(live, versions[1]!);
    expect(await made.reload()).toBe('reloaded');
    expect(events).toEqual(['to 1', 'to 2', 'no more to 1']);
    await eventually(() => events.includes('close 1'));
    expect(events.slice(3)).toEqual(['leave 1', 'close 1']);
    made.close();
    expect(events.slice(5)).toEqual(['close 2']);
    expect(await made.reload()).toBe('unchanged');
  });

  test('do not block the service if their volume hangs, and are loaded once the volume responds', async () => {
    const live = files();
    const { volume, answer } = await hangingVolume();
    const { made, events } = listener(live, 3_600_000, 5, volume);
    put(live, versions[1]!);
    expect(await made.reload()).toBe('refused');
    expect(events).toEqual(['to 1']);
    answer();
    await eventually(() => events.includes('to 2'));
    made.close();
  });

  test('close the oldest connections early if they change too often', async () => {
    const live = files();
    const { made, events } = listener(live, 3_600_000);
    for (let round = 1; round <= 5; round++) {
      put(live, versions[round % 3]!);
      await made.reload();
    }
    expect(events.filter((event) => event.startsWith('leave'))).toEqual(['leave 1']);
    made.close();
    expect(events.filter((event) => event.startsWith('close')).toSorted()).toEqual(
      [2, 3, 4, 5, 6].map((n) => `close ${n}`),
    );
  });

  test('are detected without a signal: renamed files and changed links', async () => {
    const live = files();
    // As in Kubernetes: the files are links through a link that is switched.
    const mount = join(folder.path, 'mount');
    mkdirSync(mount);
    for (const [name, version] of [
      ['1', versions[0]!],
      ['2', versions[1]!],
    ] as const) {
      mkdirSync(join(mount, name));
      copyFileSync(version.cert, join(mount, name, 'cert.pem'));
      copyFileSync(version.key, join(mount, name, 'key.pem'));
    }
    symlinkSync('1', join(mount, '..data'));
    for (const file of ['cert.pem', 'key.pem']) symlinkSync(join('..data', file), join(mount, file));
    const links = listener({ cert: join(mount, 'cert.pem'), key: join(mount, 'key.pem') }, 3_600_000, 5);
    const renamed = listener(live, 3_600_000, 5);
    symlinkSync('2', join(mount, '..new'));
    renameSync(join(mount, '..new'), join(mount, '..data'));
    put(live, versions[2]!);
    await eventually(() => links.events.includes('to 2') && renamed.events.includes('to 2'));
    links.made.close();
    renamed.made.close();
  });
});
