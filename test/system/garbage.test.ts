/**
 * Invalid input of every kind. Valid lines are stored, invalid lines are reported by line and field, and
 * bodies that contradict their headers are rejected completely. The service stays healthy and its memory
 * bounded.
 */
import { request } from 'node:http';
import { Readable } from 'node:stream';
import { setTimeout } from 'node:timers/promises';
import { promisify } from 'node:util';
import { brotliCompressSync, deflateRawSync, deflateSync, gzip, gzipSync, zstdCompressSync } from 'node:zlib';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { mulberry32 } from '../../bench/conn-records.ts';
import { assertResponse } from '../../scripts/contract-assertions.ts';
import { type Service, startService, tokenFor } from '../../scripts/service.ts';
import { limits } from '../../src/limits.ts';
import { type Answer, call, failure, list, ndjson, send } from './call.ts';

let service: Service;
let sensor: string;
let viewer: string;
/** Number of valid lines sent so far, all of which must be stored. */
let good = 0;

beforeAll(async () => {
  service = await startService({ env: { CANDOR_THREADS_INGEST: '2', CANDOR_THREADS_ANALYTICS: '2' } });
  sensor = await tokenFor(service, 'sensor');
  viewer = await tokenFor(service, 'viewer');
});
afterAll(async () => {
  expect(await service.stop()).toBe(0);
});

afterEach(async () => {
  const { status, body } = await call(service, 'getHealth');
  expect([status, (body as { status: string }).status]).toEqual([200, 'ok']);
  expect((await list(service, 'listNetworkEvents', viewer, 'per_page=1')).pagination.total).toBe(good);
  expect(service.output.filter((line) => /"level":(50|60)/.test(line))).toEqual([]);
  // The limit is 600 MiB for bodies in flight, and 300 MiB for the network state of the store's thread:
  // pending rows of hosts, recently used rows, known connections and edges, and the pages of a transaction.
  expect(service.peakRssAnonMiB()).toBeLessThan(900);
});

let made = 0;
function conn(more: Readonly<Record<string, unknown>> = {}): string {
  const n = made++;
  return JSON.stringify({
    ts: 1_763_683_200 + n,
    uid: `G${n}`,
    'id.orig_h': '10.0.0.1',
    'id.orig_p': 40_000,
    'id.resp_h': '203.0.113.7',
    'id.resp_p': 443,
    proto: 'tcp',
    conn_state: 'SF',
    ...more,
  });
}

/** Sends each invalid line between two valid ones, and checks its reason. */
async function expectNamed(bad: readonly (readonly [line: string | Uint8Array, field: string])[]): Promise<void> {
  const parts: Uint8Array[] = [];
  const text = new TextEncoder();
  for (const [line] of bad) {
    parts.push(text.encode(`${conn()}\n`), typeof line === 'string' ? text.encode(line) : line, text.encode('\n'));
  }
  parts.push(text.encode(conn()));
  const counts = await send(service, sensor, Buffer.concat(parts));
  good += bad.length + 1;
  expect(counts).toMatchObject({ accepted: bad.length + 1, rejected: bad.length, ignored: 0 });
  const wanted = bad.map(([, field], n) => [2 * n + 2, 'INVALID_REQUEST', field]);
  expect(counts.errors.map(({ line, code, field }) => [line, code, field])).toEqual(wanted.slice(0, 100));
}

