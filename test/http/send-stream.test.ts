import { afterEach, expect, test } from 'vitest';
import type { Chunks, Reply } from '../../src/http/reply.ts';
import { limits } from '../../src/limits.ts';
import { eventually, get, serve, stopAll, Wire } from './serve.ts';

afterEach(stopAll);

/** A body that counts how many of its parts were requested. */
class Counted implements Chunks {
  asked = 0;
  closed = 0;
  readonly #parts: number;
  readonly #bytes: number;

  constructor(parts: number, bytes: number) {
    this.#parts = parts;
    this.#bytes = bytes;
  }

  async next(): Promise<Uint8Array | undefined> {
    if (this.asked === this.#parts) return undefined;
    this.asked++;
    return new Uint8Array(Buffer.alloc(this.#bytes, String(this.asked % 10)));
  }

  close(): void {
    this.closed++;
  }
}

const stream = (chunks: Chunks): Reply => ({
  kind: 'stream',
  mediaType: 'application/x-ndjson',
  chunks,
  headers: [['Content-Disposition', 'attachment']],
});
const request = (path: string, method = 'GET') => `${method} ${path} HTTP/1.1\r\nHost: x\r\n\r\n`;

test('a body of unknown length arrives completely, and the connection serves the next request', async () => {
  const body = new Counted(200, 100_000);
  const { server, url, answered } = await serve([get('/all', () => stream(body))]);
  const answer = await fetch(`${url}/all`);
  expect([answer.status, answer.headers.get('content-type'), answer.headers.get('content-length')]).toEqual([
    200,
    'application/x-ndjson',
    null,
  ]);
  const text = await answer.text();
  expect(text.length).toBe(200 * 100_000);
  expect(text.slice(99_999, 100_001)).toBe('12');
  expect([body.closed > 0, server.inFlight]).toEqual([true, 0]);
  const wire = await Wire.open(server.port);
  wire.send(request('/all'));
  await wire.until(/0\r\n\r\n$/);
  wire.send(request('/nothing'));
  await wire.until(/NOT_FOUND/);
  wire.end();
  expect(answered.map(({ status }) => status)).toEqual([200, 200, 404]);
});

test('empty parts are skipped; a body without parts is empty', async () => {
  const parts = ['', 'a\n', '', 'b\n', ''].map((text) => new TextEncoder().encode(text));
  const body = { next: async () => parts.shift(), close: () => undefined };
  const { url } = await serve([get('/some', () => stream(body))]);
  expect(await (await fetch(`${url}/some`)).text()).toBe('a\nb\n');
  expect(await (await fetch(`${url}/some`)).text()).toBe('');
});

test('a stream generates only as much as fits into the buffers if the client does not read', async () => {
  const body = new Counted(10_000, 256 * 1024);
  const { server } = await serve([get('/all', () => stream(body))]);
  const wire = await Wire.open(server.port);
  wire.socket.pause();
  wire.send(request('/all'));
  let asked = -1;
  while (asked !== body.asked) {
    asked = body.asked;
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  expect(body.asked * 256 * 1024).toBeLessThan(32 * 2 ** 20);
  expect([server.inFlight, body.closed]).toEqual([1, 0]);
  wire.end();
  await eventually(() => server.inFlight === 0);
  expect(body.closed).toBeGreaterThan(0);
});

test('a client that disconnects while a part is generated does no harm', async () => {
  let part: ((bytes: Uint8Array) => void) | undefined;
  let closed = 0;
  const body: Chunks = {
    next: () =>
      new Promise((resolve) => {
        part = resolve;
      }),
    close: () => {
      closed++;
    },
  };
  const { server, url, logged } = await serve([
    get('/slow', () => stream(body)),
    get('/ok', () => stream(new Counted(1, 1))),
  ]);
  const wire = await Wire.open(server.port);
  wire.send(request('/slow'));
  await wire.until(/200 OK/);
  wire.end();
  await eventually(() => server.inFlight === 0);
  expect(closed).toBeGreaterThan(0);
  part?.(new Uint8Array(10));
  expect(await (await fetch(`${url}/ok`)).text()).toBe('1');
  expect(logged).toEqual([]);
});

test('the body is closed unread if the client disconnects before the response begins', async () => {
  const body = new Counted(1, 1);
  let answer: ((reply: Reply) => void) | undefined;
  const waiting = new Promise<Reply>((resolve) => {
    answer = resolve;
  });
  const { server } = await serve([get('/late', () => waiting)]);
  const wire = await Wire.open(server.port);
  wire.send(request('/late'));
  await eventually(() => server.inFlight === 1);
  wire.end();
  await eventually(() => server.inFlight === 0);
  answer?.(stream(body));
  await eventually(() => body.closed > 0);
  expect(body.asked).toBe(0);
});

test('a failing body truncates the response, closes the connection, and is logged', async () => {
  let parts = 0;
  const body: Chunks = {
    next: async () => {
      if (++parts > 2) {
        await new Promise((resolve) => setTimeout(resolve, 50));
        throw new Error('broken');
      }
      return new TextEncoder().encode('line\n');
    },
    close: () => undefined,
  };
  const { server, logged } = await serve([get('/broken', () => stream(body))]);
  const wire = await Wire.open(server.port);
  wire.send(request('/broken'));
  const received = await wire.untilClosed();
  expect(received).toMatch(/line\n\r\n5\r\nline\n(\r\n)?$/);
  expect(server.inFlight).toBe(0);
  expect(logged).toMatchObject([{ operation: 'broken', err: { message: 'broken' } }]);
});

test('HEAD has the headers, and generates nothing', async () => {
  const body = new Counted(5, 5);
  const { server } = await serve([get('/all', () => stream(body)), get('/ok', () => stream(new Counted(1, 1)))]);
  const wire = await Wire.open(server.port);
  wire.send(request('/all', 'HEAD'));
  expect(await wire.until(/\r\n\r\n/)).toMatch(/200 OK[\s\S]*Content-Disposition: attachment/);
  wire.send(request('/ok'));
  await wire.until(/1\r\n0\r\n\r\n$|1\r\n1\r\n0\r\n\r\n$/);
  wire.end();
  expect([body.asked, body.closed > 0]).toEqual([0, true]);
  await eventually(() => server.inFlight === 0);
});

test('stalled readers are disconnected when too much data waits for them', async () => {
  const bytes = 20 * 2 ** 20;
  const { server, limitsReached } = await serve([get('/all', () => stream(new Counted(10, bytes)))]);
  const wires: Wire[] = [];
  for (let n = 0; n < Math.ceil(limits.maxUnsentReplyBytes / bytes) + 2; n++) {
    const wire = await Wire.open(server.port);
    wire.socket.pause();
    wire.send(request('/all'));
    wires.push(wire);
  }
  await eventually(() => limitsReached.includes('maxUnsentReplyBytes'));
  expect(server.inFlight).toBeLessThan(wires.length);
  for (const wire of wires) wire.end();
  await eventually(() => server.inFlight === 0);
});
