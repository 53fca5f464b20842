import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { WebSocket as NodeWebSocket } from 'ws';
import { login, type Service, startService, tokenFor } from '../../scripts/service.ts';
import { type Client, createClient } from '../../src/client/client.ts';
import { type Live, type LiveOptions, type LiveState, openLive } from '../../src/client/live.ts';
import { ServiceError } from '../../src/errors.ts';
import { openTcpProxy, type TcpProxy } from './tcp-proxy.ts';

/** Long enough for a busy machine, where delays between attempts have grown to their maximum. */
const timeout = 300_000;
vi.setConfig({ testTimeout: 4 * timeout });

let service: Service;
let proxy: TcpProxy;
let admin: Client;
let sensor: Client;
const open: { close(): void }[] = [];

beforeAll(async () => {
  service = await startService();
  admin = createClient({ baseUrl: service.url, token: await login(service) });
  sensor = createClient({ baseUrl: service.url, token: await tokenFor(service, 'sensor') });
  proxy = await openTcpProxy(service.url);
});
afterEach(() => {
  for (const one of open.splice(0)) one.close();
  proxy.refuse(false);
});
afterAll(async () => {
  proxy.close();
  expect(await service.stop()).toBe(0);
});

/** Every connection in the tests of this file has a unique source port, which identifies it. */
let port = 0;
const conn = () => {
  port++;
  return JSON.stringify({
    ts: 1_780_000_000 + port,
    uid: `C${port}`,
    'id.orig_h': '10.7.0.1',
    'id.orig_p': port,
    'id.resp_h': '10.7.0.2',
    'id.resp_p': 443,
    proto: 'tcp',
    conn_state: 'SF',
  });
};

/** Sends this many connections in one body. */
async function send(count: number, by: Client = sensor): Promise<void> {
  const lines = Array.from({ length: count }, conn);
  expect(await by.ingest(lines.join('\n'))).toMatchObject({ accepted: count });
}

const range = (first: number, count: number) => Array.from({ length: count }, (_, n) => first + n);

const goodForAnHour = (token: string) => ({ token, expiresAt: Date.now() + 3_600_000 });

interface Watched {
  readonly live: Live;
  readonly states: LiveState[];
  /** Returns the kinds of the states so far, in order. */
  kinds(): string[];
  until(kind: LiveState['kind']): Promise<LiveState>;
}

function watch(options: Partial<LiveOptions> = {}): Watched {
  const states: LiveState[] = [];
  const live = openLive({
    baseUrl: proxy.url,
    token: async () => goodForAnHour(await login(service)),
    onState: (state) => states.push(state),
    ...options,
  });
  open.push(live);
  return {
    live,
    states,
    kinds: () => states.map(({ kind }) => kind),
    async until(kind) {
      await expect.poll(() => states.at(-1)?.kind, { timeout }).toBe(kind);
      return states.at(-1)!;
    },
  };
}

interface Heard {
  readonly seqs: number[];
  readonly ports: (number | undefined)[];
  /** Sequences reported by onSubscribed. */
  readonly accepted: number[];
  readonly lagged: (number | undefined)[];
  readonly errors: ServiceError[];
  close(): void;
}

function hear(live: Live, filters = {}, options: { since?: number } = {}): Heard {
  const heard = { seqs: [], ports: [], accepted: [], lagged: [], errors: [] } as Omit<Heard, 'close'>;
  const { close } = live.subscribe(
    'events.network',
    filters,
    {
      onEvent: ({ seq, data }) => {
        heard.seqs.push(seq);
        heard.ports.push(data.attributes.src_port);
      },
      onSubscribed: (seq) => heard.accepted.push(seq),
      onLagged: (dropped) => heard.lagged.push(dropped),
      onError: (error) => heard.errors.push(error),
    },
    options,
  );
  return { ...heard, close };
}

const count = (list: readonly unknown[], wanted: number) => expect.poll(() => list.length, { timeout }).toBe(wanted);

