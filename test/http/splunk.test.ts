import { gzipSync, zstdCompressSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ServiceError } from '../../src/errors.ts';
import type { Services } from '../../src/http/services.ts';
import { SplunkCollector } from '../../src/http/shippers/splunk-collector.ts';
import { type LimitName, limits } from '../../src/limits.ts';
import { eventually, Wire } from './serve.ts';
import { adminOf, issue, openService, type Service } from './service.ts';

let service: Service;
let sensor: string;
let viewer: string;

beforeAll(async () => {
  service = await openService();
  sensor = await tokenOf(service, ['sensor']);
  viewer = await tokenOf(service, ['viewer']);
});
afterAll(() => service.close());

const tokenOf = async (of: Service, scopes: readonly string[]) => issue(of, await adminOf(of), scopes);

const conn = (n: number) => ({
  ts: 1_700_000_000 + n,
  uid: `C${n}`,
  'id.orig_h': '192.168.0.10',
  'id.orig_p': 40_000 + n,
  'id.resp_h': '203.0.113.5',
  'id.resp_p': 443,
  proto: 'tcp',
  conn_state: 'SF',
});
const text = JSON.stringify;
const event = (n: number, more: object = {}) => text({ event: conn(n), ...more });
const channel = '0aeeac95-ac74-4aa9-b30d-6c4c0ac581ba';
const [events, raw, ack, health] = ['event', 'raw', 'ack', 'health'].map((name) => `/services/collector/${name}`) as [
  string,
  string,
  string,
  string,
];
const onChannel = { 'x-splunk-request-channel': channel };

interface Sent {
  readonly method?: string;
  readonly authorization?: string;
  readonly headers?: Record<string, string>;
  readonly of?: Service;
}

interface Told {
  readonly text?: string;
  readonly code?: number;
  readonly ackId?: number;
  readonly acks?: Record<string, boolean>;
  readonly message?: string;
  readonly rejected?: number;
}

async function send(
  target: string,
  body?: string | Uint8Array,
  { method = 'POST', authorization = `Splunk ${sensor}`, headers = {}, of = service }: Sent = {},
) {
  const answer = await fetch(of.url + target, {
    method,
    headers: { ...(authorization === '' ? {} : { authorization }), ...headers },
    ...(body === undefined ? {} : { body }),
  });
  expect(answer.headers.get('content-type')).toBe('application/json');
  return { status: answer.status, headers: answer.headers, json: (await answer.json()) as Told };
}
/** Returns the status and the code of the response. */
const told = async (...args: Parameters<typeof send>) => {
  const { status, json } = await send(...args);
  return [status, json.code];
};

async function stored(of = service): Promise<number> {
  return (await of.store.status()).events.network;
}

/** Returns the stored connections of this sensor, newest first. */
async function ofSensor(name: string): Promise<unknown[]> {
  const target = `GET /api/v1/events/network?sensor=${encodeURIComponent(name)}`;
  const { body } = await service.call('listNetworkEvents', target, { token: viewer });
  const { data } = body as { data: { attributes: { connection_id: string } }[] };
  return data.map(({ attributes }) => attributes.connection_id);
}

