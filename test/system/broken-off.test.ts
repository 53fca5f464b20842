/**
 * Shippers that disconnect in the middle of a request, a hundred at the same time and in every way: incomplete
 * bodies are not stored, their memory is released, and the service accepts as much as before.
 */
import { once } from 'node:events';
import { Agent } from 'node:http';
import { connect, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Service, startService, tokenFor } from '../../scripts/service.ts';
import { call, list } from './call.ts';
import { flows, type Met, sendOnce, ship, shipment, storedUids, uidsOf } from './shipper.ts';

const atOnce = 100;
/** Limit so low that leaks are noticed: a hundred unfinished bodies with 4 kB each take half of these bytes. */
const inFlightBytes = 0.75 * 2 ** 20;
let service: Service;
let sensor: string;
let viewer: string;
/** An agent without keep-alive, because open connections are counted. */
const agent = new Agent();
/** Acknowledged uids: exactly these must be stored. */
const kept: string[] = [];

beforeAll(async () => {
  service = await startService({ env: { CANDOR_LIMITS_MAX_INGEST_IN_FLIGHT_BYTES: String(inFlightBytes) } });
  sensor = await tokenFor(service, 'sensor');
  viewer = await tokenFor(service, 'viewer');
});
afterAll(async () => {
  expect(await service.stop()).toBe(0);
  expect(service.output.filter((line) => /"level":[56]0/.test(line))).toEqual([]);
  expect(service.peakRssAnonMiB()).toBeLessThan(500);
});

async function open(): Promise<Socket> {
  const socket = connect({ port: Number(new URL(service.url).port), host: '127.0.0.1' });
  socket.on('error', () => undefined).resume();
  await once(socket, 'connect');
  return socket;
}

const head = (...headers: string[]) =>
  [
    'POST /api/v1/ingest HTTP/1.1',
    'Host: x',
    `Authorization: Bearer ${sensor}`,
    'Content-Type: application/x-ndjson',
    ...headers,
    '\r\n',
  ].join('\r\n');

/** Returns the bytes in chunks, without the empty chunk that ends a body. */
const inChunks = (bytes: Uint8Array): Uint8Array =>
  Buffer.concat(
    Array.from({ length: Math.ceil(bytes.length / 1000) }, (_, n) => {
      const chunk = bytes.subarray(n * 1000, (n + 1) * 1000);
      return Buffer.concat([Buffer.from(`${chunk.length.toString(16)}\r\n`), chunk, Buffer.from('\r\n')]);
    }),
  );

async function gauge(name: string): Promise<number> {
  const { body } = await call(service, 'getMetrics');
  return Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(String(body))?.[1]);
}

/** Waits until disconnected clients have left no resources in use, and bodies are accepted immediately. */
async function expectRecovered(): Promise<void> {
  while ((await gauge('candor_ingest_body_bytes')) > 0) await pause(20);
  // The metrics request itself uses one request and one connection; `fetch` may keep more connections open.
  while ((await gauge('candor_http_requests_in_flight')) > 1) await pause(20);
  while ((await gauge('candor_http_connections')) > 10) await pause(20);
  const met: Met = {};
  // If bytes had leaked, these bodies together would exceed the limit.
  const full = Array.from({ length: 20 }, (_, n) => shipment(`full-${kept.length}-${n}`, 100));
  await Promise.all(full.map((one) => ship(service.url, sensor, one, met, { agent })));
  kept.push(...uidsOf(full));
  expect(met).toEqual({ '200': full.length });
  const { pagination } = await list(service, 'listNetworkEvents', viewer, 'per_page=1');
  expect(pagination.total).toBe(kept.length);
}

