import { once } from 'node:events';
import { Agent, get as ask, type IncomingMessage } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, describe, expect, test } from 'vitest';
import { data } from '../../src/http/reply.ts';
import { eventually, get, serve, stopAll, Wire } from './serve.ts';

// Some go on beside others.
afterAll(stopAll);

const ok = get('/ok', () => data('fine'));
const request = (...headers: string[]) => ['GET /ok HTTP/1.1', 'Host: x', ...headers, '\r\n'].join('\r\n');

describe.concurrent('a connection that rests', () => {
  test('lives for as long as its client was told', async () => {
    const { server } = await serve([ok]);
    const wire = await Wire.open(server.port);
    wire.send(request());
    const [, seconds] = /^Keep-Alive: timeout=(\d+)\r$/im.exec(await wire.until(/fine/)) ?? [];
    await pause(1000 * Number(seconds) - 500);
    wire.send(request());
    await wire.until(/fine[\s\S]*fine/);
    wire.end();
  });

  test('is ended by a client that heeds it, before it is by us', async () => {
    const { url, server } = await serve([ok]);
    const agent = new Agent({ keepAlive: true });
    const [answer] = (await once(ask(`${url}/ok`, { agent }), 'response')) as [IncomingMessage];
    const { socket } = answer;
    // What it does at its own end: ours would show as an end that was received.
    let endedByUs = false;
    socket.once('end', () => {
      endedByUs = true;
    });
    answer.resume();
    await once(socket, 'close');
    expect(endedByUs).toBe(false);
    await eventually(() => server.connections === 0);
  });
});

test.each([
  ['that the client wants ended', request('Connection: close')],
  [
    'over which more was announced than is worth reading',
    'POST /ok HTTP/1.1\r\nHost: x\r\nContent-Length: 999999999\r\n\r\n',
  ],
])('an answer on a connection %s does not say that it will rest', async (_, bytes) => {
  const { server } = await serve([ok]);
  const wire = await Wire.open(server.port);
  wire.send(bytes);
  expect(await wire.untilClosed()).not.toMatch(/keep-alive: timeout/i);
});
