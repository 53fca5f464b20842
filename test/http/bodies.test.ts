import { gzipSync } from 'node:zlib';
import { afterEach, describe, expect, test } from 'vitest';
import { Budget, BudgetOfEach } from '../../src/admission/budget.ts';
import type { Endpoint } from '../../src/http/endpoint.ts';
import { data } from '../../src/http/reply.ts';
import { limits } from '../../src/limits.ts';
import { bodyOf, echo, eventually, get, serve, stopAll, untilClosed, Wire } from './serve.ts';

afterEach(stopAll);

const post = (head: string) => `POST /echo HTTP/1.1\r\nHost: x\r\nContent-Type: text/plain\r\n${head}\r\n`;
const chunk = (text: string) => `${text.length.toString(16)}\r\n${text}\r\n`;

describe('reading a body', () => {
  test('returns the same bytes in a separate buffer, whether sent whole, in pieces or chunked', async () => {
    const seen: ArrayBuffer[] = [];
    const keep: Endpoint = {
      ...echo(),
      run({ body }) {
        seen.push(body!.bytes);
        body!.release();
        return data(null);
      },
    };
    const { server } = await serve([keep]);
    const text = 'The quick brown fox jumps over the lazy dog';
    for (const parts of [
      [post(`Content-Length: ${text.length}\r\n`) + text],
      [post(`Content-Length: ${text.length}\r\n`), text.slice(0, 10), text.slice(10)],
      [post('Transfer-Encoding: chunked\r\n'), chunk(text.slice(0, 10)), chunk(text.slice(10)), '0\r\n\r\n'],
    ]) {
      const wire = await Wire.open(server.port);
      for (const part of parts) {
        wire.send(part);
        await new Promise((resolve) => setTimeout(resolve, 10));
      }
      await wire.until(/"data":null/);
      wire.end();
    }
    expect(seen.map((bytes) => Buffer.from(bytes).toString())).toEqual([text, text, text]);
    expect(seen.map((bytes) => bytes.byteLength)).toEqual([text.length, text.length, text.length]);
  });

  test('keeps the body while credentials are checked', async () => {
    let admit: (() => void) | undefined;
    const { server } = await serve([{ ...echo(), access: ['sensor'] }], {
      authenticate: () =>
        new Promise((resolve) => {
          admit = () => resolve({ principal: { id: 'p', name: 'p' }, roles: ['sensor'], jti: 'j' });
        }),
    });
    const wire = await Wire.open(server.port);
    wire.send(`${post('Content-Length: 6\r\n')}abc`);
    await eventually(() => admit !== undefined);
    wire.send('def');
    await new Promise((resolve) => setTimeout(resolve, 20));
    admit?.();
    expect(await wire.until(/"text"/)).toContain('"text":"abcdef"');
    wire.end();
  });

  test('treats an absent body as an empty one', async () => {
    const { server } = await serve([echo()]);
    const wire = await Wire.open(server.port);
    wire.send(post(''));
    await wire.until(/"length":0/);
    wire.send(post('Content-Length: 0\r\n'));
    await wire.until(/"length":0[\s\S]*"length":0/);
    wire.end();
  });

  test('responds to Expect: 100-continue', async () => {
    const { server } = await serve([echo()]);
    const wire = await Wire.open(server.port);
    wire.send(post('Content-Length: 3\r\nExpect: 100-continue\r\n'));
    await wire.until(/^HTTP\/1.1 100 Continue\r\n\r\n/);
    wire.send('abc');
    await wire.until(/"text":"abc"/);
    wire.end();
  });
});