/** Names, and functions that return the bytes that the n-th client sends before it disconnects. */
const ways: readonly (readonly [string, (n: number) => readonly (string | Uint8Array)[]])[] = [
  ['in the middle of the request line', () => ['POST /api/v1/ing']],
  ['in the middle of the headers', () => [head().slice(0, -30)]],
  ['after the headers', () => [head('Content-Length: 100000')]],
  [
    'in the middle of a body of known length, after whole lines',
    (n) => [head('Content-Length: 100000'), flows(`half-${n}`, 20)],
  ],
  [
    'one byte before the end of a body',
    (n) => {
      const body = flows(`byte-${n}`, 20);
      return [head(`Content-Length: ${body.length + 1}`), body];
    },
  ],
  [
    'in the middle of a chunked body, after whole lines',
    (n) => [head('Transfer-Encoding: chunked'), inChunks(Buffer.from(flows(`chunk-${n}`, 20)))],
  ],
  [
    'in the middle of a chunk, and of its length',
    (n) => [
      head('Transfer-Encoding: chunked'),
      inChunks(Buffer.from(flows(`size-${n}`, 20))).subarray(0, -500),
      n % 2 ? '' : '\r\n4',
    ],
  ],
  [
    'in the middle of gzip',
    (n) => {
      const body = gzipSync(flows(`gzip-${n}`, 500));
      return [head('Content-Encoding: gzip', `Content-Length: ${body.length}`), body.subarray(0, body.length / 2)];
    },
  ],
  ['after 100 Continue (Expect: 100-continue)', () => [head('Content-Length: 100000', 'Expect: 100-continue')]],
];

describe.each([
  ['with a FIN', (socket: Socket) => void socket.destroy()],
  ['with a reset', (socket: Socket) => void socket.resetAndDestroy()],
])('the service recovers when a hundred clients disconnect at the same time, %s', (_how, leave) => {
  test.each(ways)('%s', async (_where, parts) => {
    const sockets = await Promise.all(Array.from({ length: atOnce }, open));
    for (const [n, socket] of sockets.entries()) for (const part of parts(n)) socket.write(part);
    // The clients must not disconnect before the service has accepted all connections.
    while ((await gauge('candor_http_connections')) < atOnce) await pause(10);
    for (const socket of sockets) leave(socket);
    await expectRecovered();
  });
});

test('a truncated gzip body in a complete request is rejected completely', async () => {
  const { uids } = shipment('cut', 2000);
  const body = gzipSync(flows('cut', 2000));
  const reply = await sendOnce(service.url, sensor, {
    key: 'cut',
    body: body.subarray(0, body.length / 2),
    uids,
    headers: { 'content-encoding': 'gzip' },
  });
  expect([reply.status, JSON.parse(reply.text).error.code]).toEqual([400, 'INVALID_REQUEST']);
  await expectRecovered();
});

test('a body whose sender disconnects before the response is stored completely or not at all, and once if sent again', async () => {
  const bodies = Array.from({ length: atOnce }, (_, n) => shipment(`gone-${n}`, 20));
  const sockets = await Promise.all(bodies.map(open));
  for (const [n, socket] of sockets.entries()) {
    const { body, key } = bodies[n]!;
    socket.write(head(`Content-Length: ${body.length}`, `Idempotency-Key: ${key}`));
    socket.end(body);
    socket.once('finish', () => socket.destroy());
  }
  await Promise.all(sockets.map((socket) => socket.closed || once(socket, 'close')));
  await Promise.all(bodies.map((body) => ship(service.url, sensor, body, {}, { agent })));
  kept.push(...uidsOf(bodies));
  await expectRecovered();
});

test('a slow body keeps its slot without delaying other requests, and is disconnected when it stops', async () => {
  const sockets = await Promise.all(Array.from({ length: atOnce }, open));
  for (const socket of sockets) socket.write(head('Content-Length: 1000'));
  const line = flows('slow', 1);
  for (let byte = 0; byte < 3; byte++) {
    for (const socket of sockets) socket.write(line[byte] ?? '');
    const one = shipment(`beside-${byte}`, 100);
    await ship(service.url, sensor, one, {}, { agent });
    kept.push(...one.uids);
  }
  // The clients stop sending, so uWebSockets.js closes the connections.
  await Promise.all(sockets.map((socket) => socket.closed || once(socket, 'close')));
  await expectRecovered();
});

test('incomplete bodies are not stored, and every acknowledged body is stored once', async () => {
  expect(await storedUids(service, viewer)).toEqual([...kept].sort());
});
