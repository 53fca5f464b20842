import { afterEach, expect, onTestFinished, test, vi } from 'vitest';
import { jsonText } from '../../src/http/reply.ts';
import { limits } from '../../src/limits.ts';
import { eventually, get, serve, stopAll, Wire } from './serve.ts';

afterEach(stopAll);

const size = 20 * 2 ** 20;
const large = Buffer.alloc(size, 'abcdefghijklmnopqrstuvwxyz');
const big = get('/big', () => jsonText(large));

test('a response larger than any socket buffer arrives completely at a slow reader', async () => {
  const { server } = await serve([big]);
  const wire = await Wire.open(server.port);
  wire.socket.pause();
  wire.send('GET /big HTTP/1.1\r\nHost: x\r\n\r\n');
  await eventually(() => server.inFlight === 1);
  await new Promise((resolve) => setTimeout(resolve, 100));
  expect(server.inFlight).toBe(1);
  wire.socket.resume();
  await eventually(() => wire.received.length >= size && server.inFlight === 0);
  const body = wire.received.slice(wire.received.indexOf('\r\n\r\n') + 4);
  expect(body.length).toBe(size);
  expect(Buffer.from(body, 'latin1').equals(large)).toBe(true);
  wire.send('GET /nothing HTTP/1.1\r\nHost: x\r\n\r\n');
  await wire.until(/NOT_FOUND/);
  wire.end();
});

test('a reader that disconnects in the middle of a response ends its request', async () => {
  const { server } = await serve([big]);
  for (let n = 0; n < 5; n++) {
    const wire = await Wire.open(server.port);
    wire.socket.pause();
    wire.send('GET /big HTTP/1.1\r\nHost: x\r\n\r\n');
    await eventually(() => server.inFlight === 1);
    wire.end();
    await eventually(() => server.inFlight === 0);
  }
});

test('stalled readers are disconnected when too much data waits for them', async () => {
  const begun = vi.spyOn(globalThis, 'setTimeout');
  const ended = vi.spyOn(globalThis, 'clearTimeout');
  onTestFinished(() => void vi.restoreAllMocks());
  const { server, limitsReached, url } = await serve([big, get('/ok', () => jsonText('1'))]);
  const wires: Wire[] = [];
  const readers = Math.ceil(limits.maxUnsentReplyBytes / size) + 2;
  for (let n = 0; n < readers; n++) {
    const wire = await Wire.open(server.port);
    wire.socket.pause();
    wire.send('GET /big HTTP/1.1\r\nHost: x\r\n\r\n');
    wires.push(wire);
  }
  await eventually(() => limitsReached.includes('maxUnsentReplyBytes'));
  expect(server.inFlight).toBeLessThan(readers);
  expect((await fetch(`${url}/ok`)).status).toBe(200);
  for (const wire of wires) wire.end();
  await eventually(() => server.inFlight === 0);
  // A deadline must not outlive its response: it would use a freed response, and uWebSockets.js would throw.
  const deadlines = begun.mock.calls.flatMap(([, ms], n) =>
    ms === limits.replyTimeoutMs ? [begun.mock.results[n]?.value] : [],
  );
  expect(deadlines.length).toBeGreaterThan(1);
  const over = ended.mock.calls.map(([timer]) => timer);
  expect(deadlines.filter((timer) => !over.includes(timer))).toEqual([]);
});