describe('events', () => {
  test.each([
    '/services/collector',
    '/services/collector/1.0',
    '/services/collector/event',
    '/services/collector/event/1.0',
  ])('are on disk when %s responds, under the name of their host', async (path) => {
    const before = await stored();
    const host = `tap of ${path}`;
    const { status, json } = await send(path, event(1, { host, time: 1_700_000_001.25 }) + event(2));
    expect([status, json]).toEqual([200, { text: 'Success', code: 0 }]);
    expect(await stored()).toBe(before + 2);
    expect(await ofSensor(host)).toEqual(['C1']);
  });

  test.each([
    ['gzip', gzipSync],
    ['zstd', zstdCompressSync],
  ])('are accepted in %s, and rejected in another coding', async (coding, compress) => {
    const headers = { 'content-encoding': coding };
    expect(await told(events, compress(event(3)), { headers })).toEqual([200, 0]);
    expect(await told(events, event(3), { headers })).toEqual([400, 6]);
    expect(await told(events, event(3), { headers: { 'content-encoding': 'lzma' } })).toEqual([415, 6]);
  });

  test.each(['application/json', 'application/x-www-form-urlencoded', 'text/plain; charset=utf-8', 'nonsense'])(
    'are accepted with the media type %s',
    async (type) => {
      expect(await told(events, event(4), { headers: { 'content-type': type } })).toEqual([200, 0]);
    },
  );

  test('may have the parameters that clients add to the URL; the error for an unknown parameter names it', async () => {
    const query = '?source=a&sourcetype=zeek&index=main&host=b&auto_extract_timestamp=true&time=1';
    expect(await told(events + query, event(5))).toEqual([200, 0]);
    expect((await send(`${events}?nonsense=1`, event(5))).json).toEqual({
      ...{ text: 'Invalid data format', code: 6 },
      message: 'nonsense is not a known parameter',
    });
  });

  test.each<[string, string, number, string]>([
    ['an empty body', '', 5, 'No data'],
    ['a body of white space', '\r\n ', 5, 'No data'],
    ['invalid JSON', 'hello', 6, 'Invalid data format'],
    ['an unquoted word', '{"event":hello}', 6, 'Invalid data format'],
    ['a bad time', event(6, { time: 'NaN' }), 6, 'Invalid data format'],
    ['a missing event', text({ time: 1 }), 12, 'Event field is required'],
    ['a null event', text({ event: null }), 12, 'Event field is required'],
    ['a blank event', text({ event: '' }), 13, 'Event field cannot be blank'],
    ['an empty event', text({ event: {} }), 13, 'Event field cannot be blank'],
    ['bad fields', event(6, { fields: 1 }), 15, 'Error in handling indexed fields'],
  ])('%s is not stored, and the response gives the reason', async (_, body, code, said) => {
    const before = await stored();
    const { status, json } = await send(events, body, { headers: onChannel });
    expect([status, json.code, json.text]).toEqual([400, code, said]);
    expect(json).not.toHaveProperty('ackId');
    expect(json).toHaveProperty(code === 5 ? 'message' : 'invalid-event-number', code === 5 ? expect.any(String) : 0);
    expect(await stored()).toBe(before);
  });

  test('are stored if valid; the response is a success and lists the invalid events, so that clients do not retry', async () => {
    const before = await stored();
    const body = `${event(7)}{"event":""}\n${event(8)}{"event":{"a":\n${text({ event: { ...conn(9), proto: 6 } })}${event(10)}`;
    const { status, json } = await send(events, body);
    expect([status, json]).toEqual([
      200,
      {
        text: 'Success',
        code: 0,
        rejected: 3,
        errors: [
          { event: 1, code: 13, field: 'envelope.event', reason: 'is blank' },
          { event: 3, code: 6, field: 'envelope', reason: 'is not valid JSON' },
          { event: 4, code: 6, field: 'proto', reason: 'is 6, not a string' },
        ],
      },
    ]);
    expect(await stored()).toBe(before + 3);
  });

  test.each([
    ['events', events, text({ event: 'hello' }) + text({ event: { a: 1 } }) + text({ event: 1 })],
    ['raw lines', raw, 'hello\n{"a":1}\n\n[]'],
  ])('if all %s are unknown records, the response is a success that lists them', async (_, target, body) => {
    const { status, json } = await send(target, body);
    expect([status, json]).toMatchObject([
      200,
      { text: 'Success', code: 0, rejected: 3, errors: [{ event: 0, code: 6, field: 'event' }, {}, {}] },
    ]);
  });

  test('of kinds that are not stored cause no error', async () => {
    expect(await told(events, text({ event: { _path: 'http', ts: 1, uid: 'C' } }))).toEqual([200, 0]);
  });

  test('are not stored if the body is truncated', async () => {
    const before = await stored();
    const wire = await Wire.open(service.server.port);
    const head = `POST ${events} HTTP/1.1\r\nHost: a\r\nAuthorization: Splunk ${sensor}\r\n`;
    wire.send(`${head}Transfer-Encoding: chunked\r\n\r\n${event(11).length.toString(16)}\r\n${event(11)}\r\n`);
    await new Promise((resolve) => setTimeout(resolve, 50));
    wire.end();
    await eventually(() => wire.closed);
    expect(await stored()).toBe(before);
  });
});

