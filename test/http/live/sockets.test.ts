import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import pino from 'pino';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import WebSocket from 'ws';
import { assertServerMessage } from '../../../scripts/contract-assertions.ts';
import { Connections } from '../../../src/admission/connections.ts';
import { ServiceError } from '../../../src/errors.ts';
import { noAssets } from '../../../src/events/asset-lookup.ts';
import { openBlock } from '../../../src/events/format/block.ts';
import { BlockBuilder } from '../../../src/events/format/block-builder.ts';
import { compileFilter } from '../../../src/events/query/select.ts';
import type { NetworkRecord } from '../../../src/events/records.ts';
import { writeEventJson } from '../../../src/events/resource.ts';
import type { Credentials } from '../../../src/http/endpoint.ts';
import { eventChannel, LiveBlock, type ReplayEvents } from '../../../src/http/live/event-channel.ts';
import { Hub } from '../../../src/http/live/hub.ts';
import { createSockets, type SocketCredentials, type Sockets } from '../../../src/http/live/sockets.ts';
import { type Server, startServer } from '../../../src/http/server.ts';
import { type LimitName, limits } from '../../../src/limits.ts';
import type { CommittedBlock } from '../../../src/store/store.ts';
import { MemoryChannel } from './fakes.ts';

const stream = '/api/v1/events/network/stream';
let maxSockets: number;
const year = 365 * 24 * 3600 * 1000;

let server: Server;
let sockets: Sockets;
let hub: Hub;
let blocks: CommittedBlock[];
let connections: Connections;
let reached: LimitName[];
let errors: unknown[];
let head: number;
const clients: WebSocket[] = [];
const raw: Socket[] = [];

const replay: ReplayEvents = async ({ table, since, filter, limit }) => {
  const compiled = compileFilter(table, filter);
  const all = blocks.flatMap(({ buffer, first_seq }) => {
    const block = openBlock(buffer, first_seq);
    return Array.from(compiled.select(block), (row) => ({
      seq: first_seq + row,
      json: writeEventJson(block, row),
    }));
  });
  const left = all.filter(({ seq }) => seq > since);
  const messages = left.slice(0, limit);
  return { messages, next: left.length > limit ? messages.at(-1)!.seq : head, lost: 0 };
};

/** Tokens whose principals were suspended or have lost their roles. */
const suspended = new Set<string>();
const demoted = new Set<string>();

/** Ends the checks of the token `slow`, which is invalid. */
let endSlow: () => void;
let slow: Promise<void>;

/** Verifies a token whose text describes it: `viewer`, `sensor`, `viewer-for-300ms`. */
async function authenticate({ authorization }: Credentials, now: number): Promise<SocketCredentials> {
  await new Promise((resolve) => setTimeout(resolve, 5));
  const token = authorization?.replace('Bearer ', '') ?? '';
  if (token === 'slow') await slow;
  const [role = '', , end] = token.split('-');
  if ((role !== 'viewer' && role !== 'sensor') || suspended.has(token))
    throw new ServiceError('UNAUTHENTICATED', 'bad credentials');
  const expiresAt = now + (end === undefined ? year : Number.parseInt(end, 10));
  const roles = demoted.has(token) ? [] : [role];
  return { principal: { id: `p of ${token}`, name: 'p' }, roles, jti: token, expiresAt } as SocketCredentials;
}

beforeEach(async () => {
  await start(5);
});

async function start(most: number): Promise<void> {
  maxSockets = most;
  slow = new Promise((resolve) => {
    endSlow = resolve;
  });
  connections = new Connections({ limitReached: () => undefined });
  [blocks, reached, errors, head] = [[], [], [], 0];
  const limitReached = (limit: LimitName) => void reached.push(limit);
  const logError = (error: unknown) => void errors.push(error);
  const other = new MemoryChannel(1);
  hub = new Hub(
    {
      'events.network': eventChannel('network', () => head, replay, noAssets),
      'events.dns': other,
      alerts: other,
      discovery: other,
      topology: other,
    },
    { live: () => {}, limitReached },
    logError,
  );
  sockets = createSockets({
    hub,
    authenticate,
    accessOf: () => ['viewer'],
    now: Date.now,
    maxSockets,
    limitReached,
    logError,
  });
  server = await startServer({
    host: '127.0.0.1',
    port: 0,
    endpoints: [],
    authenticate: () => {
      throw new ServiceError('UNAUTHENTICATED', 'no endpoints here');
    },
    log: pino({ level: 'silent' }),
    observer: { answered: () => {}, limitReached },
    sockets: sockets.register,
    connections,
    drainMs: 100,
  });
}

