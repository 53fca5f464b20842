import { gzipSync, zstdCompressSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type ErrorCode, ServiceError } from '../../src/errors.ts';
import { ProtobufReader } from '../../src/ingest/framing/protobuf-reader.ts';
import { anyOf, encodeRequest, type LogRecord, type LogsRequest, pairsOf, requestOf } from '../ingest/otlp-messages.ts';
import { adminOf, issue, openService, type Service } from './service.ts';

let service: Service;
let admin: string;
let sensor: string;
let viewer: string;

beforeAll(async () => {
  service = await openService();
  admin = await adminOf(service);
  sensor = await issue(service, admin, ['sensor']);
  viewer = await issue(service, admin, ['viewer']);
});
afterAll(() => service.close());

const conn = (n: number) => ({
  ts: 1_700_000_000 + n,
  uid: `C${n}`,
  'id.orig_h': '192.168.0.10',
  'id.orig_p': 40_000 + (n % 20_000),
  'id.resp_h': '203.0.113.5',
  'id.resp_p': 443,
  proto: 'tcp',
  conn_state: 'SF',
});
const text = (record: object): LogRecord => ({ body: { stringValue: JSON.stringify(record) } });

const encodings = ['application/x-protobuf', 'application/json'] as const;
type MediaType = (typeof encodings)[number];
const encode = (type: MediaType, request: LogsRequest): Uint8Array<ArrayBuffer> =>
  new Uint8Array(type === 'application/json' ? Buffer.from(JSON.stringify(request)) : encodeRequest(request));

/** Returns the fields of a message by number: strings and messages as bytes. */
function fieldsOf(message: Uint8Array): Map<number, number | Buffer> {
  const bytes = Buffer.from(message);
  const reader = new ProtobufReader(bytes);
  const fields = new Map<number, number | Buffer>();
  while (reader.next())
    fields.set(reader.field, reader.stop > 0 ? bytes.subarray(reader.start, reader.stop) : reader.low);
  return fields;
}
const messageIn = (message: Uint8Array, field: number) => fieldsOf(message).get(field) as Buffer | undefined;

interface PartialSuccess {
  readonly rejected: number;
  readonly message: string;
}

/** Returns the partial success in a response; undefined if the response has no partial success. */
function responseOf(type: MediaType, body: Buffer): PartialSuccess | undefined {
  if (type === 'application/json') {
    const { partialSuccess, ...others } = JSON.parse(body.toString());
    expect(others).toEqual({});
    if (partialSuccess === undefined) return undefined;
    const { rejectedLogRecords = '0', errorMessage } = partialSuccess;
    expect(typeof rejectedLogRecords).toBe('string');
    return { rejected: Number(rejectedLogRecords), message: errorMessage };
  }
  const partial = messageIn(body, 1);
  if (partial === undefined) return undefined;
  return { rejected: Number(fieldsOf(partial).get(1) ?? 0), message: String(messageIn(partial, 2)) };
}

function statusOf(type: MediaType, body: Buffer) {
  if (type === 'application/json') {
    const { code, message, details = [] } = JSON.parse(body.toString());
    if (details.length > 0) expect(details[0]['@type']).toBe('type.googleapis.com/google.rpc.BadRequest');
    const violation = details[0]?.fieldViolations[0];
    return { code, message, field: violation?.field };
  }
  const any = messageIn(body, 3);
  if (any !== undefined) expect(String(messageIn(any, 1))).toBe('type.googleapis.com/google.rpc.BadRequest');
  const violation = any && messageIn(messageIn(any, 2)!, 1);
  return {
    code: fieldsOf(body).get(1),
    message: String(messageIn(body, 2)),
    field: violation && String(messageIn(violation, 1)),
  };
}

interface Sent {
  readonly of?: Service;
  /** The whole Authorization header; omitted if empty. */
  readonly authorization?: string;
  readonly headers?: Record<string, string>;
  readonly query?: string;
}

async function send(
  type: MediaType,
  body: LogsRequest | Uint8Array<ArrayBuffer>,
  { of = service, authorization = `Bearer ${sensor}`, headers = {}, query = '' }: Sent = {},
) {
  const answer = await fetch(`${of.url}/v1/logs${query}`, {
    method: 'POST',
    headers: {
      ...(authorization === '' ? {} : { authorization }),
      'content-type': type,
      ...headers,
    },
    body: body instanceof Uint8Array ? body : encode(type, body),
  });
  return { status: answer.status, headers: answer.headers, body: Buffer.from(await answer.arrayBuffer()) };
}