describe('raw lines', () => {
  test.each([raw, `${raw}/1.0`])('are stored as records: %s', async (path) => {
    const before = await stored();
    const query = `?channel=${channel.toUpperCase()}&host=${path}&sourcetype=zeek&index=main&source=conn.log`;
    const { status, json } = await send(path + query, `${text(conn(20))}\n${text(conn(21))}\n`);
    expect([status, json]).toEqual([200, { text: 'Success', code: 0, ackId: expect.any(Number) }]);
    expect(await stored()).toBe(before + 2);
    expect(await ofSensor(path)).toEqual(['C21', 'C20']);
  });

  test('do not require a channel', async () => {
    expect(await told(raw, text(conn(22)))).toEqual([200, 0]);
    expect(await told(raw, '\n')).toEqual([400, 5]);
  });
});

describe('acknowledgements', () => {
  const own = 'f1e2d3c4-0000-4000-8000-000000000001';
  const asked = async (acks: unknown, sent: Sent = {}) =>
    (await send(`${ack}?channel=${own}`, text({ acks }), sent)).json.acks;

  test('have ids from 0 on each channel, and are true once the events are on disk', async () => {
    const headers = { 'x-splunk-request-channel': own };
    const ids = [];
    for (const n of [30, 31, 32]) ids.push((await send(events, event(n), { headers })).json.ackId);
    expect(ids).toEqual([0, 1, 2]);
    expect((await send(`${raw}?channel=${own}`, text(conn(33)))).json.ackId).toBe(3);
    expect(await asked([0, 2, 3, 4, 4e9])).toEqual({
      0: true,
      2: true,
      3: true,
      4: false,
      4000000000: false,
    });
    expect(await asked([0])).toEqual({ 0: true });
    expect(await asked([])).toEqual({});
    const elsewhere = await send(`${ack}/1.0`, text({ acks: [0] }), { headers: onChannel });
    expect(elsewhere.json.acks).toEqual({ 0: expect.any(Boolean) });
  });

  test('are numbered separately for each principal', () => {
    const collector = new SplunkCollector(() => undefined);
    expect([collector.ackId('a', own), collector.nextId('b', own), collector.nextId('a', own)]).toEqual([0, 0, 1]);
  });

  test('are returned for bodies that Vector labels as compressed, whether compressed or not', async () => {
    const headers = { 'content-encoding': 'gzip', 'content-type': 'application/json' };
    expect(await asked([0], { headers })).toEqual({ 0: true });
    const { json } = await send(`${ack}?channel=${own}`, gzipSync(text({ acks: [0] })), { headers });
    expect(json.acks).toEqual({ 0: true });
  });

  test.each<[string, string, string, number]>([
    ['a missing channel', '', text({ acks: [0] }), 10],
    ['a channel that is not a GUID', '?channel=1', text({ acks: [0] }), 11],
    ['an empty channel', '?channel=', text({ acks: [0] }), 11],
    ['invalid JSON', `?channel=${own}`, '{"acks":', 6],
    ['an empty body', `?channel=${own}`, '', 6],
    ['missing ids', `?channel=${own}`, '{}', 6],
    ['null', `?channel=${own}`, 'null', 6],
    ['invalid ids', `?channel=${own}`, text({ acks: ['0'] }), 6],
    ['negative ids', `?channel=${own}`, text({ acks: [-1] }), 6],
    ['fractions', `?channel=${own}`, text({ acks: [0.5] }), 6],
  ])('a query with %s is rejected', async (_, query, body, code) => {
    expect(await told(ack + query, body)).toEqual([400, code]);
  });

  test('a query above the JSON body limit is rejected', async () => {
    const acks = Array.from({ length: limits.maxJsonBodyBytes / 2 }, () => 0);
    expect(await told(`${ack}?channel=${own}`, text({ acks }))).toEqual([413, 6]);
  });

  test('a channel that is not a GUID is rejected before anything is stored', async () => {
    const before = await stored();
    for (const bad of ['1', `${channel}0`, 'x'.repeat(5000)])
      expect(await told(events, event(34), { headers: { 'x-splunk-request-channel': bad } })).toEqual([400, 11]);
    expect(await stored()).toBe(before);
  });
});