describe('the service rejects only the invalid lines of a body', () => {
  test('with truncated JSON, cut at every byte', async () => {
    const whole = conn();
    const cuts = Array.from({ length: whole.length - 1 }, (_, n) => [whole.slice(0, n + 1), 'line'] as const);
    for (let at = 0; at < cuts.length; at += 100) await expectNamed(cuts.slice(at, at + 100));
  });

  test('with binary data', async () => {
    const random = mulberry32(3);
    const noise = Array.from({ length: 50 }, () => {
      const bytes = Uint8Array.from({ length: 400 }, (_, n) => (n === 0 ? 128 : 11) + Math.floor(random() * 128));
      return [bytes, 'line'] as const;
    });
    await expectNamed(noise);
    // Binary data inside an apparent record.
    const record = Buffer.from(conn({ history: '####' }), 'latin1');
    record.fill(0xff, record.indexOf('####'), record.indexOf('####') + 4);
    const counts = await send(service, sensor, record);
    good += counts.accepted;
    const { data } = await list(service, 'listNetworkEvents', viewer, 'per_page=1');
    expect(counts.accepted === 0 || data[0]?.attributes.history === '\ufffd\ufffd\ufffd\ufffd').toBe(true);
  });

  test('with JSON that is not a record', async () => {
    await expectNamed(
      ['null', 'true', '17', '"text"', '[]', '{}', '[{}]', '{"a":1}', '{"ts":1}', "{'ts':1}", 'NaN', '{"ts":NaN}'].map(
        (line) => [line, 'line'] as const,
      ),
    );
  });

  test('with deep nesting, in every place', async () => {
    const deep = (depth: number) => '['.repeat(depth) + ']'.repeat(depth);
    await expectNamed([
      [`{"a":${deep(100_000)}}`, 'line'],
      ['{"a":'.repeat(100_000).concat('1', '}'.repeat(100_000)), 'line'],
      [deep(100_000), 'line'],
      ['['.repeat(500_000), 'line'],
      [conn().replace('{', `{"x":${deep(40)},`), 'line'],
    ]);
    const counts = await send(service, sensor, conn().replace('{', `{"x":${deep(20)},`));
    expect(counts.accepted).toBe(1);
    good++;
  });

  test('with wrong types, values out of range, and missing fields', async () => {
    const fields: readonly (readonly [string, readonly unknown[]])[] = [
      ['ts', [null, 'yesterday', {}, [], true, -1, 1e300, '2026-13-01T00:00:00Z']],
      ['id.orig_h', [undefined, null, 17, '', '10.0.0', '10.0.0.256', 'fe80::1%eth0', [], {}, ' 10.0.0.1', '::g']],
      ['id.resp_h', [undefined, 1, '999.1.1.1', '1:2:3', '0x7f000001']],
      ['id.orig_p', ['80', -1, 65_536, 1.5, true, {}, []]],
      ['id.resp_p', [1e9, '443']],
      ['proto', [undefined, 6, '', {}]],
      ['duration', ['1', -1, {}, true]],
      ['orig_bytes', ['1', -1, 0.5, []]],
      ['history', [1, {}, 'x'.repeat(5000)]],
      ['uid', [17, {}, 'u'.repeat(5000)]],
    ];
    await expectNamed(
      fields.flatMap(([field, values]) => values.map((value) => [conn({ [field]: value }), field] as const)),
    );
  });

  test('with 3,000 distinct invalid lines among 3,000 valid lines', async () => {
    const bad = Array.from({ length: 3000 }, (_, n) => {
      const kinds = [`{"broken ${n}`, `line ${n}`, conn({ 'id.orig_p': `p${n}` }), `{"no${n}":${n}}`];
      return [kinds[n % 4] as string, n % 4 === 2 ? 'id.orig_p' : 'line'] as const;
    });
    await expectNamed(bad);
    const counts = await send(service, sensor, Array.from({ length: 30_000 }, (_, n) => `{"k${n}":"${n}"}`).join('\n'));
    expect(counts).toMatchObject({ accepted: 0, rejected: 30_000 });
    expect(counts.errors.length).toBe(limits.maxReportedErrors);
  });
});