describe('limits', () => {
  test('a Content-Length over the limit is refused before the body is read', async () => {
    const { server, limitsReached, answered } = await serve([echo()]);
    const wire = await Wire.open(server.port);
    wire.send(post('Content-Length: 1001\r\n'));
    const answer = await wire.until(/PAYLOAD_TOO_LARGE/);
    expect(answer).toMatch(/^HTTP\/1.1 413 /);
    expect(answer).toMatch(/Connection: close/i);
    expect(limitsReached).toEqual(['maxBodyBytes']);
    expect(answered).toEqual([{ operation: 'echo', status: 413 }]);
    wire.end();
  });

  test('a Content-Length far over the limit ends the connection', async () => {
    const { server } = await serve([echo()]);
    const answer = await untilClosed(server.port, post(`Content-Length: ${limits.maxDiscardedBodyBytes + 1}\r\n`));
    expect(answer).toMatch(/PAYLOAD_TOO_LARGE/);
  });

  test('a chunked body is limited while it is read, and its sender receives the response', async () => {
    const budget = new Budget(1_000_000);
    const { server, limitsReached } = await serve([echo({ budget })]);
    const wire = await Wire.open(server.port);
    wire.send(post('Transfer-Encoding: chunked\r\n'));
    for (let n = 0; n < 100; n++) wire.send(chunk('x'.repeat(500)));
    await eventually(() => limitsReached.length > 0);
    expect(budget.used).toBe(0);
    expect(wire.received).toBe('');
    wire.send('0\r\n\r\n');
    await wire.until(/^HTTP\/1.1 413 [\s\S]*PAYLOAD_TOO_LARGE/);
    expect(limitsReached).toEqual(['maxBodyBytes']);
    wire.end();
  });

  test('a chunked body without end is cut off', async () => {
    const { server } = await serve([echo()]);
    const wire = await Wire.open(server.port);
    wire.send(post('Transfer-Encoding: chunked\r\n'));
    const megabyte = Buffer.from(chunk('x'.repeat(2 ** 20)));
    for (let n = 0; n < 70 && !wire.closed; n++) {
      if (!wire.socket.write(megabyte))
        await new Promise((resolve) => wire.socket.once('drain', resolve).once('close', resolve));
    }
    await wire.untilClosed();
    expect((await fetch(`http://127.0.0.1:${server.port}/`)).status).toBe(404);
  });

  test('a body beyond the budget of bytes in flight gets OVERLOADED with Retry-After; all bytes are returned to the budget', async () => {
    const budget = new Budget(1500);
    const { server, limitsReached } = await serve([echo({ budget })]);
    const first = await Wire.open(server.port);
    first.send(`${post('Content-Length: 1000\r\n')}x`);
    await eventually(() => budget.used === 1000);
    const second = await Wire.open(server.port);
    second.send(post('Content-Length: 501\r\n') + 'x'.repeat(501));
    expect(await second.until(/OVERLOADED/)).toMatch(/Retry-After: 1/);
    expect(limitsReached).toEqual(['maxIngestInFlightBytes']);
    first.send('x'.repeat(999));
    await first.until(/"length":1000/);
    expect(budget.used).toBe(0);
    first.end();
    second.end();
  });

  test('the budget counts received bytes, not announced bytes', async () => {
    const budget = new Budget(100_000);
    const { server, limitsReached } = await serve([echo({ budget, maxBytes: 90_000 })]);
    const halves = [];
    for (let n = 0; n < 10; n++) {
      const wire = await Wire.open(server.port);
      wire.send(`${post('Content-Length: 90000\r\n')}x`);
      halves.push(wire);
    }
    await eventually(() => budget.used === 10 * 4096);
    const first = halves[0]!;
    first.send('x'.repeat(19_999));
    await eventually(() => budget.used >= 9 * 4096 + 20_000);
    expect(budget.used).toBeLessThan(9 * 4096 + 2 * 20_000 + 4096);
    first.send('x'.repeat(70_000));
    await first.until(/OVERLOADED/);
    await eventually(() => budget.used === 9 * 4096);
    expect(limitsReached).toEqual(['maxIngestInFlightBytes']);
    for (const wire of halves) wire.end();
  });

  test('a body in one-byte chunks takes at most about twice its size from the budget', async () => {
    const budget = new Budget(100_000);
    const { server } = await serve([echo({ budget, maxBytes: 50_000 })]);
    const wire = await Wire.open(server.port);
    const text = Array.from({ length: 20_000 }, (_, n) => String.fromCharCode(97 + (n % 26))).join('');
    wire.send(post('Transfer-Encoding: chunked\r\n') + [...text].map(chunk).join(''));
    await eventually(() => budget.used >= 20_000);
    expect(budget.used).toBeLessThan(2 * 20_000 + 4096);
    wire.send('0\r\n\r\n');
    expect(await wire.until(/"length":20000/)).toContain(text.slice(0, 100));
    expect(budget.used).toBe(0);
    wire.end();
  });

  test('one principal can use only its share of the budget, so that other principals are served', async () => {
    const budget = new Budget(100_000);
    const overloaded = 'maxJsonInFlightBytesPerPrincipal';
    const ofPrincipal = { budget: new BudgetOfEach(20_000), overloaded } as const;
    const terms = { budget, ofPrincipal, maxBytes: 10_000 };
    const { server, limitsReached } = await serve([{ ...echo(terms), access: ['viewer'] }], {
      authenticate: ({ authorization = '' }) => ({
        principal: { id: authorization, name: authorization },
        roles: ['viewer'],
      }),
    });
    const halfSent = async (token: string) => {
      const wire = await Wire.open(server.port);
      const head = post(`Content-Length: 10000\r\nAuthorization: Bearer ${token}\r\n`);
      wire.send(head + 'x'.repeat(9000));
      return wire;
    };
    const own = [await halfSent('a'), await halfSent('a')];
    await eventually(() => budget.used === 18_000);
    const refused = await halfSent('a');
    expect(await refused.until(/RATE_LIMITED/)).toMatch(/^HTTP\/1.1 429 [\s\S]*Retry-After: 1/);
    expect(limitsReached).toEqual(['maxJsonInFlightBytesPerPrincipal']);
    const other = await halfSent('b');
    other.send('x'.repeat(1000));
    await other.until(/"length":10000/);
    for (const wire of own) wire.send('x'.repeat(1000));
    for (const wire of own) await wire.until(/"length":10000/);
    expect(budget.used).toBe(0);
    for (const wire of [...own, refused, other]) wire.end();
  });

  test('an aborted body returns its bytes to the budget and gets no response', async () => {
    const budget = new Budget(1500);
    const { server, answered } = await serve([echo({ budget })]);
    for (const head of ['Content-Length: 1000\r\n', 'Transfer-Encoding: chunked\r\n']) {
      const wire = await Wire.open(server.port);
      wire.send(post(head) + (head.startsWith('C') ? 'x'.repeat(500) : chunk('x'.repeat(500))));
      await eventually(() => budget.used > 0);
      wire.end();
      await eventually(() => budget.used === 0);
    }
    expect(answered).toEqual([]);
    expect(server.inFlight).toBe(0);
  });

  test('a body is released by its consumer, not by the response', async () => {
    const budget = new Budget(1500);
    let release: (() => void) | undefined;
    const { url } = await serve([
      {
        ...echo({ budget }),
        run({ body }) {
          release = () => body!.release();
          return data(null);
        },
      },
    ]);
    await (await fetch(`${url}/echo`, { method: 'POST', body: 'abc' })).text();
    expect(budget.used).toBe(3);
    release?.();
    release?.();
    expect(budget.used).toBe(0);
  });
});