describe('channels', () => {
  test('beyond the limit of a principal replace its least recently used channels only', () => {
    const reached: LimitName[] = [];
    const collector = new SplunkCollector((limit) => reached.push(limit));
    collector.ackId('quiet', 'one');
    const most = limits.maxSplunkChannelsPerPrincipal;
    for (let n = 0; n < most; n++) collector.ackId('loud', String(n));
    expect(reached).toEqual([]);
    expect(collector.nextId('loud', '0')).toBe(1);
    collector.ackId('loud', 'more');
    expect(reached).toEqual(['maxSplunkChannelsPerPrincipal']);
    expect(collector.channels).toBe(most + 1);
    expect(['0', '1', '2', 'more'].map((name) => collector.nextId('loud', name))).toEqual([1, 0, 1, 1]);
    expect(collector.ackId('quiet', 'one')).toBe(1);
  });

  test('of many principals have a total limit', () => {
    const reached = new Set<LimitName>();
    const collector = new SplunkCollector((limit) => reached.add(limit));
    for (let n = 0; n < limits.maxSplunkChannels + 10; n++) collector.ackId(`p${n >> 1}`, String(n));
    expect([collector.channels, ...reached]).toEqual([limits.maxSplunkChannels, 'maxSplunkChannels']);
    expect([
      collector.nextId('p0', '0'),
      collector.nextId(`p${limits.maxSplunkChannels >> 1}`, String(limits.maxSplunkChannels)),
    ]).toEqual([0, 1]);
  });

  test('are not created by queries for ids', () => {
    const collector = new SplunkCollector(() => undefined);
    for (let n = 0; n < 100; n++) expect(collector.nextId('p', String(n))).toBe(0);
    expect(collector.channels).toBe(0);
  });
});

describe('credentials', () => {
  const basic = (token: string) => `Basic ${Buffer.from(`x:${token}`).toString('base64')}`;

  test("may be a token in Splunk's scheme, as a password, or as a bearer token", async () => {
    for (const authorization of [`Splunk ${sensor}`, `splunk ${sensor}`, basic(sensor), `Bearer ${sensor}`])
      expect(await told(events, event(40), { authorization })).toEqual([200, 0]);
  });

  test.each<[string, () => string, number, number]>([
    ['no Authorization header', () => '', 401, 2],
    ['an unknown scheme', () => `Digest ${sensor}`, 401, 3],
    ['a token without a scheme', () => sensor, 401, 3],
    ['a bad bearer', () => 'Bearer x', 401, 3],
    ['a bad token', () => 'Splunk x', 403, 4],
    ['a bad password', () => basic('x'), 403, 4],
    ['a role without permission', () => `Splunk ${viewer}`, 403, 4],
  ])('are refused: %s', async (_, authorization, status, code) => {
    for (const target of [events, raw, `${ack}?channel=${channel}`]) {
      const answer = await send(target, event(41), { authorization: authorization() });
      expect([answer.status, answer.json.code]).toEqual([status, code]);
      expect(answer.headers.get('www-authenticate')).toBe(
        status === 401 ? 'Splunk realm="candor", Bearer realm="candor"' : null,
      );
    }
  });

  test('are refused in a URL, even next to valid credentials', async () => {
    const before = await stored();
    for (const authorization of ['', `Splunk ${sensor}`]) {
      const { status, json } = await send(`${events}?token=${sensor}`, event(42), { authorization });
      expect([status, json.code, json.text]).toEqual([400, 16, 'Query string authorization is not enabled']);
      expect(json.message).toContain('Authorization header');
      expect(json.message).not.toContain(sensor);
    }
    expect(await stored()).toBe(before);
  });
});