describe('odd names and characters', () => {
  test('__proto__, constructor and similar names are ordinary names', async () => {
    const lines = [
      conn().replace('{', '{"__proto__":{"proto":"udp","src_ip":"1.1.1.1"},'),
      conn().replace('{', '{"constructor":{"prototype":{"polluted":true}},'),
      `{"__proto__":${conn()}}`,
      conn({ uid: '__proto__', history: 'constructor', service: 'toString' }),
      `{"type":"__proto__"}`,
      `{"event_type":"constructor","timestamp":"2026-01-01T00:00:00Z"}`,
    ];
    const counts = await send(service, sensor, lines.join('\n'));
    good += 3;
    expect(counts.accepted).toBe(3);
    const { data, pagination } = await list(service, 'listNetworkEvents', viewer, 'connection_id=__proto__');
    expect([pagination.total, data[0]?.attributes.app_protocol]).toEqual([1, 'tostring']);
    expect((await list(service, 'listNetworkEvents', viewer, 'transport=udp')).pagination.total).toBe(0);
    const named = await call(service, 'listNetworkEvents', { token: viewer, query: '__proto__=1' });
    expect(failure(named)).toEqual([400, 'INVALID_REQUEST', '__proto__']);
    const login = await call(service, 'login', {
      body: '{"__proto__":{"username":"admin"},"username":"a","password":"b"}',
      headers: { 'content-type': 'application/json' },
    });
    expect(failure(login)).toEqual([400, 'INVALID_REQUEST', '__proto__']);
  });

  test('NUL, lone surrogates and every control character come back as well-formed Unicode', async () => {
    const texts = [
      'a\0b',
      '\ud800',
      'x\udfff',
      '\ud83d\ude00',
      '\u0001\u001f\u007f\u0085',
      '\u2028',
      '\ufeff',
      '\\u0000',
    ];
    const lines = texts.map((history) => conn({ history }));
    lines.push(conn({ uid: 'escaped' }).replace('"tcp"', '"tcp","history":"\\uDC00\\uD800"'));
    expect((await send(service, sensor, lines.join('\n'))).accepted).toBe(lines.length);
    good += lines.length;
    const { data } = await list(service, 'listNetworkEvents', viewer, `per_page=${lines.length}`);
    const back = data.map(({ attributes }) => attributes.history).reverse();
    expect(back).toEqual([...texts.map((text) => text.toWellFormed()), '\ufffd\ufffd']);
    for (const history of ['a%00b', '%EF%BF%BD', '%F0%9F%98%80', '%E2%80%A8']) {
      const found = await list(service, 'listNetworkEvents', viewer, `history=${history}`);
      expect(found.pagination.total, history).toBe(1);
    }
    const broken = await call(service, 'listNetworkEvents', { token: viewer, query: 'history=%ED%A0%80' });
    expect(failure(broken)).toEqual([400, 'INVALID_REQUEST', 'history']);
  });
});

/** Returns a request whose body is streamed, so that it does not have a Content-Length. */
function stream(body: Iterable<Uint8Array>, headers: Readonly<Record<string, string>> = {}): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const sending = request(`${service.url}/api/v1/ingest`, {
      method: 'POST',
      headers: { authorization: `Bearer ${sensor}`, ...ndjson, ...headers },
    });
    let answered = false;
    sending.on('response', (response) => {
      answered = true;
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (chunk: string) => {
        text += chunk;
      });
      response.on('end', () => {
        const body: unknown = JSON.parse(text);
        assertResponse('ingest', response.statusCode ?? 0, body);
        resolve({ status: response.statusCode ?? 0, headers: new Headers(), body });
      });
    });
    // A disconnect after the response is expected.
    sending.on('error', (error) => {
      if (!answered) reject(error);
    });
    Readable.from(body).pipe(sending);
  });
}

function* repeated(chunk: Uint8Array, times: number): Generator<Uint8Array> {
  for (let n = 0; n < times; n++) yield chunk;
}

const MiB = 2 ** 20;
const xs = Buffer.alloc(MiB, 'x');
const whole = (mib: number) => Buffer.concat([...repeated(xs, mib)]);

/** Waits until the client has noticed idle connections that the service closed while this thread was busy. */
const connectionsSeen = () => setTimeout(1000);

