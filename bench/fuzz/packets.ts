import type { Random } from './random.ts';

/** Bytes to send on a separate connection. */
export interface Packet {
  readonly name: string;
  /** Parts that are sent one after the other, with a pause between them. */
  readonly parts: readonly (string | Buffer)[];
  /** How the client ends the connection. */
  readonly end: 'wait' | 'half-close' | 'close' | 'reset';
  /**
   * Whether the length of the packet's first request is ambiguous. If so, the service must not serve the packet's
   * content.
   */
  readonly ambiguous: boolean;
}

const host = 'Host: x\r\n';
const get = (path = '/health') => `GET ${path} HTTP/1.1\r\n${host}\r\n`;
const post = (headers: string, body: string) =>
  `POST /api/v1/ingest HTTP/1.1\r\n${host}Content-Type: application/x-ndjson\r\n${headers}\r\n\r\n${body}`;
const hidden = get('/health?hidden');

/** Requests whose end a proxy in front of the service could interpret differently (RFC 9112, section 11.2). */
const ambiguities: readonly ((random: Random) => string)[] = [
  () => post('Content-Length: 5\r\nTransfer-Encoding: chunked', `0\r\n\r\n${hidden}`),
  () => post('Transfer-Encoding: chunked\r\nContent-Length: 5', `0\r\n\r\n${hidden}`),
  (random) => post(`Content-Length: ${random.below(5)}\r\nContent-Length: ${hidden.length}`, hidden),
  (random) => post(`Content-Length: ${random.below(5)}, ${hidden.length}`, hidden),
  () => post('Transfer-Encoding: gzip', `0\r\n\r\n${hidden}`),
  () => post('Transfer-Encoding: chunked, identity', `0\r\n\r\n${hidden}`),
  () => post('Transfer-Encoding: chunked\r\nTransfer-Encoding: identity', `0\r\n\r\n${hidden}`),
  () => post('Transfer-Encoding: xchunked', `0\r\n\r\n${hidden}`),
  () => post('Content-Length: +5', `hello${hidden}`),
  () => post('Content-Length: 0x5', `hello${hidden}`),
  () => post('Content-Length: -1', hidden),
  () => post('Content-Length : 5', `hello${hidden}`),
  () => post('Transfer-Encoding: chunked', `zz\r\nhello\r\n0\r\n\r\n${hidden}`),
  () => post('Transfer-Encoding: chunked', `${'f'.repeat(20)}\r\nhello\r\n0\r\n\r\n${hidden}`),
];

const others: Readonly<Record<string, (random: Random) => readonly (string | Buffer)[]>> = {
  pipelined: (random) => [
    random
      .times(20, () =>
        random.pick([get(), get('/nowhere'), `BREW / HTTP/1.1\r\n${host}\r\n`, post('Content-Length: 2', '{}')]),
      )
      .join(''),
  ],
  'last answer first': (random) => [
    random.times(5, () => `GET /health HTTP/1.1\r\n${host}Connection: close\r\n\r\n${get()}`).join(''),
  ],
  method: (random) => [
    `${random.pick(['FOO', 'PROPFIND', '*', 'get', 'CONNECT', 'TRACE', 'X'.repeat(3000)])} / HTTP/1.1\r\n${host}\r\n`.repeat(
      1 + random.below(5),
    ),
  ],
  'large head': (random) => [
    `GET / HTTP/1.1\r\n${host}${random.pick([`X: ${'y'.repeat(100_000)}\r\n`, 'X: y\r\n'.repeat(2000), `Cookie: ${'a=b;'.repeat(9000)}\r\n`])}\r\n`,
  ],
  'large target': (random) => [get(`/${random.pick(['x', '/', '%41', '?a=b&']).repeat(4000)}`)],
  slow: (random) => [...get()].map((byte) => (random.chance(0.05) ? `${byte}` : byte)),
  'slow body': () => [post('Content-Length: 50', ''), ...'{"ts":1,"uid":"slow"'],
  'unfinished body': () => [post('Content-Length: 100000', '{"ts":1}\n')],
  'unfinished chunk': () => [post('Transfer-Encoding: chunked', '5\r\nhel')],
  chunks: (random) => [
    post('Transfer-Encoding: chunked', random.times(10, () => '2;a=b\r\n{}\r\n').join('')),
    random.pick(['0\r\n\r\n', '0\r\nX: y\r\n\r\n', '\r\n', 'g\r\n']),
  ],
  expects: () => [post('Content-Length: 2\r\nExpect: 100-continue', ''), '{}'],
  noise: (random) => [random.bytes(1 + random.below(3000))],
  'another protocol': (random) => [
    random.pick([
      'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
      '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03',
      'EHLO x\r\n',
      'GET /\r\n\r\n',
    ]),
  ],
  mutated: (random) => [random.mutate(Buffer.from(random.pick([get(), post('Content-Length: 2', '{}'), get('/ws')])))],
  folded: () => [`GET / HTTP/1.1\r\n${host}X: a\r\n b\r\nY : c\r\n\r\n`, `GET / HTTP/1.1\nHost: x\n\n`],
};

export function randomPacket(random: Random): Packet {
  const end = random.pick(['wait', 'half-close', 'close', 'reset'] as const);
  if (random.chance(0.3)) {
    const at = random.below(ambiguities.length);
    return { name: `unclear length ${at}`, parts: [ambiguities[at]!(random)], end: 'wait', ambiguous: true };
  }
  const name = random.pick(Object.keys(others));
  return { name, parts: others[name]!(random), end, ambiguous: false };
}