describe('health', () => {
  const get = (target: string, sent: Sent = {}) => told(target, undefined, { method: 'GET', ...sent });

  test('is reported to all clients, and a token sent along is checked', async () => {
    for (const target of [health, `${health}/1.0`]) {
      expect(await get(target, { authorization: '' })).toEqual([200, 17]);
      expect(await get(target)).toEqual([200, 17]);
      expect(await get(target, { authorization: 'Splunk x' })).toEqual([400, 21]);
      expect(await get(target, { authorization: `Splunk ${viewer}` })).toEqual([400, 21]);
    }
    const head = await fetch(service.url + health, { method: 'HEAD' });
    expect([head.status, await head.text()]).toEqual([200, '']);
  });

  test('reports that the service is stopping', async () => {
    let ready = true;
    const other = await openService({}, { ready: () => ready });
    try {
      expect(await get(health, { of: other, authorization: '' })).toEqual([200, 17]);
      ready = false;
      expect(await get(health, { of: other, authorization: '' })).toEqual([503, 23]);
    } finally {
      await other.close();
    }
  });

  test('reports that the ledger or the store is unavailable', async () => {
    const other = await openService();
    try {
      other.ledger.status = () => Promise.reject(new ServiceError('UNAVAILABLE', 'restarting'));
      expect(await get(health, { of: other, authorization: '' })).toEqual([503, 18]);
    } finally {
      await other.close();
    }
  });
});

describe('a request that the service cannot process', () => {
  test.each([
    ['OVERLOADED', undefined, '1'],
    ['RATE_LIMITED', { retry_after_s: 7 }, '7'],
    ['UNAVAILABLE', { reason: 'disk_full' }, '1'],
    ['WORKER_LOST', undefined, '1'],
  ] as const)(
    'gets the response "Server is busy", so that each client sends everything again: %s',
    async (code, details, wait) => {
      let full = true;
      const other: Service = await openService();
      const pipeline = other.services.ingest;
      const ingest: Services['ingest'] = {
        add: (...body) => (full ? Promise.reject(new ServiceError(code, 'full', details)) : pipeline.add(...body)),
      };
      Object.assign(other.services, { ingest });
      try {
        const authorization = `Splunk ${await tokenOf(other, ['sensor'])}`;
        const { status, json, headers } = await send(events, event(50), {
          of: other,
          authorization,
          headers: onChannel,
        });
        expect([status, json.code, json.text, headers.get('retry-after')]).toEqual([503, 9, 'Server is busy', wait]);
        expect(await told(health, undefined, { of: other, method: 'GET', authorization })).toEqual([503, 18]);
        full = false;
        expect((await send(events, event(50), { of: other, authorization, headers: onChannel })).json.ackId).toBe(0);
        expect(await told(health, undefined, { of: other, method: 'GET', authorization })).toEqual([200, 17]);
        expect(await stored(other)).toBe(1);
      } finally {
        await other.close();
      }
    },
  );

  test('gets an error that causes no retries if it fails unexpectedly; the response does not disclose the message', async () => {
    const broken = await openService({}, { ingest: { add: () => Promise.reject(new Error('secret')) } });
    try {
      const authorization = `Splunk ${await tokenOf(broken, ['sensor'])}`;
      const { status, json } = await send(events, event(51), { of: broken, authorization });
      expect([status, json.code, JSON.stringify(json).includes('secret')]).toEqual([500, 8, false]);
    } finally {
      await broken.close();
    }
  });

  test('gets the matching error if its body is too long', async () => {
    const small = await openService({ CANDOR_LIMITS_MAX_BODY_BYTES: '100000' });
    try {
      const authorization = `Splunk ${await tokenOf(small, ['sensor'])}`;
      expect(await told(events, 'x'.repeat(200_000), { of: small, authorization })).toEqual([413, 6]);
    } finally {
      await small.close();
    }
  });
});