describe('oversized bodies', () => {
  test('a line of 100 MB with Content-Length is rejected before it is read', async () => {
    const answer = await stream(repeated(xs, 100), { 'content-length': String(100 * MiB) });
    expect(failure(answer).slice(0, 2)).toEqual([413, 'PAYLOAD_TOO_LARGE']);
  });

  test('a line of 100 MB in chunks is rejected', async () => {
    const answer = await stream(repeated(xs, 100));
    expect(failure(answer).slice(0, 2)).toEqual([413, 'PAYLOAD_TOO_LARGE']);
  });

  test('the sender of a line of 1 GB is disconnected, with and without Content-Length', async () => {
    for (const headers of [{}, { 'content-length': String(1024 * MiB) }]) {
      const outcome = await stream(repeated(xs, 1024), headers).then(
        ({ status }) => status,
        (error: NodeJS.ErrnoException) => error.code,
      );
      expect([413, 'ECONNRESET', 'EPIPE']).toContain(outcome);
    }
  });

  test('a compressed line of 100 MB is rejected for its decompressed size, in every coding', async () => {
    const body = whole(100);
    for (const [coding, bytes] of [
      ['gzip', gzipSync(body, { level: 1 })],
      ['deflate', deflateSync(body, { level: 1 })],
      ['br', brotliCompressSync(body, { params: { 1: 1 } })],
      ['zstd', zstdCompressSync(body)],
    ] as const) {
      const answer = await call(service, 'ingest', {
        token: sensor,
        body: bytes,
        headers: { ...ndjson, 'content-encoding': coding },
      });
      expect([coding, ...failure(answer).slice(0, 2)]).toEqual([coding, 413, 'PAYLOAD_TOO_LARGE']);
    }
  });

  test('lines of 15 MB, and of 60 MB decompressed, are rejected individually, and their neighbours are stored', async () => {
    for (const mib of [15, 60]) {
      const body = gzipSync(`${conn()}\n${'x'.repeat(mib * MiB)}\n{"long":"${'y'.repeat(2 * MiB)}"}\n${conn()}`);
      const counts = await send(service, sensor, body, { headers: { 'content-encoding': 'gzip' } });
      good += 2;
      expect(counts).toMatchObject({ accepted: 2, rejected: 2 });
      expect(counts.errors.map(({ line, field }) => [line, field])).toEqual([
        [2, 'line'],
        [3, 'line'],
      ]);
    }
  });

  test('several concurrent decompression bombs are rejected', async () => {
    const bomb = await promisify(gzip)(whole(256), { level: 9 });
    expect(bomb.length).toBeLessThan(2 * MiB);
    const twice = gzipSync(bomb);
    await connectionsSeen();
    const answers = await Promise.all(
      [bomb, bomb, bomb, bomb, twice, twice].map((body) =>
        call(service, 'ingest', { token: sensor, body, headers: { ...ndjson, 'content-encoding': 'gzip' } }),
      ),
    );
    for (const answer of answers.slice(0, 4)) expect(failure(answer)[1]).toBe('PAYLOAD_TOO_LARGE');
    // These bodies decompress to binary data or to lines that are not records.
    for (const { status, body } of answers.slice(4)) {
      expect([status, (body as { data: { accepted: number } }).data.accepted]).toEqual([200, 0]);
    }
  });

  test('a body with too many records is rejected', async () => {
    const body = gzipSync('{\n'.repeat(limits.maxBodyRecords + 1));
    const headers = { ...ndjson, 'content-encoding': 'gzip' };
    const answer = await call(service, 'ingest', { token: sensor, body, headers });
    expect(failure(answer)[1]).toBe('PAYLOAD_TOO_LARGE');
  });

  test('many concurrent large bodies are accepted or rejected completely, within the memory limit', async () => {
    const random = mulberry32(5);
    // An ignored field makes the bodies large; storing more records instead would only take time.
    const ignored = 'i'.repeat(400);
    const distinct = (n: number) =>
      `{"ignored":"${ignored}","ts":${1_600_000_000 + n},"uid":"D${random()}","id.orig_h":"10.${n % 200}.${n % 77}.${n % 250}","id.orig_p":${n % 65536},"id.resp_h":"198.51.100.${n % 256}","id.resp_p":${(n * 7) % 65536},"proto":"tcp","conn_state":"SF","service":"s${n % 5000}","history":"h${random()}"}\n`;
    const lines = Array.from({ length: 8000 }, (_, n) => distinct(n)).join('');
    const mixed = `${lines}${'{"broken\n'.repeat(100_000)}${'é'.repeat(MiB)}\n`;
    const bodies = [
      Buffer.from(mixed),
      gzipSync(mixed),
      gzipSync(lines.repeat(4)),
      Buffer.from(`[${lines.trimEnd().replaceAll('\n', ',')}]`),
      gzipSync('{}\n'.repeat(100_000)),
      gzipSync(whole(64)),
    ];
    await connectionsSeen();
    let taken = 0;
    const sender = async (n: number) => {
      const body = bodies[n % bodies.length] as Buffer;
      const isGzip = body[0] === 0x1f;
      const answer = await call(service, 'ingest', {
        token: sensor,
        body,
        headers: {
          'content-type': body[0] === 91 ? 'application/json' : 'application/x-ndjson',
          ...(isGzip ? { 'content-encoding': 'gzip' } : {}),
        },
      }).catch((error: Error) => {
        // The request is rejected before the body is sent: fetch may fail while writing the body, without
        // reading the response.
        expect(['EPIPE', 'ECONNRESET']).toContain((error.cause as { code?: string } | undefined)?.code);
      });
      if (answer === undefined) return;
      if (answer.status === 200) taken += (answer.body as { data: { accepted: number } }).data.accepted;
      else expect([429, 503]).toContain(answer.status);
    };
    await Promise.all(Array.from({ length: 12 }, (_, n) => sender(n)));
    expect(taken).toBeGreaterThan(0);
    good += taken;
  });
});