afterEach(async () => {
  for (const client of clients.splice(0)) client.terminate();
  for (const socket of raw.splice(0)) socket.destroy();
  await server.close();
  expect(errors).toEqual([]);
});

const record = (n: number, port: number, history: string): NetworkRecord => ({
  id: undefined,
  timestamp: 1_700_000_000_000 + n,
  duration_ms: 1,
  src_ip: '10.0.0.1',
  src_port: 1000,
  src_mac: undefined,
  dst_ip: '10.0.0.2',
  dst_port: port,
  dst_mac: undefined,
  transport: 'tcp',
  app_protocol: undefined,
  src_bytes: 1,
  dst_bytes: 1,
  src_payload_bytes: 1,
  dst_payload_bytes: 1,
  src_packets: 1,
  dst_packets: 1,
  missed_bytes: 0,
  state: 'closed',
  conn_state: 'SF',
  history,
  direction: 'internal',
  community_id: undefined,
  connection_id: `C${n}`,
  vlan: undefined,
  sensor: undefined,
  source: 'zeek',
  severity: 'informational',
});

/** Commits one block of events to these ports and publishes it. */
function publish(ports: readonly number[], history = 'ShADadFf'): void {
  const builder = new BlockBuilder('network', Date.now());
  ports.forEach((port, n) => {
    builder.add(record(head + n, port, history));
  });
  const buffer = builder.finish();
  const block: CommittedBlock = { table: 'network', first_seq: head + 1, rows: ports.length, buffer };
  head += ports.length;
  blocks.push(block);
  hub.publish('events.network', new LiveBlock(block, noAssets));
}

type Message = Record<string, unknown>;

/** A client that checks each received message against the contract. */
class Client {
  readonly messages: Message[] = [];
  readonly ws: WebSocket;
  readonly closed: Promise<{ code: number; reason: string }>;

  constructor(path: string, options: { token?: string; protocols?: string[] } = {}) {
    const headers = options.token ? { authorization: `Bearer ${options.token}` } : {};
    this.ws = new WebSocket(`ws://127.0.0.1:${server.port}${path}`, options.protocols ?? [], { headers });
    clients.push(this.ws);
    this.ws.on('error', () => {});
    this.ws.on('message', (data) => {
      const message = JSON.parse(String(data));
      assertServerMessage(message);
      this.messages.push(message);
    });
    this.closed = new Promise((resolve) =>
      this.ws.on('close', (code, reason) => resolve({ code, reason: String(reason) })),
    );
  }

  async open(): Promise<this> {
    await once(this.ws, 'open');
    return this;
  }

  say(...messages: unknown[]): void {
    for (const message of messages)
      this.ws.send(typeof message === 'string' || Buffer.isBuffer(message) ? message : JSON.stringify(message));
  }

  async until(done: (messages: readonly Message[]) => boolean): Promise<void> {
    while (!done(this.messages)) await new Promise((resolve) => setTimeout(resolve, 5));
  }

  async subscribed(): Promise<void> {
    await this.until((messages) => messages.some(({ type }) => type === 'subscribed'));
  }

  /** Resolves once its credentials were verified. */
  async admitted(): Promise<void> {
    await this.open();
    this.say({ type: 'ping' });
    await this.until((messages) => messages.some(({ type }) => type === 'pong'));
  }

  get seqs(): unknown[] {
    return this.messages.filter(({ type }) => type === 'event').map(({ seq }) => seq);
  }
}

const subscribe = (filters: object, more: object = {}) => ({
  type: 'subscribe',
  channel: 'events.network',
  filters,
  ...more,
});

/** Connects and makes the handshake by hand, for misbehaving clients. */
function dial(path: string, headers: readonly string[] = [], options = {}): Socket {
  const socket = connect({ port: server.port, host: '127.0.0.1', ...options });
  raw.push(socket);
  socket.on('error', () => {});
  const lines = [
    `GET ${path} HTTP/1.1`,
    'Host: localhost',
    // The service uses the first of repeated headers.
    ...headers,
    'Upgrade: websocket',
    'Connection: Upgrade',
    'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
    'Sec-WebSocket-Version: 13',
  ];
  socket.write(`${lines.join('\r\n')}\r\n\r\n`);
  return socket;
}

