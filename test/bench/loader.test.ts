import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, expect, test } from 'vitest';
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