describe('compressed bodies', () => {
  const lines = Array.from({ length: 20 }, () => conn({ ts: 1_000_000 })).join('\n');
  const codings = {
    gzip: gzipSync(lines),
    deflate: deflateSync(lines),
    br: brotliCompressSync(lines),
    zstd: zstdCompressSync(lines),
  };
  const answerTo = (coding: string, body: Uint8Array) =>
    call(service, 'ingest', { token: sensor, body, headers: { ...ndjson, 'content-encoding': coding } });

  test('every coding is accepted', async () => {
    for (const [coding, body] of [...Object.entries(codings), ['deflate', deflateRawSync(lines)] as const]) {
      const counts = await send(service, sensor, body, { headers: { 'content-encoding': coding } });
      expect([coding, counts.accepted]).toEqual([coding, 20]);
      good += 20;
    }
  });

  test('bodies that are truncated, damaged, in another coding, or have trailing bytes are rejected completely', async () => {
    for (const [coding, body] of Object.entries(codings)) {
      const wrong = [
        body.subarray(0, body.length - 1),
        body.subarray(0, body.length >> 1),
        body.subarray(0, 5),
        Buffer.from(lines),
        ...Object.entries(codings).flatMap(([other, its]) => (other === coding ? [] : [its])),
      ];
      for (const [n, bytes] of wrong.entries()) {
        const answer = await answerTo(coding, bytes);
        expect([coding, n, answer.status, (answer.body as { error?: unknown }).error !== undefined]).toEqual([
          coding,
          n,
          400,
          true,
        ]);
      }
    }
    const damaged = Buffer.from(codings.gzip);
    damaged[damaged.length - 6]! ^= 1;
    expect((await answerTo('gzip', damaged)).status).toBe(400);
    expect((await answerTo('gzip', Buffer.concat([codings.gzip, Buffer.from('tail')]))).status).toBe(400);
  });

  test('unsupported codings and media types are rejected', async () => {
    expect(failure(await answerTo('compress', codings.gzip))).toEqual([
      415,
      'UNSUPPORTED_MEDIA_TYPE',
      'content-encoding',
    ]);
    expect(failure(await answerTo('gzip, gzip', codings.gzip))[0]).toBe(415);
    const typed = await call(service, 'ingest', {
      token: sensor,
      body: lines,
      headers: { 'content-type': 'application/xml' },
    });
    expect(failure(typed)).toEqual([415, 'UNSUPPORTED_MEDIA_TYPE', 'content-type']);
  });
});
