import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, createServer as createNetServer, type Server as NetServer, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type Loader, startLoader } from '../../bench/load/loader.ts';
import type { Plan } from '../../bench/load/plan.ts';

let server: Server;
let loader: Loader;
/** Received bodies with their responses, in order. */
let arrived: { readonly text: string; readonly answer: ServerResponse }[];
let onArrival: () => void;

beforeEach(async () => {
  arrived = [];
  server = createServer(async (request: IncomingMessage, answer) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    arrived.push({ text: Buffer.concat(chunks).toString(), answer });
    onArrival();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  loader = startLoader();
});
afterEach(async () => {
  await loader.stop();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

const plan = (rest: Partial<Plan>): Plan => ({
  url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
  token: 'a-token',
  format: 'Zeek conn, JSON',
  linesPerBody: 5,
  seconds: 60,
  connections: 2,
  ...rest,
});

const taken = '{"data":{"accepted":5,"rejected":0,"ignored":0,"duplicates":0}}';
const acknowledge = (answer: ServerResponse) => end(answer, 200, taken);
const refuse = (answer: ServerResponse) => end(answer.setHeader('Retry-After', '0'), 503, '{}');
const end = (answer: ServerResponse, status: number, text: string) =>
  answer.writeHead(status, { 'Content-Length': text.length }).end(text);

test('with a rate, requests are sent whether or not earlier requests were answered', async () => {
  onArrival = () => {
    if (arrived.length === 30) for (const { answer } of arrived) acknowledge(answer);
  };
  const report = await loader.run(plan({ requestsPerS: 500, connections: 64, requests: 30 }));
  expect(report).toMatchObject({ requests: 30, events: 150, refused: 0 });
  expect(report.maxMs).toBeGreaterThanOrEqual(report.p99Ms);
  expect(report.p99Ms).toBeGreaterThanOrEqual(report.p50Ms);
  expect(report.cpuS).toBeGreaterThan(0);
});

test('with a rate, requests without a free connection wait, and refused requests are counted and not sent again', async () => {
  onArrival = () => {
    const { answer } = arrived.at(-1)!;
    if (arrived.length % 3 === 0) refuse(answer);
    else acknowledge(answer);
  };
  const report = await loader.run(plan({ requestsPerS: 2000, connections: 1, requests: 30 }));
  expect(report).toMatchObject({ requests: 20, refused: 10 });
  expect(new Set(arrived.map(({ text }) => text)).size).toBe(30);
});

test('without a rate, every connection has a request in progress, and refused requests are sent again', async () => {
  let waiting: ServerResponse[] = [];
  onArrival = () => {
    waiting.push(arrived.at(-1)!.answer);
    if (waiting.length < 2) return;
    const [first, second] = waiting as [ServerResponse, ServerResponse];
    waiting = [];
    refuse(first);
    acknowledge(second);
  };
  const run = loader.run(plan({ requests: 8 }));
  // The last request may wait alone, so it is acknowledged here.
  const nudge = setInterval(() => {
    if (new Set(arrived.map(({ text }) => text)).size === 8) for (const one of waiting.splice(0)) acknowledge(one);
  }, 20);
  const report = await run;
  clearInterval(nudge);
  expect(report.requests).toBe(8);
  expect(report.refused).toBe(arrived.length - 8);
  expect(new Set(arrived.map(({ text }) => text)).size).toBe(8);
});

test('a response that reports a rejected record is an error', async () => {
  onArrival = () => end(arrived.at(-1)!.answer, 200, taken.replace('"rejected":0', '"rejected":1'));
  await expect(loader.run(plan({}))).rejects.toThrow('"rejected":1');
});

test('a service that disconnects is an error', async () => {
  onArrival = () => void arrived.at(-1)!.answer.destroy();
  await expect(loader.run(plan({ connections: 1 }))).rejects.toThrow('closed the connection');
});

test('with a rate, an error response is an error', async () => {
  onArrival = () => end(arrived.at(-1)!.answer, 400, '{"error":"bad"}');
  await expect(loader.run(plan({ requestsPerS: 500 }))).rejects.toThrow('400 {"error":"bad"}');
});

describe('lines over TCP', () => {
  let daemon: NetServer;
  let onConnection: (socket: Socket) => void;
  beforeEach(async () => {
    daemon = createNetServer((socket) => onConnection(socket));
    await new Promise<void>((resolve) => daemon.listen(0, '127.0.0.1', resolve));
  });
  afterEach(() => new Promise((resolve) => daemon.close(resolve)));
  const linesPlan = (rest: Partial<Plan>) =>
    plan({ url: `tcp://127.0.0.1:${(daemon.address() as AddressInfo).port}`, token: '', ...rest });

  test('each line is sent once, over all connections', async () => {
    const texts: Promise<string>[] = [];
    onConnection = (socket) => texts.push(text(socket));
    const report = await loader.run(linesPlan({ linesPerBody: 2000, requests: 40, connections: 4 }));
    expect(report).toMatchObject({ requests: 40, events: 80_000, refused: 0 });
    expect(texts).toHaveLength(4);
    const lines = (await Promise.all(texts)).flatMap((all) => all.trimEnd().split('\n'));
    expect(new Set(lines.map((line) => (JSON.parse(line) as { uid: string }).uid)).size).toBe(80_000);
    expect(lines).toHaveLength(80_000);
  });

  test.each(['end', 'destroy'] as const)('a daemon that closes a connection early is an error: %s', async (how) => {
    onConnection = (socket) => {
      socket.on('error', () => {});
      socket.once('data', () => socket[how]());
    };
    await expect(loader.run(linesPlan({ linesPerBody: 2000 }))).rejects.toThrow();
  });
});
