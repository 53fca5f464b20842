import { once } from 'node:events';
import { Agent, get as httpsGet } from 'node:https';
import { connect as connectTls } from 'node:tls';
import { afterAll, afterEach, describe, expect, test, vi } from 'vitest';
import { WebSocket } from 'ws';
import { type ConnectionSource, Connections } from '../../src/admission/connections.ts';
import { data } from '../../src/http/reply.ts';
import type { SocketFront } from '../../src/http/server.ts';
import type { TemplatedApp } from '../../src/http/uws.ts';
import { type LimitName, limits } from '../../src/limits.ts';
import { echo, eventually, get, serve, stopAll, untilClosed, Wire } from './serve.ts';
import { Authority, temporaryFolder, withoutOpenssl } from './tls-certificates.ts';

afterEach(stopAll);

const here = '127.0.0.1';
const request = (line: string) => `${line} HTTP/1.1\r\nHost: x\r\n\r\n`;
const upgrade = [
  'GET /ws HTTP/1.1',
  'Host: x',
  'Connection: Upgrade',
  'Upgrade: websocket',
  'Sec-WebSocket-Version: 13',
  'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
  '\r\n',
].join('\r\n');
const later = get('/later', async () => {
  await new Promise((resolve) => setTimeout(resolve, 20));
  return data('late');
});
/** An endpoint whose response is too large for a single write to a socket. */
const large = get('/large', () => data('x'.repeat(3_000_000)));
const endpoints = [get('/ok', () => data('fine')), later, large, echo()];

/**
 * Requests that ask the server to close the connection. uWebSockets.js closes it within the last write, and
 * responds to HTTP/1.0 itself, with 505.
 */
const lastRequests = ['GET /ok', 'GET /later', 'GET /large', 'HEAD /large', 'HEAD /later', 'OPTIONS /ok'].flatMap(
  (line) => [`${line} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`, `${line} HTTP/1.0\r\nHost: x\r\n\r\n`],
);
const nameOf = (asked: string) => asked.trimEnd().replaceAll('\r\n', ', ');

/** Adds a WebSocket route that only reports to the HTTP server what it must. */
const sockets = (app: TemplatedApp, front: SocketFront) =>
  void app.ws('/ws', {
    upgrade(res, req, context) {
      if (req.getQuery() === 'no') {
        front.refuse(new Error('refused'));
        req.setYield(true);
        return;
      }
      res.upgrade({}, req.getHeader('sec-websocket-key'), '', '', context);
    },
    close: () => front.connections.ended(here),
  });

/** Returns the bytes received on a TLS connection until it was closed. */
async function overTls(port: number, asked: string): Promise<string> {
  const socket = connectTls({ port, host: here, rejectUnauthorized: false });
  let received = '';
  socket.setEncoding('latin1').on('data', (text: string) => {
    received += text;
  });
  socket.on('error', () => undefined).write(asked);
  await once(socket, 'close');
  return received;
}

async function counted(options: { max?: number; maxPerAddress?: number } = {}) {
  const reached: LimitName[] = [];
  const connections = new Connections({ ...options, limitReached: (limit) => reached.push(limit) });
  return { ...(await serve(endpoints, { connections, sockets })), connections, reached };
}

/** Lifecycles of a connection. Each function resolves when the client's side has ended. */
const lives: Record<string, (port: number) => Promise<void>> = {
  'opened and ended by the client': async (port) => (await Wire.open(port)).end(),
  'ended by the client within its headers': async (port) => {
    const wire = await Wire.open(port);
    wire.send('GET /ok HTTP/1.1\r\nHo');
    wire.end();
  },
  'ended by the client after a response': async (port) => {
    const wire = await Wire.open(port);
    wire.send(request('GET /ok'));
    await wire.until(/fine/);
    wire.end();
  },
  'ended by the client after several responses, some of them late': async (port) => {
    const wire = await Wire.open(port);
    for (const line of ['GET /ok', 'GET /later', 'HEAD /ok', 'OPTIONS /ok']) {
      const before = wire.received.length;
      wire.send(request(line));
      await eventually(() => wire.received.indexOf('\r\n\r\n', before) > 0);
    }
    wire.end();
  },
  'ended by the client before its response': async (port) => {
    const wire = await Wire.open(port);
    wire.send(request('GET /later'));
    wire.end();
  },
  'closed for an invalid request': async (port) => {
    const wire = await Wire.open(port);
    wire.send(request('GET /ok'));
    await wire.until(/fine/);
    wire.send('\x00\x01\r\n\r\n');
    await wire.untilClosed();
  },
  'closed for pipelining': async (port) => {
    const wire = await Wire.open(port);
    wire.send(request('GET /later') + request('GET /ok'));
    await wire.untilClosed();
  },
  'closed with its response': async (port) => {
    const wire = await Wire.open(port);
    wire.send('POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip\r\n\r\n');
    await wire.untilClosed();
  },
  'ended by the client after several methods without a route in one packet': async (port) => {
    const wire = await Wire.open(port);
    wire.send(request('BREW /ok').repeat(3));
    await wire.until(/( 405 [\s\S]*){3}/);
    wire.end();
  },
  'ended by the client after a method without a route and a request in one packet': async (port) => {
    const wire = await Wire.open(port);
    wire.send(request('BREW /ok') + request('GET /ok'));
    await wire.until(/fine/);
    wire.end();
  },
  'closed by the last of several responses in one packet': async (port) => {
    const wire = await Wire.open(port);
    wire.send('GET /ok HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n'.repeat(3));
    await wire.untilClosed();
  },
  'closed by a large last response, with a request behind it': async (port) => {
    const wire = await Wire.open(port);
    wire.send(`GET /large HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n${request('BREW /ok')}`);
    await wire.untilClosed();
  },
  'upgraded to a WebSocket after a method without a route in one packet': async (port) => {
    const wire = await Wire.open(port);
    wire.send(request('BREW /ok') + upgrade);
    await wire.until(/ 101 /);
    wire.end();
  },
  'a WebSocket and closed by the client': async (port) => {
    const socket = new WebSocket(`ws://${here}:${port}/ws`);
    await new Promise((resolve) => socket.once('open', resolve));
    socket.close();
    await new Promise((resolve) => socket.once('close', resolve));
  },
  'a WebSocket and cut off by the client': async (port) => {
    const socket = new WebSocket(`ws://${here}:${port}/ws`);
    await new Promise((resolve) => socket.once('open', resolve));
    socket.terminate();
  },
  'refused as a WebSocket': async (port) => {
    const socket = new WebSocket(`ws://${here}:${port}/ws?no`);
    const [, answer] = await new Promise<[unknown, { statusCode?: number | undefined }]>((resolve) =>
      socket.once('unexpected-response', (...args) => resolve(args)),
    );
    expect(answer.statusCode).toBe(500);
    socket.on('error', () => undefined).terminate();
  },
};