describe('real clients', () => {
  const wired = async (bytes: string): Promise<string> => {
    const wire = await Wire.open(service.server.port);
    wire.send(bytes);
    const received = await wire.until(/\r\n\r\n.*\}$/s);
    wire.end();
    return received;
  };
  const framed = (head: readonly string[], body: string) =>
    [...head, `Content-Length: ${Buffer.byteLength(body)}`, '', body].join('\r\n');

  test('Fluent Bit may send no media type, and no separator between envelopes', async () => {
    const before = await stored();
    const envelope = (n: number) => `{"time":1700000000.123456,"host":"edge","source":"zeek","event":${text(conn(n))}}`;
    const body = envelope(60) + envelope(61);
    const head = [
      'POST /services/collector/event HTTP/1.1',
      'Host: 127.0.0.1:8088',
      'User-Agent: Fluent-Bit',
      `Authorization: Splunk ${sensor}`,
    ];
    expect(await wired(framed(head, body))).toMatch(/^HTTP\/1.1 200 OK\r\n(?:.|\r|\n)*\{"text":"Success","code":0\}$/);
    expect(await stored()).toBe(before + 2);
  });

  test('Vector can check health with its token, send events on a channel, and query until the events are on disk', async () => {
    const authorization = `Splunk ${sensor}`;
    expect(await told(`${health}/1.0`, undefined, { method: 'GET' })).toEqual([200, 17]);
    const headers = {
      'content-type': 'application/json',
      'x-splunk-request-channel': '6e2f9ce5-1f0e-4b3f-9b3a-0a8f2f1d4f00',
      'user-agent': 'Vector/0.50.0 (x86_64-unknown-linux-gnu)',
    };
    const line = (n: number) => ({
      ...{ file: '/opt/zeek/logs/current/conn.log', host: 'tap-2', source_type: 'file' },
      ...{ message: text(conn(n)), timestamp: '2026-11-20T23:15:00.123456789Z' },
    });
    const body = [62, 63]
      .map((n) => text({ event: line(n), fields: {}, time: 1763680500.123, host: 'tap-2' }))
      .join('');
    const gzipped = { ...headers, 'content-encoding': 'gzip' };
    const { status, json } = await send(events, gzipSync(body), { authorization, headers: gzipped });
    expect([status, json]).toEqual([200, { text: 'Success', code: 0, ackId: 0 }]);
    const asked = await send(ack, text({ acks: [0] }), { authorization, headers: gzipped });
    expect(asked.json).toEqual({ acks: { 0: true } });
  });

  test('Logstash may send an array of events, and curl a form media type', async () => {
    const headers = { 'content-type': 'application/json' };
    expect(await told(events, `[${event(64)},${event(65)}]`, { headers })).toEqual([200, 0]);
    expect(await told(events, event(66), { headers: { 'content-type': 'application/x-www-form-urlencoded' } })).toEqual(
      [200, 0],
    );
  });

  test('Firehose gets the error code for "no data" for an empty request on a channel', async () => {
    expect(await told(`${events}?channel=${channel}`, '')).toEqual([400, 5]);
    expect(await told(`${events}?channel=${channel}`)).toEqual([400, 5]);
  });
});
