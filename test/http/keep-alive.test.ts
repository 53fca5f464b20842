import { once } from 'node:events';
import { Agent, get as ask, type IncomingMessage } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, describe, expect, test } from 'vitest';
import { data } from '../../src/http/reply.ts';
import { eventually, get, serve, stopAll, Wire } from './serve.ts';

// Some tests run concurrently: servers are stopped after all of them.
afterAll(stopAll);

const ok = get('/ok', () => data('fine'));
const request = (...headers: string[]) => ['GET /ok HTTP/1.1', 'Host: x', ...headers, '\r\n'].join('\r\n');

describe.concurrent('an idle connection', () => {
  test('stays open for as long as the response announces', async () => {
    const { server } = await serve([ok]);
    const wire = await Wire.open(server.port);
    wire.send(request());
    const [, seconds] = /^Keep-Alive: timeout=(\d+)\r$/im.exec(await wire.until(/fine/)) ?? [];
    await pause(1000 * Number(seconds) - 500);
    wire.send(request());
    await wire.until(/fine[\s\S]*fine/);
    wire.end();
  });

  test('is closed by a client that honours the header before the service closes it', async () => {
    const { url, server } = await serve([ok]);
    const agent = new Agent({ keepAlive: true });
    const [answer] = (await once(ask(`${url}/ok`, { agent }), 'response')) as [IncomingMessage];
    const { socket } = answer;
    // An `end` event would mean that the server closed first.
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
  ['whose client asks to close it', request('Connection: close')],
  ['whose announced body is too large to read', 'POST /ok HTTP/1.1\r\nHost: x\r\nContent-Length: 999999999\r\n\r\n'],
])('a response on a connection %s does not announce keep-alive', async (_, bytes) => {
  const { server } = await serve([ok]);
  const wire = await Wire.open(server.port);
  wire.send(bytes);
  expect(await wire.untilClosed()).not.toMatch(/keep-alive: timeout/i);
});