test.each(Object.keys(lives))('a connection that was %s is no longer counted', async (life) => {
  const { server, connections } = await counted();
  const other = await Wire.open(server.port);
  await eventually(() => connections.open === 1);
  await Promise.all(Array.from({ length: 5 }, () => lives[life]!(server.port)));
  await eventually(() => connections.open === 1 && connections.openFrom(here) === 1);
  other.end();
  await eventually(() => connections.open === 0 && connections.openFrom(here) === 0);
});

test.each([
  ['a request', 'GET /ok HTTP/1.1\r\nHost: x\r\n\r\n'],
  ['a request for a WebSocket', upgrade],
])('a connection that is reset while %s waits to be processed is no longer counted', async (_, second) => {
  let reset: () => void = () => undefined;
  const endpoint = get('/reset', () => {
    reset();
    return data('reset');
  });
  const connections = new Connections({ limitReached: () => undefined });
  const { server, answered } = await serve([endpoint, ...endpoints], { connections, sockets });
  const wire = await Wire.open(server.port);
  reset = () => void wire.socket.resetAndDestroy();
  wire.send(request('GET /reset') + second);
  await eventually(() => connections.open === 0);
  expect([connections.openFrom(here), connections.openFrom('')]).toEqual([0, 0]);
  expect(answered.map(({ operation }) => operation)).toEqual(['reset']);
});

test.each(lastRequests.map((asked) => [nameOf(asked), asked] as const))(
  'a connection closed with its response is no longer counted: %s',
  async (_, asked) => {
    const { server, connections } = await counted();
    const other = await Wire.open(server.port);
    const answers = await Promise.all(Array.from({ length: 5 }, () => untilClosed(server.port, asked)));
    for (const answer of answers) expect(answer).toMatch(/^HTTP\/1.1 (20|505)/);
    await eventually(() => connections.open === 1 && connections.openFrom(here) === 1);
    other.end();
    await eventually(() => connections.open === 0 && server.inFlight === 0);
  },
);

test('all counts return to zero after concurrent connections of every lifecycle', async () => {
  const { server, connections } = await counted();
  for (let round = 0; round < 10; round++) {
    await Promise.all(Object.values(lives).map((live) => live(server.port)));
  }
  await eventually(() => connections.open === 0 && server.inFlight === 0);
  expect(connections.openFrom(here)).toBe(0);
});

test.each([
  ['maxConnections', { max: 3, maxPerAddress: 0 }],
  ['maxConnectionsPerAddress', { maxPerAddress: 3 }],
] as const)('beyond %s, new connections are closed until there is room', async (limit, options) => {
  const { server, connections, reached } = await counted(options);
  const open = await Promise.all([1, 2, 3].map(() => Wire.open(server.port)));
  await eventually(() => connections.open === 3);
  const refused = await Wire.open(server.port);
  refused.send(request('GET /ok'));
  expect(await refused.untilClosed()).toBe('');
  expect(reached).toEqual([limit]);
  open[0]!.send(request('GET /ok'));
  await open[0]!.until(/fine/);
  open[1]!.end();
  await eventually(() => connections.open === 2);
  const next = await Wire.open(server.port);
  next.send(request('GET /ok'));
  await next.until(/fine/);
  for (const wire of [...open, next]) wire.end();
  await eventually(() => connections.open === 0);
});