describe('unsupported content', () => {
  test('other media types and content codings are rejected with UNSUPPORTED_MEDIA_TYPE', async () => {
    const { url } = await serve([echo()]);
    const code = async (headers: Record<string, string>) => {
      const answer = await fetch(`${url}/echo`, { method: 'POST', headers, body: 'abc' });
      return [answer.status, (await bodyOf(answer)).error?.details?.field];
    };
    expect(await code({ 'content-type': 'image/png' })).toEqual([415, 'content-type']);
    expect(await code({ 'content-type': 'text/plain', 'content-encoding': 'compress' })).toEqual([
      415,
      'content-encoding',
    ]);
    expect(await code({ 'content-type': 'Text/Plain; charset=utf-8', 'content-encoding': 'identity' })).toEqual([
      200,
      undefined,
    ]);
  });

  test('an unused body is discarded, and the connection stays open', async () => {
    const { server, limitsReached } = await serve([get('/get', () => data('got'))]);
    const wire = await Wire.open(server.port);
    wire.send(`GET /get HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc`);
    await wire.until(/"data":"got"/);
    wire.send(`POST /get HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n`);
    wire.send('0\r\n\r\n');
    await wire.until(/METHOD_NOT_ALLOWED/);
    wire.send(`GET /get HTTP/1.1\r\nHost: x\r\n\r\n`);
    await wire.until(/"got"[\s\S]*"got"/);
    expect(limitsReached).toEqual([]);
    wire.end();
  });

  test('a compressed body is passed on unchanged', async () => {
    const { url } = await serve([{ ...echo(), run: ({ body, coding }) => data([coding, body!.bytes.byteLength]) }]);
    const body = gzipSync('x'.repeat(500));
    const headers = { 'content-type': 'text/plain', 'content-encoding': 'gzip' };
    const answer = await fetch(`${url}/echo`, { method: 'POST', headers, body });
    expect((await bodyOf(answer)).data).toEqual(['gzip', body.byteLength]);
  });
});
