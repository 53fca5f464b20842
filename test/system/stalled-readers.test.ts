/**
 * Clients that request much data without reading it, by exports and live subscriptions. Unsent data is
 * limited, other clients are served, and stalled clients are disconnected or informed of the gap.
 */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { login, type Service, startService, tokenFor } from '../../scripts/service.ts';
import { limits } from '../../src/limits.ts';
import { call, list } from './call.ts';
import { ownToken } from './own-principal.ts';
import { ship, shipment, storedUids } from './shipper.ts';

let service: Service;
let sensor: string;
let viewers: string[];
let stored = 0;

beforeAll(async () => {
  service = await startService({ env: { CANDOR_THREADS_ANALYTICS: '2' } });
  sensor = await tokenFor(service, 'sensor');
  const admin = await login(service);
  viewers = await Promise.all(Array.from({ length: 4 }, () => ownToken(service, admin, 'viewer')));
});
afterAll(async () => {
  expect(await service.stop()).toBe(0);
  expect(service.output.filter((line) => /"level":[456]0/.test(line))).toEqual([]);
});

async function store(name: string, bodies: number, perBody: number): Promise<void> {
  for (let n = 0; n < bodies; n++) await ship(service.url, sensor, shipment(`${name}-${n}`, perBody));
  stored += bodies * perBody;
}

/** Requests all events, one per line, and does not read the response. */
async function askAndStall(token: string): Promise<Socket> {
  const socket = connect({ port: Number(new URL(service.url).port), host: '127.0.0.1' });
  socket.on('error', () => undefined).pause();
  await once(socket, 'connect');
  socket.write(
    `GET /api/v1/events/network HTTP/1.1\r\nHost: x\r\nAccept: application/x-ndjson\r\nAuthorization: Bearer ${token}\r\n\r\n`,
  );
  return socket;
}

/**
 * Requests exports without reading them until one is refused. Each started export keeps its slot until its
 * client is disconnected.
 */
async function stallUntilRefused(token: string, status: 429 | 503): Promise<Socket[]> {
  const begun: Socket[] = [];
  for (;;) {
    const socket = await askAndStall(token);
    const answer = await begins(socket);
    if (answer.startsWith('HTTP/1.1 200')) {
      begun.push(socket);
      continue;
    }
    expect(answer).toMatch(new RegExp(`^HTTP/1.1 ${status} .*\\r\\nretry-after: `, 'is'));
    socket.destroy();
    return begun;
  }
}

/** Returns the first bytes of a response. */
async function begins(socket: Socket): Promise<string> {
  for (;;) {
    const bytes = socket.read() as Buffer | null;
    if (bytes !== null) return bytes.toString('latin1');
    await once(socket, 'readable');
  }
}

async function gauge(name: string): Promise<number> {
  const { body } = await call(service, 'getMetrics');
  return Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(String(body))?.[1]);
}

test('exports that are not read start up to a limit, further exports get a Retry-After, and other requests are served', async () => {
  // These events are more than the system buffers for a connection whose client does not read.
  await store('long', 12, 4000);
  const stalled: Socket[] = [];
  for (const viewer of viewers.slice(0, 2)) stalled.push(...(await stallUntilRefused(viewer, 429)));
  while ((await gauge('candor_http_unsent_bytes')) === 0) await pause(50);
  stalled.push(...(await stallUntilRefused(viewers[2]!, 503)));

  await store('beside', 20, 100);
  expect((await list(service, 'listNetworkEvents', viewers[0]!, 'per_page=1000')).pagination.total).toBe(stored);
  expect((await call(service, 'getHealth')).status).toBe(200);
  const unsent = await gauge('candor_http_unsent_bytes');
  // Each export may hold one part: the events of a page, each less than a kilobyte.
  expect(unsent).toBeLessThan(limits.maxExports * limits.maxPerPage * 1024);
  expect(service.peakRssAnonMiB()).toBeLessThan(600);

  // Each client is disconnected without the end of its response, and its slot is free again.
  while ((await gauge('candor_http_unsent_bytes')) > 0) await pause(200);
  expect(await storedUids(service, viewers[3]!)).toHaveLength(stored);
  await Promise.all(
    stalled.map(async (socket) => {
      let tail = '';
      socket.on('data', (bytes) => {
        tail = (tail + bytes.toString('latin1')).slice(-5);
      });
      socket.resume();
      await once(socket, 'close');
      expect(tail).not.toBe('0\r\n\r\n');
    }),
  );
});

test('an export with a slow reader completes', async () => {
  const socket = await askAndStall(viewers[0]!);
  let received = 0;
  let tail = '';
  socket.on('data', (bytes) => {
    received += bytes.length;
    tail = (tail + bytes.toString('latin1')).slice(-5);
    socket.pause();
    setTimeout(() => socket.resume(), 2);
  });
  socket.resume();
  while (tail !== '0\r\n\r\n') {
    if (socket.closed) throw new Error(`closed after ${received} bytes`);
    await pause(50);
  }
  socket.destroy();
});

test('subscribers that stop reading skip messages and are informed; a subscriber that reads gets all messages', async () => {
  const open = async () => {
    const ws = new WebSocket(`${service.url.replace('http', 'ws')}/api/v1/events/network/stream`, {
      headers: { authorization: `Bearer ${viewers[1]!}` },
    });
    const [message] = await once(ws, 'message');
    expect(JSON.parse(String(message)).type).toBe('subscribed');
    return ws;
  };
  const stalled = await Promise.all(Array.from({ length: 30 }, open));
  for (const ws of stalled) ws.pause();
  const reader = await open();
  const heard = new Map<string, number>();
  reader.on('message', (data) => {
    const { type } = JSON.parse(String(data)) as { type: string };
    heard.set(type, (heard.get(type) ?? 0) + 1);
  });
  const events = 16_000;
  await store('live', events / 200, 200);
  while ((heard.get('event') ?? 0) < events) await pause(50);
  expect([...heard.keys()]).toEqual(['event']);
  expect(await gauge('candor_sockets')).toBe(stalled.length + 1);
  expect(service.peakRssAnonMiB()).toBeLessThan(600);

  // The subscribers read again: they receive some of the messages, and the number of missed messages.
  await Promise.all(
    stalled.map(async (ws) => {
      let seen = 0;
      const dropped = new Promise<number>((resolve) => {
        ws.on('message', (data) => {
          const message = JSON.parse(String(data)) as { type: string; dropped: number };
          if (message.type === 'event') seen++;
          if (message.type === 'lagged') resolve(message.dropped);
        });
      });
      ws.resume();
      expect(await dropped).toBeGreaterThan(0);
      expect(seen).toBeGreaterThan(0);
    }),
  );
  for (const ws of [...stalled, reader]) ws.terminate();
});