/** Returns connection counts, and a function that reports connections as the HTTP server would. */
function reported(options: Partial<ConstructorParameters<typeof Connections>[0]> = {}) {
  const connections = new Connections({ limitReached: () => undefined, ...options });
  let filter: (res: ConnectionSource, count: number) => void = () => undefined;
  connections.watch({
    filter(handler) {
      filter = handler;
    },
  });
  const source = (address: string): ConnectionSource => ({
    getRemoteAddressAsText: () => Uint8Array.from(Buffer.from(address)).buffer,
    onAborted: () => undefined,
    close: () => undefined,
  });
  return { connections, report: (address: string, count: number) => filter(source(address), count) };
}

test('more closes than opens leave counts at zero, lock out no client, and are reported once', () => {
  const reached: LimitName[] = [];
  let miscounts = 0;
  const { connections, report } = reported({
    max: 2,
    maxPerAddress: 2,
    limitReached: (limit) => reached.push(limit),
    onMiscount: () => miscounts++,
  });
  for (let n = 0; n < 3; n++) {
    report('192.0.2.1', -1);
    connections.lost('192.0.2.1');
    connections.ended('192.0.2.1');
  }
  expect([connections.open, connections.openFrom('192.0.2.1'), miscounts]).toEqual([0, 0, 1]);
  report('192.0.2.1', 1);
  report('192.0.2.1', 1);
  expect([connections.open, connections.openFrom('192.0.2.1'), reached]).toEqual([2, 2, []]);
});

test('a limited number of ended WebSockets linger without being counted; further ones are counted until they have lingered', () => {
  vi.useFakeTimers();
  try {
    const { connections, report } = reported({ maxPerAddress: 0 });
    const lives = (address: string, count: number) => {
      for (let n = 0; n < count; n++) {
        report(address, 1);
        connections.ended(address);
      }
    };
    const most = limits.maxClosingSocketsPerAddress;
    lives('192.0.2.1', most + 10);
    expect([connections.open, connections.openFrom('192.0.2.1')]).toEqual([10, 10]);
    const addresses = Math.ceil(limits.maxClosingSockets / most);
    for (let n = 2; n <= addresses; n++) lives(`192.0.2.${n}`, most);
    lives('192.0.2.100', 5);
    expect([connections.open, connections.openFrom('192.0.2.100')]).toEqual([15, 5]);
    vi.advanceTimersByTime(limits.closingSocketMs);
    expect([connections.open, connections.openFrom('192.0.2.1')]).toEqual([0, 0]);
    lives('192.0.2.1', most);
    expect(connections.open).toBe(0);
  } finally {
    vi.useRealTimers();
  }
});

describe.skipIf(withoutOpenssl !== undefined)('over TLS', () => {
  const folder = temporaryFolder();
  afterAll(() => folder.remove());

  test('connections closed with their response are no longer counted', async () => {
    const authority = Authority.root(folder.path, 'closing');
    const connections = new Connections({ limitReached: () => undefined });
    const { server } = await serve(endpoints, { connections, tls: authority.server('closing-server') });
    for (const asked of lastRequests) {
      const answers = await Promise.all([1, 2, 3].map(() => overTls(server.port, asked)));
      for (const answer of answers) expect(answer, nameOf(asked)).toMatch(/^HTTP\/1.1 (20|505)/);
      await eventually(() => connections.open === 0 && connections.openFrom(here) === 0);
    }
  });

  test('connections are counted: without a handshake, with an invalid handshake, for requests and for WebSockets', async () => {
    const authority = Authority.root(folder.path, 'root');
    const reached: LimitName[] = [];
    const connections = new Connections({ maxPerAddress: 3, limitReached: (limit) => reached.push(limit) });
    const { server } = await serve(endpoints, { connections, sockets, tls: authority.server('server') });
    const silent = await Wire.open(server.port);
    await eventually(() => connections.open === 1);
    const bad = await Wire.open(server.port);
    bad.send(request('GET /ok'));
    await bad.untilClosed();
    await eventually(() => connections.open === 1);

    const agent = new Agent({ keepAlive: true, rejectUnauthorized: false, maxSockets: 1 });
    const ask = () =>
      new Promise<number | undefined>((resolve, reject) => {
        httpsGet(`https://${here}:${server.port}/ok`, { agent }, (answer) => {
          answer.resume().once('end', () => resolve(answer.statusCode));
        }).on('error', reject);
      });
    expect([await ask(), await ask()]).toEqual([200, 200]);
    expect(connections.openFrom(here)).toBe(2);
    const socket = new WebSocket(`wss://${here}:${server.port}/ws`, { rejectUnauthorized: false });
    await new Promise((resolve) => socket.once('open', resolve));
    expect([connections.openFrom(here), reached]).toEqual([3, []]);
    expect(await untilClosed(server.port, '')).toBe('');
    expect(reached).toEqual(['maxConnectionsPerAddress']);

    agent.destroy();
    silent.end();
    socket.terminate();
    await eventually(() => connections.open === 0 && connections.openFrom(here) === 0);
  });
});