const networkEvents = async () => (await service.store.status()).events.network;
const eventOf = async (uid: string) => {
  const { body } = await service.call('listNetworkEvents', `GET /api/v1/events/network?q=${uid}`, {
    token: admin,
  });
  return (body as { data: { attributes: Record<string, unknown> }[] }).data.map(({ attributes }) => attributes);
};

describe.each(encodings)('a request in %s', (type) => {
  const n = type === 'application/json' ? 1000 : 2000;

  test('gets an empty response if it is accepted completely', async () => {
    const before = await networkEvents();
    const request = requestOf([text(conn(n)), { body: anyOf(conn(n + 1)) }, { attributes: pairsOf(conn(n + 2)) }], {
      'host.name': 'tap-1',
    });
    const answer = await send(type, request);
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, type]);
    expect(answer.body.toString()).toBe(type === 'application/json' ? '{}' : '');
    expect(await networkEvents()).toBe(before + 3);
    for (const uid of [`C${n}`, `C${n + 1}`, `C${n + 2}`])
      expect(await eventOf(uid)).toMatchObject([{ connection_id: uid, sensor: 'tap-1', source: 'zeek' }]);
  });

  test('gets the number and the reason of rejected records; the others are stored', async () => {
    const before = await networkEvents();
    const ignored = text({ _path: 'http', ts: 1, uid: 'C9' });
    const records = [text(conn(n + 10)), text({ ...conn(n + 11), ts: 'x' }), ignored, text({ a: 1 }), {}];
    const { status, body } = await send(type, requestOf(records));
    expect(status).toBe(200);
    expect(responseOf(type, body)).toEqual({
      rejected: 3,
      message:
        '3 of 5 log records were rejected; log record 2: ts is "x", not an ISO 8601 time in the years 1970 to 9999; ' +
        'log record 4: the record is in no known format; log record 5: body is neither a JSON object nor a key-value list, ' +
        'and there are no attributes',
    });
    expect(await networkEvents()).toBe(before + 1);
  });

  test('succeeds if all records are rejected, and its response stays short', async () => {
    const records = Array.from({ length: 5000 }, () =>
      text({ ...conn(1), [`${'x'.repeat(300)}`]: 1, proto: 'x'.repeat(500) }),
    );
    const { status, body } = await send(type, requestOf(records));
    expect([status, responseOf(type, body)?.rejected]).toEqual([200, 5000]);
    expect(body.length).toBeLessThan(1500);
  });

  test('that is repeated gets the same response, and records with known ids are not stored again', async () => {
    const attributes = pairsOf({ 'log.record.uid': `01ARZ3NDEKTSV4RRFFQ69G5F${n}` });
    const request = requestOf([{ ...text(conn(n + 20)), attributes }, text(conn(n + 21))]);
    const before = await networkEvents();
    for (const wanted of [2, 3]) {
      const { body } = await send(type, request);
      expect(responseOf(type, body)).toBeUndefined();
      expect(await networkEvents()).toBe(before + wanted);
    }
  });

  test.each([
    ['gzip', gzipSync],
    ['zstd', zstdCompressSync],
  ])('is accepted in %s, and rejected completely if the body is truncated', async (coding, compress) => {
    const bytes = new Uint8Array(compress(encode(type, requestOf([text(conn(n + 30))]))));
    const headers = { 'content-encoding': coding };
    const { status, body } = await send(type, bytes, { headers });
    expect([status, responseOf(type, body)]).toEqual([200, undefined]);
    const before = await networkEvents();
    const cut = await send(type, bytes.slice(0, -5), { headers });
    expect([cut.status, statusOf(type, cut.body)]).toMatchObject([400, { code: 3, field: 'body' }]);
    expect(await networkEvents()).toBe(before);
  });

  test('is rejected and stores nothing if it is truncated', async () => {
    const bytes = encode(type, requestOf([text(conn(n + 40)), text(conn(n + 41))]));
    const before = await networkEvents();
    const { status, headers, body } = await send(type, bytes.slice(0, -3));
    expect([status, headers.get('content-type')]).toEqual([400, type]);
    expect(statusOf(type, body)).toMatchObject({
      code: 3,
      field: 'body',
      message: expect.stringMatching(/is truncated$/),
    });
    expect(await networkEvents()).toBe(before);
  });

  test.each<[string, string, number, number]>([
    ['no credentials', '', 401, 16],
    ['a bad token', 'Bearer x', 401, 16],
    ['a password that is not a token', `Basic ${btoa('admin:x')}`, 401, 16],
    ['a token with read access only', 'viewer', 403, 7],
  ])('is refused with %s', async (_, authorization, status, code) => {
    const answer = await send(type, requestOf([text(conn(n + 50))]), {
      authorization: authorization === 'viewer' ? `Bearer ${viewer}` : authorization,
    });
    expect([answer.status, statusOf(type, answer.body).code]).toEqual([status, code]);
    expect(answer.headers.get('www-authenticate') !== null).toBe(status === 401);
    expect(answer.headers.get('content-type')).toBe(type);
  });

  test('may send its token as a password', async () => {
    const { status } = await send(type, requestOf([text(conn(n + 60))]), {
      authorization: `Basic ${btoa(`collector:${sensor}`)}`,
    });
    expect(status).toBe(200);
  });

  test('may name the sensor in the query; another parameter is rejected', async () => {
    await send(type, requestOf([text(conn(n + 70))], { 'host.name': 'h' }), { query: '?sensor=named' });
    expect(await eventOf(`C${n + 70}`)).toMatchObject([{ sensor: 'named' }]);
    const wrong = await send(type, requestOf([]), { query: '?sensors=named' });
    expect([wrong.status, statusOf(type, wrong.body).field]).toEqual([400, 'sensors']);
  });

  test('succeeds without records; a JSON response says that no record is stored', async () => {
    expect((await send(type, requestOf([]))).status).toBe(200);
    const { body } = await send(type, requestOf([]));
    const json = type === 'application/json';
    expect(responseOf(type, body)).toEqual(
      json ? { rejected: 0, message: 'the request contains no log records to store' } : undefined,
    );
    const empty = new Uint8Array(json ? Buffer.from('{}') : []);
    const nothing = await send(type, empty);
    expect([nothing.status, responseOf(type, nothing.body)]).toEqual([200, undefined]);
  });

  test('is rejected if it is too large', async () => {
    const bytes = new Uint8Array(17 * 2 ** 20);
    const { status, body } = await send(type, bytes);
    expect([status, statusOf(type, body).code]).toEqual([413, 3]);
    const bomb = new Uint8Array(gzipSync(Buffer.alloc(65 * 2 ** 20)));
    const inflated = await send(type, bomb, { headers: { 'content-encoding': 'gzip' } });
    expect([inflated.status, statusOf(type, inflated.body).code]).toEqual([413, 3]);
  });

  test.each<[ErrorCode, number, number]>([
    ['OVERLOADED', 503, 14],
    ['UNAVAILABLE', 503, 14],
    ['WORKER_LOST', 503, 14],
    ['RATE_LIMITED', 429, 8],
    ['INTERNAL', 500, 13],
  ])('gets %s in the encoding of the request', async (error, status, code) => {
    const add = () => Promise.reject(new ServiceError(error, 'refused', { retry_after_s: 7 }));
    const other = await openService({}, { ingest: { add } });
    try {
      const authorization = `Bearer ${await adminOf(other)}`;
      const answer = await send(type, requestOf([text(conn(1))]), { of: other, authorization });
      expect([answer.status, statusOf(type, answer.body).code]).toEqual([status, code]);
      expect(answer.headers.get('retry-after')).toBe(status === 500 ? null : '7');
      expect(answer.headers.get('content-type')).toBe(type);
    } finally {
      await other.close();
    }
  });
});

test('a body of another media type is rejected with an error in JSON', async () => {
  const answer = await send('application/json', new Uint8Array(2), {
    headers: { 'content-type': 'text/plain' },
  });
  expect([answer.status, answer.headers.get('content-type')]).toEqual([415, 'application/json']);
  expect(statusOf('application/json', answer.body)).toMatchObject({ code: 3, field: 'content-type' });
});
