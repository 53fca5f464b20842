import { afterAll, describe, expect, test } from 'vitest';
import { Connections } from '../../src/http/connections.ts';
import { bareJson, data } from '../../src/http/reply.ts';
import { securityHeaders } from '../../src/http/security-headers.ts';
import { bodyOf, echo, eventually, get, type Served, serve, stopAll, untilClosed, Wire } from './serve.ts';

// Some go on beside others.
afterAll(stopAll);

const ok = get('/ok', () => data('fine'));
const bug = get('/bug', () => {
  throw new Error('bug');
});
const own = get('/own', () => ({
  ...bareJson('x'),
  headers: [
    ['Cache-Control', 'public, max-age=60'],
    ['Content-Security-Policy', "default-src 'self'"],
  ],
}));

async function isWell({ url, server, logged }: Served): Promise<void> {
  expect((await fetch(`${url}/ok`)).status).toBe(200);
  await eventually(() => server.inFlight === 0);
  expect(logged).toEqual([]);
}

describe('what every answer tells a browser', () => {
  test.each([
    ['GET', '/ok', 200],
    ['HEAD', '/ok', 200],
    ['OPTIONS', '/ok', 204],
    ['POST', '/ok', 405],
    ['GET', '/nothing', 404],
    ['GET', '/ok?token=x', 400],
    ['GET', '/bug', 500],
  ])('%s %s', async (method, path, status) => {
    const { url } = await serve([ok, bug]);
    const answer = await fetch(url + path, { method });
    expect(answer.status).toBe(status);
    for (const [name, value] of securityHeaders(false))
      expect([name, answer.headers.get(name)]).toEqual([name, value]);
    for (const absent of ['server', 'uwebsockets', 'x-powered-by', 'strict-transport-security'])
      expect(answer.headers.has(absent), absent).toBe(false);
    expect(answer.headers.has('x-request-id')).toBe(true);
  });

  test('an answer’s own header stands in place of the general one, once', async () => {
    const { url } = await serve([own]);
    const { headers } = await fetch(`${url}/own`);
    expect(headers.get('cache-control')).toBe('public, max-age=60');
    expect(headers.get('content-security-policy')).toBe("default-src 'self'");
    expect(headers.get('x-content-type-options')).toBe('nosniff');
  });

  test('over TLS, to stay with it', () => {
    expect(Object.fromEntries(securityHeaders(true))).toMatchObject({
      'Strict-Transport-Security': 'max-age=31536000',
    });
  });

  test('what uWebSockets.js answers by itself has no Server header either', async () => {
    const { server } = await serve([ok]);
    const bytes = `GET /ok HTTP/1.1\r\nHost: x\r\nX: ${'y'.repeat(20_000)}\r\n\r\n`;
    expect(await untilClosed(server.port, bytes)).toMatch(/^HTTP\/1.1 431 (?![\s\S]*\r\nserver:)/i);
  });
});

describe('credentials in a URL are refused by name, and never repeated', () => {
  test.each([
    ['token=s3cret', 'token'],
    ['a=b&access_token=s3cret', 'access_token'],
    ['Authorization=Bearer+s3cret', 'authorization'],
    ['%74oken=s3cret', 'token'],
    ['+token+=s3cret', 'token'],
    ['token', 'token'],
    ['%zz=1&refresh_token=s3cret', 'refresh_token'],
    ['password=s3cret', 'password'],
  ])('%s', async (query, field) => {
    const { url } = await serve([ok]);
    const answer = await fetch(`${url}/ok?${query}`);
    expect(answer.status).toBe(400);
    const body = await bodyOf(answer);
    expect(body.error).toMatchObject({ code: 'INVALID_REQUEST', details: { field } });
    expect(JSON.stringify(body)).not.toContain('s3cret');
  });

  test.each(['q=token', 'tokens=1', 'my_token=1', 'jti=1'])('%s is none', async (query) => {
    const { url } = await serve([ok]);
    expect((await fetch(`${url}/ok?${query}`)).status).toBe(200);
  });
});

