import { afterEach, describe, expect, test } from 'vitest';
import { data } from '../../src/http/reply.ts';
import { echo, eventually, get, type Served, serve, stopAll, untilClosed, Wire } from './serve.ts';

afterEach(stopAll);

const ok = get('/ok', () => data('fine'));
const later = get('/later', async () => {
  await new Promise((resolve) => setTimeout(resolve, 50));
  return data('late');
});

async function isWell({ url, server, logged }: Served): Promise<void> {
  expect((await fetch(`${url}/ok`)).status).toBe(200);
  await eventually(() => server.inFlight === 0);
  expect(logged).toEqual([]);
}

describe('an invalid request ends its connection and does not affect other connections', () => {
  const host = 'Host: x\r\n';
  test.each([
    ['binary', '\x00\x01\x02\xff\xfe\r\n\r\n'],
    ['TLS to a plain port', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n'],
    ['HTTP/1.0', 'GET /ok HTTP/1.0\r\n\r\n'],
    ['HTTP/2 preface', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
    ['absolute form', `GET http://x/ok HTTP/1.1\r\n${host}\r\n`],
    ['asterisk form', `OPTIONS * HTTP/1.1\r\n${host}\r\n`],
    ['headers over the limit', `GET /ok HTTP/1.1\r\n${host}X: ${'y'.repeat(20_000)}\r\n\r\n`],
    ['too many headers', `GET /ok HTTP/1.1\r\n${host}${'X: y\r\n'.repeat(300)}\r\n`],
    ['both framings', `POST /echo HTTP/1.1\r\n${host}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`],
    ['negative length', `POST /echo HTTP/1.1\r\n${host}Content-Length: -5\r\n\r\nhello`],
    ['length that overflows', `POST /echo HTTP/1.1\r\n${host}Content-Length: 99999999999999999999\r\n\r\n`],
    ['two lengths', `POST /echo HTTP/1.1\r\n${host}Content-Length: 1\r\nContent-Length: 100\r\n\r\nx`],
    ['unknown transfer coding', `POST /echo HTTP/1.1\r\n${host}Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n`],
    [
      'no chunk size',
      `POST /echo HTTP/1.1\r\n${host}Content-Type: text/plain\r\nTransfer-Encoding: chunked\r\n\r\nZZ\r\nab\r\n`,
    ],
    ['no host', 'GET /ok HTTP/1.1\r\nX: y\r\n\r\n'],
    ['credentials twice', `GET /ok HTTP/1.1\r\n${host}Authorization: a\r\nAuthorization: b\r\n\r\n`],
  ])('%s', async (_name, bytes) => {
    const served = await serve([ok, echo()]);
    const answer = await untilClosed(served.server.port, Buffer.from(bytes, 'latin1'));
    expect(answer === '' || /^HTTP\/1.1 [45]\d\d /.test(answer)).toBe(true);
    await isWell(served);
  });
});

describe('unusual but valid requests are answered', () => {
  test.each([
    ['a query of 10 kB', `GET /ok?${'x'.repeat(10_000)}`, 200],
    ['an absurd method', 'BREW /ok', 405],
    ['a method in lower case', 'get /ok', 405],
    ['a method longer than any valid method', `${'X'.repeat(5000)} /ok`, 405],
    ['broken percent-encoding in a path', 'GET /%zz%', 404],
    ['broken percent-encoding in a query', 'GET /ok?x=%zz&%', 200],
    ['a path of slashes', `GET ${'/'.repeat(5000)}`, 404],
    ['a path above the root', 'GET /../../etc/passwd', 404],
    ['names of prototype properties in a path', 'GET /__proto__/constructor', 404],
    ['bytes that are not UTF-8', 'GET /\xff\xfe', 404],
  ])('%s', async (_name, line, status) => {
    const served = await serve([ok, echo()]);
    const wire = await Wire.open(served.server.port);
    wire.send(Buffer.from(`${line} HTTP/1.1\r\nHost: x\r\n\r\n`, 'latin1'));
    expect(await wire.until(/\r\n\r\n/)).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
    wire.end();
    await isWell(served);
  });
});

test('a second request on the same connection is answered', async () => {
  const served = await serve([ok]);
  const wire = await Wire.open(served.server.port);
  wire.send('GET /ok HTTP/1.1\r\nHost: x\r\n\r\n');
  await wire.until(/fine/);
  wire.send('GET /ok HTTP/1.1\r\nHost: x\r\n\r\n');
  await wire.until(/fine[\s\S]*fine/);
  wire.end();
  await isWell(served);
});

test.each([
  ['two lengths', 'Content-Length: 1\r\nContent-Length: 100\r\n\r\nx'],
  ['a transfer coding that is not chunked', 'Transfer-Encoding: gzip\r\n\r\n0\r\n\r\n'],
])(
  'the service does not serve a request hidden in the same packet behind a body of ambiguous length: %s',
  async (_, body) => {
    const served = await serve([ok, echo()]);
    const hidden = 'GET /ok HTTP/1.1\r\nHost: x\r\n\r\n';
    const answer = await untilClosed(served.server.port, `POST /echo HTTP/1.1\r\nHost: x\r\n${body}${hidden}`);
    expect(answer).not.toContain('fine');
    expect(served.answered.filter(({ operation }) => operation === 'ok')).toEqual([]);
    await isWell(served);
  },
);

test('a request pipelined behind a pending request ends the connection, and the pending request is aborted', async () => {
  let aborted = false;
  const watched = get('/watched', ({ signal }) => {
    signal.addEventListener('abort', () => {
      aborted = true;
    });
    return new Promise(() => undefined);
  });
  const served = await serve([ok, watched]);
  await untilClosed(served.server.port, 'GET /watched HTTP/1.1\r\nHost: x\r\n\r\nGET /ok HTTP/1.1\r\nHost: x\r\n\r\n');
  await eventually(() => aborted);
  await isWell(served);
});

test('clients that disconnect before their response do no harm', async () => {
  const served = await serve([ok, later]);
  for (let n = 0; n < 50; n++) {
    const wire = await Wire.open(served.server.port);
    wire.send('GET /later HTTP/1.1\r\nHost: x\r\n\r\n');
    if (n % 2 === 0) await new Promise((resolve) => setTimeout(resolve, n % 7));
    wire.end();
  }
  await isWell(served);
});

test('a signal requested after the client disconnected is already aborted', async () => {
  let late: AbortSignal | undefined;
  const slow = get('/slow', async (call) => {
    await new Promise((resolve) => setTimeout(resolve, 50));
    late = call.signal;
    return data(null);
  });
  const served = await serve([ok, slow]);
  const wire = await Wire.open(served.server.port);
  wire.send('GET /slow HTTP/1.1\r\nHost: x\r\n\r\n');
  await eventually(() => served.server.inFlight === 1);
  wire.end();
  await eventually(() => late !== undefined);
  expect(late?.aborted).toBe(true);
  await isWell(served);
});

test('clients that stall before a request, within its headers or within its body are disconnected', async () => {
  const served = await serve([ok, echo()]);
  const post = 'POST /echo HTTP/1.1\r\nHost: x\r\nContent-Type: text/plain\r\n';
  const starts = [
    '',
    'GET /ok HTTP/1.1\r\nHost: x\r\nX y',
    `${post}Content-Length: 9\r\n\r\nx`,
    `${post}Transfer-Encoding: chunked\r\n\r\n5\r\nx`,
  ];
  const answers = await Promise.all(starts.map((start) => untilClosed(served.server.port, start)));
  expect(answers).toEqual(['', '', '', '']);
  await isWell(served);
});