describe('one connection', () => {
  it('carries all subscriptions, each with the events of its channel and filters', async () => {
    const before = proxy.connections;
    const { live, kinds, until } = watch();
    expect(kinds()).toEqual(['connecting']);
    const all = hear(live);
    const last = hear(live, { src_port: [port + 2, port + 3], dst_port: 443 });
    const other = hear(live, { dst_port: 22 });
    const ids: string[] = [];
    live.subscribe('alerts', {}, { onEvent: ({ data }) => ids.push(...data.attributes.asset_ids) });
    live.subscribe('topology', {}, { onEvent: ({ data }) => ids.push(...data.attributes.nodes.map(({ id }) => id)) });
    await until('live');
    await count(all.accepted, 1);
    const first = port + 1;
    await send(3);
    await count(all.seqs, 3);
    await count(last.seqs, 2);
    expect(all.ports).toEqual(range(first, 3));
    expect(all.seqs).toEqual(range(all.accepted[0]! + 1, 3));
    expect(last.seqs).toEqual(all.seqs.slice(1));
    expect(other.seqs).toEqual([]);
    expect(kinds()).toEqual(['connecting', 'live']);
    expect(proxy.connections).toBe(before + 1);
    await expect.poll(() => ids.length, { timeout }).toBeGreaterThan(0);
  });

  it('uses the given class of WebSockets', async () => {
    const { live, until } = watch({ WebSocket: NodeWebSocket });
    const heard = hear(live);
    await until('live');
    await count(heard.accepted, 1);
    await send(2);
    await count(heard.seqs, 2);
    live.reconnect();
    await count(heard.accepted, 2);
    await send(1);
    await count(heard.seqs, 3);
  });

  it('starts after `since` and stops when a subscription is closed', async () => {
    await send(2);
    const { live, until } = watch();
    const all = hear(live);
    await count(all.accepted, 1);
    const again = hear(live, {}, { since: all.accepted[0]! - 2 });
    await count(again.seqs, 2);
    again.close();
    await send(1);
    await count(all.seqs, 1);
    expect(again.seqs).toEqual(range(all.accepted[0]! - 1, 2));
    live.close();
    await until('closed');
    await send(1);
    await admin.call('listNetworkEvents', { query: { src_port: [port] } });
    expect(all.seqs).toHaveLength(1);
  });

  it('rejects invalid subscriptions and keeps the valid one', async () => {
    const { live, until } = watch();
    const good = hear(live);
    const bad = hear(live, { colour: 'red' });
    const ahead = hear(live, {}, { since: Number.MAX_SAFE_INTEGER });
    const impossible = hear(live, {}, { since: -1 });
    const long = hear(live, { q: 'x'.repeat(20_000) });
    const all = [bad, ahead, impossible, long];
    for (const { errors } of all) await count(errors, 1);
    expect(all.map(({ errors }) => [errors[0]!.code, errors[0]!.details?.field])).toEqual([
      ['INVALID_REQUEST', 'filters.colour'],
      ['INVALID_REQUEST', 'since'],
      ['INVALID_REQUEST', 'since'],
      ['INVALID_REQUEST', 'filters'],
    ]);
    await until('live');
    proxy.cut();
    await count(good.accepted, 2);
    await send(1);
    await count(good.seqs, 1);
    for (const { errors } of all) expect(errors).toHaveLength(1);
    expect(good.errors).toEqual([]);
  });

  it('reports the loss of permission to one subscription, and continues the other subscriptions', async () => {
    const token = await tokenFor(service, 'viewer');
    const { live, kinds, until } = watch({ token: async () => goodForAnHour(token) });
    const all = hear(live);
    const errors: string[] = [];
    const onError = ({ code }: ServiceError) => errors.push(code);
    live.subscribe('events.dns', {}, { onEvent: () => undefined, onError });
    await until('live');
    await count(all.accepted, 1);
    const { data } = await admin.call('getPolicy');
    const { rules } = data.attributes;
    const stricter = rules.map((rule) =>
      rule.operation === 'streamDnsEvents' ? { ...rule, roles: ['admin' as const] } : rule,
    );
    await admin.call('updatePolicy', { body: { rules: stricter } });
    try {
      await count(errors, 1);
      await send(1);
      await count(all.seqs, 1);
    } finally {
      await admin.call('updatePolicy', { body: { rules } });
    }
    expect(errors).toEqual(['FORBIDDEN']);
    expect(kinds()).toEqual(['connecting', 'live']);
  });

  it('holds a hundred subscriptions; one more is rejected, and the socket stays open', async () => {
    const { live, kinds, until } = watch();
    const hundred = range(0, 100).map(() => hear(live, { dst_port: 22 }));
    const more = hear(live);
    await count(more.errors, 1);
    expect(more.errors[0]!.code).toBe('RATE_LIMITED');
    for (const { accepted } of hundred) await count(accepted, 1);
    await until('live');
    hundred[7]!.close();
    const instead = hear(live);
    await count(instead.accepted, 1);
    expect(kinds()).toEqual(['connecting', 'live']);
  });
});