describe('what is too large or too odd ends its connection at once', () => {
  const start = 'GET /ok HTTP/1.1\r\nHost: x\r\n';
  const post = 'POST /echo HTTP/1.1\r\nHost: x\r\nContent-Type: text/plain\r\n';
  const chunked = `${post}Transfer-Encoding: chunked\r\n\r\n`;
  test.each([
    ['100 kB in one header', `${start}X: ${'y'.repeat(100_000)}\r\n\r\n`, 431],
    ['10,000 headers', `${start}${'X: y\r\n'.repeat(10_000)}\r\n`, 431],
    ['a target of 100 kB', `GET /${'y'.repeat(100_000)} HTTP/1.1\r\nHost: x\r\n\r\n`, 431],
    ['100 kB behind the size of a chunk', `${chunked}2;${'x'.repeat(100_000)}\r\nok\r\n0\r\n\r\n`, 400],
    ['a chunk of 2^64 bytes', `${chunked}10000000000000000\r\nx`, 400],
    ['both framings', `${post}Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`, 400],
    [
      'both framings, the other way round',
      `${post}Transfer-Encoding: chunked\r\nContent-Length: 2\r\n\r\n0\r\n\r\n`,
      400,
    ],
    [
      'chunked twice',
      `${post}Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
      400,
    ],
    ['lines that end in LF', 'GET /ok HTTP/1.1\nHost: x\n\n', 505],
  ])('%s', async (_name, bytes, status) => {
    const served = await serve([ok, echo()]);
    const answer = await untilClosed(served.server.port, bytes);
    // A reset may overtake the answer when the rest of the request is still on its way.
    expect(answer === '' || answer.startsWith(`HTTP/1.1 ${status} `), answer.slice(0, 100)).toBe(true);
    expect(served.answered.filter((one) => one.status < 300)).toEqual([]);
    await isWell(served);
  });

  test('a thousand requests sent at once are answered in order, or end their connection', async () => {
    const served = await serve([ok]);
    const wire = await Wire.open(served.server.port);
    wire.send(`${start}\r\n`.repeat(1000));
    await eventually(() => wire.closed || wire.received.split('fine').length === 1001);
    wire.end();
    await isWell(served);
  });
});

describe.concurrent('whoever trickles is cut off, however steadily', () => {
  const start = 'GET /ok HTTP/1.1\r\nHost: x\r\n';
  const post = 'POST /echo HTTP/1.1\r\nHost: x\r\nContent-Type: text/plain\r\n';
  test('bytes of headers, of bodies and of chunk sizes, bare line ends, and nothing at all', async () => {
    const connections = new Connections({ limitReached: () => undefined });
    const served = await serve([ok, echo()], { connections });
    const trickles = [
      ['', ''],
      [`${start}X: `, 'y'],
      [start, 'X: y\r\n'],
      ['\r\n', '\r\n'],
      [`${start}X: y\nZ: w\r\n\r\n`, ''],
      [`${start}X: y\rZ: w\r\n\r\n`, ''],
      [`${start}X : y\r\n\r\n`, ''],
      [`${start}X: y\r\n z\r\n\r\n`, ''],
      [`${post}Content-Length: 900\r\n\r\n`, 'y'],
      [`${post}Transfer-Encoding: chunked\r\n\r\n`, '1\r\ny\r\n'],
      [`${post}Transfer-Encoding: chunked\r\n\r\n1;`, 'y'],
    ] as const;
    const answers = await Promise.all(
      trickles.map(async ([first, more]) => {
        const wire = await Wire.open(served.server.port);
        wire.send(first);
        const timer = setInterval(() => more !== '' && wire.send(more), 500);
        const answer = await wire.untilClosed();
        clearInterval(timer);
        return answer;
      }),
    );
    expect(answers.filter((answer) => /^HTTP\/1.1 2/.test(answer))).toEqual([]);
    await eventually(() => connections.open === 0);
    await isWell(served);
  });

  test('two thousand connections that say nothing keep nobody from an answer, and are gone by themselves', async () => {
    const connections = new Connections({ limitReached: () => undefined });
    const served = await serve([ok], { connections });
    const idle = [];
    for (let n = 0; n < 40; n++)
      idle.push(...(await Promise.all(Array.from({ length: 50 }, () => Wire.open(served.server.port)))));
    await eventually(() => connections.open >= 2000);
    const other = await Wire.open(served.server.port);
    other.send(`${start}\r\n`);
    await other.until(/fine/);
    other.end();
    await Promise.all(idle.map((wire) => wire.untilClosed()));
    await isWell(served);
  });
});