const waitFor = async (condition: () => boolean) => {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 5));
};

describe('credentials', () => {
  it.each([
    ['in the header', { token: 'viewer' }, undefined],
    ['as a subprotocol', { protocols: ['other', 'bearer.viewer'] }, undefined],
    ['in the first message', {}, { type: 'auth', token: 'viewer' }],
  ])('%s open a socket', async (_, options, first) => {
    const client = await new Client('/ws', options).open();
    expect(client.ws.protocol).toBe('protocols' in options ? 'bearer.viewer' : '');
    if (first) client.say(first);
    client.say(subscribe({ dst_port: 443 }));
    await client.subscribed();
    publish([80, 443, 22, 443]);
    await client.until(() => client.seqs.length === 2);
    expect(client.seqs).toEqual([2, 4]);
    expect(client.messages.at(-1)).toMatchObject({
      channel: 'events.network',
      id: 'events.network',
      data: { type: 'network_event', attributes: { dst_port: 443, connection_id: 'C3' } },
    });
  });

  it.each([
    ['that are bad, in the header,', { token: 'nobody' }, 4401, 'UNAUTHENTICATED'],
    ['that are bad, as a subprotocol,', { protocols: ['bearer.nobody'] }, 4401, 'UNAUTHENTICATED'],
    ['of a sensor', { token: 'sensor' }, 4403, 'FORBIDDEN'],
  ])('%s close the socket, and later messages get no response', async (_, options, code, error) => {
    const client = await new Client('/ws', options).open();
    client.say({ type: 'ping' });
    expect((await client.closed).code).toBe(code);
    expect(client.messages).toMatchObject([{ type: 'error', error: { code: error } }]);
  });

  it.each([
    ['an unknown filter', `${stream}?colour=red`, { token: 'viewer' }, 400, 'INVALID_REQUEST'],
    ['a malformed filter', `${stream}?dst_port=https`, { token: 'viewer' }, 400, 'INVALID_REQUEST'],
    ['a parameter on a path without parameters', '/ws?token=viewer', { token: 'viewer' }, 400, 'INVALID_REQUEST'],
  ])('that are valid do not suppress the error of an invalid upgrade: %s', async (_, path, options, status, code) => {
    const client = new Client(path, options);
    const [, response] = await once(client.ws, 'unexpected-response');
    expect(response.statusCode).toBe(status);
    expect(response.headers['x-request-id']).toBeDefined();
    let body = '';
    for await (const part of response) body += part;
    expect(JSON.parse(body)).toMatchObject({ error: { code } });
  });

  it('are rejected if headers contain them twice', async () => {
    const socket = dial('/ws', ['Authorization: Bearer viewer', 'Authorization: Bearer viewer']);
    const [answer] = await once(socket, 'data');
    expect(String(answer)).toMatch(/^HTTP\/1.1 400 /);
  });

  it.each([
    ['a page of another site is FORBIDDEN', '/ws', 'Origin: https://evil.example', 403, 'FORBIDDEN'],
    [
      'a token in the URL is rejected, and the error names the parameter',
      '/ws?token=s3cret',
      'X: y',
      400,
      '"field":"token"',
    ],
    ['another protocol is rejected', '/ws', 'Upgrade: h2c', 400, '"field":"upgrade"'],
    ['another version is rejected', '/ws', 'Sec-WebSocket-Version: 8', 400, '"field":"sec-websocket-version"'],
    ['a body is rejected', '/ws', 'Content-Length: 5', 400, '"field":"content-length"'],
  ])('are not needed to reject an upgrade: %s', async (_what, path, header, status, text) => {
    const socket = dial(path, [header]);
    const [answer] = await once(socket, 'data');
    expect(String(answer)).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
    expect(String(answer)).toContain(text);
    expect(String(answer)).not.toContain('s3cret');
    expect(sockets.count()).toBe(0);
  });

  it('do no harm if their client disconnects during the check', async () => {
    for (let n = 0; n < 20; n++) {
      const socket = dial('/ws', ['Authorization: Bearer viewer']);
      await once(socket, 'connect');
      setTimeout(() => socket.destroy(), n % 8);
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
    await waitFor(() => sockets.count() === 0);
    await new Client('/ws', { token: 'viewer' }).open();
  });
});

describe('a socket is closed', () => {
  it.each([
    ['4400 for a bad message', 'viewer', ['{"type":'], 4400, 'INVALID_REQUEST'],
    ['4400 for a binary message', 'viewer', [Buffer.from('{"type":"ping"}')], 4400, 'INVALID_REQUEST'],
    ['4400 for too many bytes', 'viewer', ['x'.repeat(limits.maxSocketMessageBytes + 1)], 4400, 'INVALID_REQUEST'],
    ['4401 for bad credentials', undefined, [{ type: 'auth', token: 'nobody' }], 4401, 'UNAUTHENTICATED'],
    ['4401 for missing credentials', undefined, [{ type: 'ping' }], 4401, 'UNAUTHENTICATED'],
    ['4401 for expired credentials', 'viewer-for-100ms', [], 4401, 'UNAUTHENTICATED'],
    ['4403 for a role without read access', undefined, [{ type: 'auth', token: 'sensor' }], 4403, 'FORBIDDEN'],
    [
      '4429 for too many subscriptions',
      'viewer',
      Array.from({ length: limits.maxSubscriptionsPerSocket + 1 }, (_, n) => subscribe({}, { id: `s${n}` })),
      4429,
      'RATE_LIMITED',
    ],
    [
      '4429 for a flood of messages',
      'viewer',
      Array.from({ length: 2 * limits.maxSocketMessageBurst }, () => ({ type: 'ping' })),
      4429,
      'RATE_LIMITED',
    ],
  ])('with %s', async (_, token, messages, code, error) => {
    const client = await new Client('/ws', token === undefined ? {} : { token }).open();
    client.say(...messages);
    expect((await client.closed).code).toBe(code);
    expect(client.messages.at(-1)).toMatchObject({ type: 'error', error: { code: error } });
    await waitFor(() => sockets.count() === 0);
    expect(hub.subscriptions).toBe(0);
  });

  it('with 4408 when no credentials arrive in time', {
    timeout: 3 * limits.socketAuthTimeoutMs,
  }, async () => {
    const client = await new Client('/ws').open();
    expect((await client.closed).code).toBe(4408);
    expect(client.messages).toMatchObject([{ type: 'error', error: { code: 'UNAUTHENTICATED' } }]);
  });

  it('with 4429 when there are too many sockets', async () => {
    for (let n = 0; n < maxSockets; n++) await new Client('/ws', { token: 'viewer' }).open();
    const client = new Client('/ws', { token: 'viewer' });
    expect((await client.closed).code).toBe(4429);
    expect(client.messages).toMatchObject([{ type: 'error', error: { code: 'RATE_LIMITED' } }]);
    expect(reached).toEqual(['maxSockets']);
    expect(sockets.count()).toBe(maxSockets);
    clients[0]?.terminate();
    await waitFor(() => sockets.count() < maxSockets);
    await new Client('/ws', { token: 'viewer' }).open();
  });

  it('with 4401 when its credentials are revoked; other sockets stay open', async () => {
    const [one, other] = [new Client('/ws', { token: 'viewer-a' }), new Client('/ws', { token: 'viewer-b' })];
    await Promise.all([one.admitted(), other.admitted()]);
    sockets.revoked('viewer-a');
    expect((await one.closed).code).toBe(4401);
    expect(sockets.count()).toBe(1);
  });

  it('with 4401 or 4403 when its principal loses access; other sockets stay open', async () => {
    const tokens = ['viewer-suspended', 'viewer-demoted', 'viewer-renamed', 'viewer-else'];
    const [first, second, third, fourth] = tokens.map((token) => new Client('/ws', { token }));
    await Promise.all([first!, second!, third!, fourth!].map((client) => client.admitted()));
    suspended.add('viewer-suspended');
    demoted.add('viewer-demoted').add('viewer-else');
    for (const token of tokens.slice(0, 3)) sockets.principalChanged(`p of ${token}`);
    expect((await first!.closed).code).toBe(4401);
    expect((await second!.closed).code).toBe(4403);
    await waitFor(() => sockets.count() === 2);
    expect([third!, fourth!].map(({ ws }) => ws.readyState)).toEqual([WebSocket.OPEN, WebSocket.OPEN]);
    sockets.policyChanged();
    expect((await fourth!.closed).code).toBe(4403);
    await waitFor(() => sockets.count() === 1);
  });

  it('with 1001 when the service stops, and no more sockets are opened', async () => {
    const open = await new Client('/ws', { token: 'viewer' }).open();
    sockets.closeAll();
    expect(await open.closed).toEqual({ code: 1001, reason: 'the service is stopping' });
    const late = new Client('/ws', { token: 'viewer' });
    const [, response] = await once(late.ws, 'unexpected-response');
    expect(response.statusCode).toBe(503);
  });

  it('without a close frame if a message is far too long or not UTF-8', async () => {
    const long = await new Client('/ws', { token: 'viewer' }).open();
    long.say('x'.repeat(8 * limits.maxSocketMessageBytes));
    expect((await long.closed).code).toBe(1006);
    expect(reached).toEqual(['maxSocketMessageBytes']);
    const broken = dial('/ws', ['Authorization: Bearer viewer']);
    await once(broken, 'data');
    broken.write(Buffer.from([0x81, 0x82, 0, 0, 0, 0, 0xff, 0xfe]));
    await once(broken, 'close');
    await waitFor(() => sockets.count() === 0);
  });
});

describe('a stream path', () => {
  it('is subscribed immediately, with its query as filters', async () => {
    const client = new Client(`${stream}?dst_port=443&dst_port=22&src_ip=10.0.0.0%2F8`, { token: 'viewer' });
    await client.subscribed();
    expect(client.messages[0]).toEqual({
      type: 'subscribed',
      id: 'events.network',
      channel: 'events.network',
      filters: { dst_port: ['443', '22'], src_ip: ['10.0.0.0/8'] },
      seq: 0,
    });
    publish([443, 80, 22]);
    await client.until(() => client.seqs.length === 2);
    expect(client.seqs).toEqual([1, 3]);
  });

  it('waits for credentials in the first message', async () => {
    const client = await new Client(`${stream}?dst_port=443`).open();
    publish([443]);
    client.say({ type: 'auth', token: 'viewer' });
    await client.subscribed();
    publish([443]);
    await client.until(() => client.seqs.length > 0);
    expect(client.seqs).toEqual([2]);
  });

  it('sends all matches after `since`, then new matches, without gap or repetition', async () => {
    const ports = Array.from({ length: 2000 }, (_, n) => (n % 2 === 0 ? 443 : 80));
    publish(ports);
    // More commits than the hub keeps in memory.
    for (let n = 0; n < 2 * limits.maxRecentBatches; n++) publish([443]);
    const client = new Client(`${stream}?dst_port=443&since=500`, { token: 'viewer' });
    await client.subscribed();
    expect(client.messages[0]?.filters).toEqual({ dst_port: ['443'] });
    for (let n = 0; n < 50; n++) {
      publish([443, 80]);
      if (n % 10 === 0) await new Promise((resolve) => setTimeout(resolve, 1));
    }
    const due = blocks
      .flatMap(({ buffer, first_seq, rows }) => {
        const block = openBlock(buffer, first_seq);
        return Array.from({ length: rows }, (_, row) => ({
          seq: first_seq + row,
          port: block.numbers('dst_port').at(row),
        }));
      })
      .filter(({ seq, port }) => seq > 500 && port === 443)
      .map(({ seq }) => seq);
    await client.until(() => client.seqs.length >= due.length);
    expect(client.seqs).toEqual(due);
  });

  it('closes with 4400 if `since` is beyond the head', async () => {
    const client = new Client(`${stream}?since=1`, { token: 'viewer' });
    expect((await client.closed).code).toBe(4400);
  });
});

describe('a stalled reader', () => {
  it('is skipped, gets a lagged message once it reads, and delays no other client', async () => {
    const [stalled, quick] = [new Client(stream, { token: 'viewer' }), new Client(stream, { token: 'viewer' })];
    await Promise.all([stalled.subscribed(), quick.subscribed()]);
    stalled.ws.pause();
    const history = 'S'.repeat(4000);
    // The system buffers some megabytes before the service counts the first unread byte.
    while (!reached.includes('maxSocketBacklogBytes')) {
      publish(
        Array.from({ length: 20 }, () => 443),
        history,
      );
      const far = head - 200;
      await quick.until(() => quick.seqs.length >= far);
    }
    await quick.until(() => quick.seqs.length === head);
    expect(quick.messages.some(({ type }) => type === 'lagged')).toBe(false);
    stalled.ws.resume();
    await stalled.until((messages) => messages.at(-1)?.type === 'lagged');
    publish([443]);
    await stalled.until(() => stalled.seqs.at(-1) === head);
    let expected = 0;
    let lagged = 0;
    for (const { type, seq, dropped } of stalled.messages) {
      if (type === 'lagged') lagged += dropped as number;
      if (type !== 'event') continue;
      expected += 1 + lagged;
      lagged = 0;
      expect(seq).toBe(expected);
    }
    expect(expected).toBe(head);
    expect(stalled.messages.filter(({ type }) => type === 'lagged').length).toBeGreaterThan(0);
  });

  it('gets time to read before its socket is closed, and is disconnected if it still does not read', {
    timeout: 4 * limits.socketCloseGraceMs,
  }, async () => {
    const [slow, stalled] = [new Client(stream, { token: 'viewer-a' }), new Client(stream, { token: 'viewer-b' })];
    await Promise.all([slow.subscribed(), stalled.subscribed()]);
    for (const { ws } of [slow, stalled]) ws.pause();
    const history = 'S'.repeat(4000);
    for (let n = 0; n < 300; n++) {
      publish(
        Array.from({ length: 10 }, () => 443),
        history,
      );
      await new Promise((resolve) => setImmediate(resolve));
    }
    sockets.revoked('viewer-a');
    sockets.revoked('viewer-b');
    const before = head;
    publish([443]);
    slow.ws.resume();
    expect((await slow.closed).code).toBe(4401);
    expect(slow.messages.at(-1)).toMatchObject({ type: 'error', error: { code: 'UNAUTHENTICATED' } });
    expect(slow.seqs).not.toContain(before + 1);
    await waitFor(() => sockets.count() === 0);
    expect(reached).toContain('socketCloseGraceMs');
  });
});

it('unauthenticated clients count towards the limit of sockets, and free their places when they disconnect', async () => {
  // The limit of sockets is lower than the limit of unauthenticated clients.
  for (let n = 0; n < maxSockets; n++) await new Client('/ws').open();
  expect((await new Client('/ws').closed).code).toBe(4429);
  clients[0]?.terminate();
  await waitFor(() => sockets.count() < maxSockets);
  const client = await new Client('/ws', { token: 'viewer' }).open();
  client.say({ type: 'ping' });
  await client.until((messages) => messages.some(({ type }) => type === 'pong'));
});

it('sockets whose credentials are being checked have a separate limit', async () => {
  await server.close();
  const most = limits.maxUnauthenticatedSockets;
  await start(3 * most);
  for (let n = 0; n < most; n++) dial('/ws', ['Authorization: Bearer slow']);
  await waitFor(() => sockets.count() === most);
  expect((await new Client('/ws', { token: 'viewer' }).closed).code).toBe(4429);
  expect(reached).toEqual(['maxUnauthenticatedSockets']);
  await new Client('/ws').open();
  endSlow();
  await waitFor(() => sockets.count() === 1);
  await new Client('/ws', { token: 'viewer' }).admitted();
});

it.each([
  ['refused', ['Authorization: Bearer nobody'], Buffer.alloc(0)],
  ['closed by their clients with a close frame', [], Buffer.from([0x88, 0x80, 1, 2, 3, 4])],
])(
  'sockets %s, whose clients never close their side, count as open beyond the limit of lingering sockets',
  async (_, headers, said) => {
    const lingering = limits.maxClosingSocketsPerAddress;
    for (let n = 0; n < lingering + 20; n++) {
      const socket = dial('/ws', headers, { allowHalfOpen: true });
      await once(socket, 'data');
      socket.resume().write(said);
    }
    await waitFor(() => sockets.count() === 0);
    expect(connections.openFrom('127.0.0.1')).toBe(20);
  },
);