describe('a lost connection', () => {
  it('resumes without a gap or repetition in a thousand events', async () => {
    const { live, states, until } = watch();
    const all = hear(live);
    const half = hear(live, { src_port: range(port + 1, 100).filter((n) => n % 2 === 0) });
    const quiet = hear(live, { src_port: port + 1000 });
    await until('live');
    await count(quiet.accepted, 1);
    const first = port + 1;
    for (let batch = 0; batch < 50; batch++) {
      await send(20);
      // Cut the connection at varying times during transfers: once, twice in a row, or for a while.
      if (batch % 7 === 3) proxy.cut();
      if (batch === 20) proxy.refuse(true);
      if (batch === 40) proxy.refuse(false);
      if (batch % 10 === 0) live.wake();
    }
    live.wake();
    await count(all.seqs, 1000);
    await count(half.seqs, 50);
    await count(quiet.seqs, 1);
    expect(all.ports).toEqual(range(first, 1000));
    expect(all.seqs).toEqual(range(all.accepted[0]! + 1, 1000));
    expect(half.ports).toEqual(range(first, 100).filter((n) => n % 2 === 0));
    // The only event of this subscription is the last of the thousand: the subscription had to be resumed several
    // times before it received any event.
    expect(quiet.ports).toEqual([first + 999]);
    expect(all.lagged).toEqual([]);
    const lost = states.filter((state) => state.kind === 'offline');
    expect(lost.length).toBeGreaterThan(2);
    for (const { sinceMs, retryAtMs } of lost) expect(retryAtMs).toBeGreaterThanOrEqual(sinceMs);
    await until('live');
  });

  it('receives the events of an outage even if it had not received any events before', async () => {
    const { live, until } = watch();
    const all = hear(live);
    await count(all.accepted, 1);
    proxy.refuse(true);
    proxy.cut();
    await until('offline');
    await send(2);
    proxy.refuse(false);
    live.wake();
    await count(all.seqs, 2);
    expect(all.accepted).toEqual([all.accepted[0], all.accepted[0]]);
    expect(all.seqs).toEqual(range(all.accepted[0]! + 1, 2));
  });

  it('that stops responding is reported as behind, and is replaced', async () => {
    const { live, kinds, until } = watch();
    const all = hear(live);
    await count(all.accepted, 1);
    await until('live');
    const beforeMs = Date.now();
    proxy.freeze();
    const behind = await until('behind');
    if (behind.kind !== 'behind') throw new Error(behind.kind);
    expect(behind.sinceMs).toBeLessThanOrEqual(beforeMs + 1000);
    await send(3);
    await until('live');
    await count(all.seqs, 3);
    expect(kinds()).toEqual(['connecting', 'live', 'behind', 'offline', 'connecting', 'live']);
  });

  it('that stops responding is replaced sooner after a call of wake()', async () => {
    const { live, kinds, until } = watch();
    await until('live');
    proxy.freeze();
    live.wake();
    await until('behind');
    live.wake();
    await until('live');
    expect(kinds().slice(0, 4)).toEqual(['connecting', 'live', 'behind', 'offline']);
  });

  it('is replaced immediately when the network changes, without losing events', async () => {
    const { live, kinds, until } = watch();
    const all = hear(live);
    await count(all.accepted, 1);
    await until('live');
    proxy.freeze();
    await send(2);
    live.reconnect();
    expect(kinds()).toEqual(['connecting', 'live', 'offline', 'connecting']);
    await count(all.seqs, 2);
    expect(all.seqs).toEqual(range(all.accepted[0]! + 1, 2));
  });
});

describe('a token', () => {
  /** Issues a long-lived token that expires. */
  const issue = async (lifeMs: number) => {
    const expiresAt = Date.now() + lifeMs;
    const body = {
      name: `for ${lifeMs}, ${crypto.randomUUID()}`,
      scopes: ['viewer' as const],
      expires_at: new Date(expiresAt).toISOString(),
    };
    const { data } = await admin.call('issueToken', { body });
    return { token: data.attributes.token, expiresAt, id: data.id };
  };

  it('is renewed on the connection before it expires', async () => {
    const before = proxy.connections;
    const tokens: { token: string; expiresAt: number }[] = [];
    const used: (string | undefined)[] = [];
    const { live, kinds } = watch({
      async token(last) {
        used.push(last);
        tokens.push(await issue(15_000));
        return tokens.at(-1)!;
      },
    });
    const all = hear(live);
    await count(all.accepted, 1);
    await expect.poll(() => Date.now() > tokens[0]!.expiresAt + 2000, { timeout }).toBe(true);
    await send(1);
    await count(all.seqs, 1);
    expect(all.accepted).toHaveLength(1);
    expect(kinds()).toEqual(['connecting', 'live']);
    expect(proxy.connections).toBe(before + 1);
    expect(used.slice(0, 2)).toEqual([undefined, tokens[0]!.token]);
  });

  it('is renewed when the machine wakes after the renewal was due', async () => {
    const asked: (string | undefined)[] = [];
    const { live, kinds, until } = watch({
      async token(last) {
        asked.push(last);
        return issue(3_600_000);
      },
    });
    const all = hear(live);
    await count(all.accepted, 1);
    await until('live');
    vi.useFakeTimers({ toFake: ['Date'] });
    try {
      vi.setSystemTime(Date.now() + 3_590_000);
      await count(asked, 2);
      expect(asked[0]).toBeUndefined();
      expect(asked[1]).toBeDefined();
    } finally {
      vi.useRealTimers();
    }
    await send(1);
    await count(all.seqs, 1);
    expect(kinds()).toEqual(['connecting', 'live']);
  });

  it('is replaced after a revocation, without losing events', async () => {
    const tokens = [await issue(3_600_000), await issue(3_600_000)];
    const asked: (string | undefined)[] = [];
    const { live, kinds, until } = watch({
      token: async (used) => {
        asked.push(used);
        return tokens[asked.length - 1]!;
      },
    });
    const all = hear(live);
    await count(all.accepted, 1);
    await until('live');
    await admin.call('revokeToken', { params: { token_id: tokens[0]!.id } });
    await send(2);
    await count(all.seqs, 2);
    expect(all.seqs).toEqual(range(all.accepted[0]! + 1, 2));
    expect(kinds()).toEqual(['connecting', 'live', 'connecting', 'live']);
    expect(asked).toEqual([undefined, tokens[0]!.token]);
  });

  it('that is rejected twice leaves the connection offline, with the reason', async () => {
    let asked = 0;
    const { kinds, until } = watch({ token: async () => goodForAnHour(`bad ${++asked}`) });
    expect(await until('offline')).toMatchObject({ reason: { code: 'UNAUTHENTICATED' } });
    expect(kinds()).toEqual(['connecting', 'connecting', 'offline']);
    expect(asked).toBe(2);
  });

  it('that cannot be obtained leaves the connection offline, with the reason, until a call of wake()', async () => {
    let signedIn = false;
    const before = proxy.connections;
    const { live, until } = watch({
      async token() {
        if (!signedIn) throw new ServiceError('UNAUTHENTICATED', 'signed out');
        return goodForAnHour(await login(service));
      },
    });
    const all = hear(live);
    const state = await until('offline');
    expect(state).toMatchObject({ reason: { code: 'UNAUTHENTICATED' } });
    if (state.kind === 'offline') expect(state.retryAtMs - state.sinceMs).toBeGreaterThan(5000);
    expect(proxy.connections).toBe(before);
    signedIn = true;
    live.wake();
    await until('live');
    await count(all.accepted, 1);
  });

  it('without the role to read events ends the subscriptions', async () => {
    const token = await tokenFor(service, 'sensor');
    const { live, until } = watch({ token: async () => goodForAnHour(token) });
    const all = hear(live);
    expect(await until('offline')).toMatchObject({ reason: { code: 'FORBIDDEN' } });
    expect(all.errors.map(({ code }) => code)).toEqual(['FORBIDDEN']);
  });
});

describe('a restarted service', () => {
  let dataDir: string;
  let own: Service | undefined;
  beforeEach(async () => {
    dataDir = mkdtempSync(join(tmpdir(), 'candor-live-'));
    await start();
  });
  afterEach(async () => {
    await own?.stop();
    proxy.aim(service.url);
    rmSync(dataDir, { recursive: true, force: true });
  });
  const stop = async () => {
    const stopping = own;
    own = undefined;
    expect(await stopping?.stop()).toBe(0);
  };
  const start = async () => {
    own = await startService({ dataDir });
    proxy.aim(own.url);
  };
  const ingest = async (count: number) =>
    send(count, createClient({ baseUrl: own!.url, token: await tokenFor(own!, 'sensor') }));

  it('is found again, and events sent in between are received', async () => {
    const token = await tokenFor(own!, 'viewer');
    const { live, kinds, until } = watch({ token: async () => goodForAnHour(token) });
    const all = hear(live);
    await count(all.accepted, 1);
    await until('live');
    await ingest(2);
    await count(all.seqs, 2);
    await stop();
    await expect.poll(kinds, { timeout }).toContain('offline');
    await start();
    await ingest(2);
    await count(all.seqs, 4);
    expect(all.seqs).toEqual(range(all.accepted[0]! + 1, 4));
    expect(all.lagged).toEqual([]);
  });

  it('that was restored to earlier data is reported, and the subscription continues', async () => {
    const { live, until } = watch({ token: async () => goodForAnHour(await login(own!)) });
    const all = hear(live);
    await count(all.accepted, 1);
    await until('live');
    await ingest(2);
    await count(all.seqs, 2);
    await stop();
    rmSync(dataDir, { recursive: true });
    await start();
    live.wake();
    await count(all.lagged, 1);
    await count(all.accepted, 2);
    await ingest(1);
    await count(all.seqs, 3);
    expect(all.lagged).toEqual([undefined]);
    expect(all.accepted).toEqual([0, 0]);
    expect(all.seqs).toEqual([1, 2, 1]);
    expect(all.errors).toEqual([]);
  });
});
