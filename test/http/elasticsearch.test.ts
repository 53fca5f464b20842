import { once } from 'node:events';
import { connect } from 'node:net';
import { gzipSync, zstdCompressSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ServiceError } from '../../src/errors.ts';
import { adminOf, issue, openService, password, type Service } from './service.ts';

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
const lookup = (n: number) => ({
  ts: 1_700_000_000 + n,
  uid: `D${n}`,
  'id.orig_h': '192.168.0.10',
  'id.orig_p': 50_000,
  'id.resp_h': '192.168.0.1',
  'id.resp_p': 53,
  proto: 'udp',
  trans_id: 1,
  query: 'a.example',
  qtype_name: 'A',
});
const ndjson = (...lines: unknown[]) => lines.map((line) => `${JSON.stringify(line)}\n`).join('');

interface Sent {
  readonly of?: Service;
  readonly method?: string;
  /** The whole Authorization header; omitted if empty. */
  readonly authorization?: string;
  readonly headers?: Record<string, string>;
  readonly body?: string | Uint8Array<ArrayBuffer>;
}

/** Sends a request, and checks that the response names the product: clients stop if the name is missing. */
async function send(target: string, { of = service, method = 'GET', authorization, headers = {}, body }: Sent = {}) {
  const shown = authorization ?? `Bearer ${sensor}`;
  const answer = await fetch(of.url + target, {
    method,
    headers: {
      ...(shown === '' ? {} : { authorization: shown }),
      ...(body === undefined ? {} : { 'content-type': 'application/x-ndjson' }),
      ...headers,
    },
    ...(body === undefined ? {} : { body }),
  });
  expect(answer.headers.get('x-elastic-product')).toBe('Elasticsearch');
  const text = await answer.text();
  return {
    status: answer.status,
    type: answer.headers.get('content-type'),
    headers: answer.headers,
    text,
    json: text === '' ? undefined : JSON.parse(text),
  };
}

const bulk = (body: string | Uint8Array<ArrayBuffer>, more: Sent & { query?: string } = {}) =>
  send(`/_bulk${more.query ?? ''}`, { method: 'POST', body, ...more });

const networkEvents = async () => (await service.store.status()).events.network;

describe('a bulk request', () => {
  test('reports the outcome of each item, in order', async () => {
    const body = ndjson(
      { create: { _index: 'logs', _id: 'first' } },
      conn(1),
      { index: { _index: 'logs' } },
      conn(2),
      { create: {} },
      { ...conn(3), ts: 'yesterday' },
      { create: {} },
      { _path: 'http', ts: 1, uid: 'C9' },
      { create: { _id: 'first' } },
      conn(1),
      { index: { _id: 'first' } },
      conn(1),
      { delete: { _id: 'first' } },
      { update: { _id: 'first' } },
      { doc: {} },
      { index: { _id: '' } },
      conn(4),
      { create: {} },
      { message: 'a line of something else' },
    );
    const { status, type, text, json } = await bulk(body, { query: '?sensor=tap' });
    expect([status, type]).toEqual([200, 'application/json']);
    expect(text).toMatch(/^\{"took":\d+,"errors":true,"items":\[\{"create":\{"_index":"logs","_id":"first",/);
    const event = json.items[1].index._id;
    const outcomes = (json.items as Record<string, { [field: string]: unknown; error?: { type: string } }>[]).map(
      (item) => Object.entries(item).map(([action, is]) => [action, is._id, is.status, is.result ?? is.error?.type])[0],
    );
    expect(outcomes).toEqual([
      ['create', 'first', 201, 'created'],
      ['index', event, 201, 'created'],
      ['create', undefined, 400, 'document_parsing_exception'],
      ['create', undefined, 200, 'noop'],
      ['create', 'first', 409, 'version_conflict_engine_exception'],
      ['index', 'first', 200, 'noop'],
      ['delete', 'first', 400, 'illegal_argument_exception'],
      ['update', 'first', 400, 'illegal_argument_exception'],
      ['index', undefined, 400, 'illegal_argument_exception'],
      ['create', undefined, 400, 'document_parsing_exception'],
    ]);
    expect(json.items[2].create.error.reason).toContain('[ts]');
    expect(json.items[4].create.error.reason).toContain('version conflict');
    expect(json.items[9].create.error.reason).toContain('[message]');
    const stored = await service.call('getNetworkEvent', `GET /api/v1/events/network/${event}`, {
      token: admin,
    });
    expect(stored.body).toMatchObject({ data: { attributes: { connection_id: 'C2', sensor: 'tap' } } });
  });

  test('recognises ids that were stored before, and stores no record twice', async () => {
    const once = ndjson({ create: { _id: 'kept' } }, conn(10), { create: {} }, conn(11));
    expect((await bulk(once)).json).toMatchObject({ errors: false });
    const before = await networkEvents();
    const again = await bulk(ndjson({ create: { _id: 'kept' } }, conn(10), { index: { _id: 'kept' } }, conn(10)));
    expect(again.text).toContain('"errors":true');
    expect(again.json.items).toMatchObject([
      { create: { status: 409, _id: 'kept', error: { type: 'version_conflict_engine_exception' } } },
      { index: { status: 200, result: 'noop', _id: 'kept' } },
    ]);
    const other = await bulk(ndjson({ index: { _id: 'kept' } }, conn(10), { index: {} }, conn(12)));
    expect(other.text).toContain('"errors":false');
    const id = other.json.items[1].index._id;
    expect(other.json.items).toMatchObject([{ index: { result: 'noop' } }, { index: { result: 'created' } }]);
    expect(await networkEvents()).toBe(before + 1);
    const stored = await service.call('getNetworkEvent', `GET /api/v1/events/network/${id}`, {
      token: admin,
    });
    expect(stored.body).toMatchObject({ data: { attributes: { connection_id: 'C12' } } });
    // The same id is the same record, for any index and path.
    const elsewhere = await send('/logs-2026.01.02/_bulk', {
      method: 'PUT',
      body: ndjson({ create: { _id: 'kept' } }, conn(10)),
    });
    expect(elsewhere.json.items).toMatchObject([{ create: { status: 409, _index: 'logs-2026.01.02' } }]);
    // Another token of the same principal shares the ids.
    const sender = await bulk(ndjson({ create: { _id: 'kept' } }, conn(10)), {
      authorization: `Bearer ${await issue(service, admin, ['sensor'])}`,
    });
    expect(sender.json.errors).toBe(true);
  });

  test('recognises the id inside a record', async () => {
    const id = '0199b1c2-0000-7000-8000-0000000000aa';
    const event = {
      ...{ type: 'network_event', id, timestamp: '2026-01-01T00:00:00Z', transport: 'tcp' },
      ...{ src_ip: '192.168.0.1', dst_ip: '192.168.0.2' },
    };
    expect((await bulk(ndjson({ create: {} }, event))).json.items).toMatchObject([
      { create: { status: 201, _id: id } },
    ]);
    for (const query of ['', '?filter_path=items.*.status,items.*._id,items.*._index']) {
      const { items } = (await bulk(ndjson({ create: {} }, event, { index: {} }, event), { query })).json;
      expect(items).toMatchObject([{ create: { status: 409, _index: 'candor' } }, { index: { status: 200 } }]);
      for (const { create = {}, index = {} } of items) expect({ ...create, ...index }).not.toHaveProperty('_id');
    }
  });

  test('returns the ids of events in several blocks and tables', async () => {
    const lines = Array.from({ length: 9000 }, (_, n) => [
      { create: n % 100 === 3 ? { _id: `many ${n % 1000}` } : {} },
      n % 2 === 0 ? conn(n) : lookup(n),
    ]);
    const { json } = await bulk(ndjson(...lines.flat()));
    const items = json.items.map(({ create }: { create: object }) => create);
    expect(items.filter(({ status }: { status: number }) => status === 409)).toHaveLength(80);
    for (const n of [0, 1, 4, 4999, 8998, 8999]) {
      const [operation, path, uid] =
        n % 2 === 0 ? (['getNetworkEvent', 'network', `C${n}`] as const) : (['getDnsEvent', 'dns', `D${n}`] as const);
      const { body } = await service.call(operation, `GET /api/v1/events/${path}/${items[n]._id}`, {
        token: admin,
      });
      expect(body).toMatchObject({ data: { attributes: { connection_id: uid } } });
    }
  });

  test.each([
    ['errors,items.*.error,items.*.status', /^\{"errors":false,"items":\[\{"index":\{"status":201\}\}\]\}$/],
    ['took,errors', /^\{"took":\d+,"errors":false\}$/],
    ['errors', /^\{"errors":false\}$/],
    ['items.*.error', /^\{\}$/],
    ['items.index.status', /^\{"items":\[\{"index":\{"status":201\}\}\]\}$/],
    [
      'items.*._index,items.*.status,items.*.error.type',
      /^\{"items":\[\{"index":\{"_index":"candor","status":201\}\}\]\}$/,
    ],
    ['-took', /^\{"took":\d+,"errors":false,"items":\[\{"index":\{"_index":"candor","_id":"/],
    ['**.status', /^\{"took":/],
    ['', /^\{"took":/],
  ])('returns the requested parts: %s', async (path, wanted) => {
    const { text } = await bulk(ndjson({ index: {} }, conn(20)), { query: `?filter_path=${path}` });
    expect(text).toMatch(wanted);
  });

  test('reports a failed creation to a client that requested only other parts', async () => {
    const body = ndjson({ create: { _id: 'twice' } }, conn(21), { create: { _id: 'twice' } }, conn(21));
    expect((await bulk(body, { query: '?filter_path=errors' })).text).toBe('{"errors":true}');
    expect((await bulk(body, { query: '?filter_path=errors,items.*.status,items.*.error' })).json).toMatchObject({
      errors: true,
      items: [{ create: { status: 409 } }, { create: { status: 409 } }],
    });
    expect((await bulk(body, { query: '?filter_path=items.*.error' })).json.items).toHaveLength(2);
  });

  test.each([
    ['gzip', gzipSync],
    ['zstd', zstdCompressSync],
  ])('is accepted in %s, and rejected completely if the body is truncated', async (coding, compress) => {
    const bytes = new Uint8Array(compress(Buffer.from(ndjson({ index: {} }, conn(30)))));
    const headers = { 'content-encoding': coding };
    expect((await bulk(bytes, { headers })).json).toMatchObject({ errors: false });
    const before = await networkEvents();
    const cut = await bulk(bytes.slice(0, -5), { headers });
    expect([cut.status, cut.json.error.type]).toEqual([400, 'illegal_argument_exception']);
    expect(await networkEvents()).toBe(before);
  });

  test('stores nothing if an action line is invalid', async () => {
    const before = await networkEvents();
    const { status, json } = await bulk(ndjson({ index: {} }, conn(31), conn(32), conn(33)));
    expect([status, json.error.root_cause[0]]).toEqual([
      400,
      { type: 'illegal_argument_exception', reason: expect.stringContaining('line 3') },
    ]);
    expect(await networkEvents()).toBe(before);
  });

  test('is rejected without a body', async () => {
    const { status, json } = await bulk('');
    expect([status, json.error.reason]).toEqual([400, 'body is missing']);
  });

  test('stores nothing if the sender disconnects in the middle', async () => {
    const before = await networkEvents();
    const socket = connect(Number(new URL(service.url).port), '127.0.0.1');
    await once(socket, 'connect');
    const chunk = ndjson({ index: {} }, conn(34));
    socket.write(
      `POST /_bulk HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${sensor}\r\nContent-Type: application/x-ndjson\r\n` +
        `Transfer-Encoding: chunked\r\n\r\n${chunk.length.toString(16)}\r\n${chunk}\r\n`,
    );
    await new Promise((resolve) => setTimeout(resolve, 50));
    socket.destroy();
    await once(socket, 'close');
    await bulk(ndjson({ index: {} }, { ...conn(35), ts: 'bad' }));
    expect(await networkEvents()).toBe(before);
  });

  test('accepts the parameters that clients send, and names unknown parameters in the error', async () => {
    const query =
      '?pipeline=a&refresh&timeout=90s&wait_for_active_shards=1&require_data_stream=true&_source=false&pretty';
    expect((await bulk(ndjson({ index: {} }, conn(36)), { query })).status).toBe(200);
    const { status, json } = await bulk('', { query: '?refreshh=true' });
    expect([status, json.error.reason]).toEqual([400, 'refreshh is not a known parameter; did you mean `refresh`?']);
  });
});

describe('media types', () => {
  const versioned = (version: number, kind = 'json') =>
    `application/vnd.elasticsearch+${kind}; compatible-with=${version}`;

  test.each([8, 9])('of version %i are accepted, and are used in the response', async (version) => {
    const headers = { accept: versioned(version), 'content-type': versioned(version, 'x-ndjson') };
    const answer = await bulk(ndjson({ index: {} }, conn(40)), { headers });
    const type = `application/vnd.elasticsearch+json;compatible-with=${version}`;
    expect([answer.status, answer.type]).toEqual([200, type]);
    expect((await send('/', { headers: { accept: versioned(version) } })).type).toBe(type);
    const refused = await send('/_license', { headers: { accept: versioned(version) }, authorization: '' });
    expect([refused.status, refused.type]).toEqual([401, type]);
  });

  test('for JSON are accepted, with one record per line', async () => {
    const headers = { 'content-type': 'application/json; charset=UTF-8' };
    expect((await bulk(ndjson({ index: {} }, conn(41)), { headers })).json).toMatchObject({ errors: false });
  });

  test('for other formats are rejected', async () => {
    const { status, json } = await bulk('a', { headers: { 'content-type': 'text/csv' } });
    expect([status, json.error.type]).toEqual([415, 'media_type_header_exception']);
  });
});

describe('the check of credentials', () => {
  const base64 = (text: string) => Buffer.from(text).toString('base64');

  test.each([
    ['Bearer', (token: string) => `Bearer ${token}`],
    ['Basic, token as password', (token: string) => `Basic ${base64(`filebeat:${token}`)}`],
    ['Basic, without a username', (token: string) => `basic ${base64(`:${token}`)}`],
    ['ApiKey, token unchanged', (token: string) => `ApiKey ${token}`],
    ['ApiKey, token as key', (token: string) => `ApiKey ${base64(`any:${token}`)}`],
    ['Splunk', (token: string) => `Splunk ${token}`],
  ])('accepts tokens that may send, and rejects others: %s', async (_, header) => {
    const body = ndjson({ index: {} }, conn(50));
    const session = await adminOf(service);
    for (const path of ['/api/v1/ingest', '/api/v1/events/network', '/api/v1/events/dns']) {
      const headers = { authorization: header(sensor), 'content-type': 'application/json' };
      const init = { method: 'POST', body: '{}', headers };
      expect([path, (await fetch(service.url + path, init)).status]).toEqual([path, 200]);
    }
    for (const token of [sensor, admin, session])
      expect((await bulk(body, { authorization: header(token) })).json).toMatchObject({ errors: false });
    const forbidden = await bulk(body, { authorization: header(viewer) });
    expect([forbidden.status, forbidden.json.error.type]).toEqual([403, 'security_exception']);
    for (const token of ['', 'admin', password, `${sensor}x`, sensor.slice(0, -1)]) {
      const refused = await bulk(body, { authorization: header(token) });
      expect([refused.status, refused.json.error.type]).toEqual([401, 'security_exception']);
      expect(refused.headers.get('www-authenticate')).toContain('Basic realm=');
    }
  });

  test.each(['', 'Basic', 'Basic ?', `Basic ${base64('nocolon')}`, 'Negotiate abc', 'constructor x'])(
    'rejects bad credentials: %s',
    async (authorization) => {
      expect((await send('/', { authorization })).status).toBe(401);
    },
  );

  test('rejects shipper credentials on other endpoints', async () => {
    const headers = { authorization: `Basic ${base64(`admin:${admin}`)}` };
    expect((await fetch(`${service.url}/auth/me`, { headers })).status).toBe(401);
  });
});

describe('requests that shippers make at their start', () => {
  test('get the product and its version', async () => {
    const { status, json } = await send('/');
    expect([status, json.tagline]).toEqual([200, 'You Know, for Search']);
    expect(json.version.number).toMatch(/^8\.\d+\.\d+$/);
    expect((await send('/?pretty', { method: 'HEAD' })).text).toBe('');
  });

  test('from a browser do not get the product and its version', async () => {
    const answer = await fetch(service.url, {
      headers: { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' },
    });
    expect(answer.status).toBe(404);
    expect(await answer.text()).toContain('npm run build:console');
  });

  test.each<[string, string, object | '']>([
    ['GET', '/_license?human=false', { license: { status: 'active', type: 'basic' } }],
    ['GET', '/_xpack', { features: { ilm: { available: false } } }],
    ['GET', '/_cluster/health', { status: 'green' }],
    ['GET', '/_cluster/health/logs?wait_for_status=yellow', { status: 'green' }],
    ['GET', '/_nodes/http', { nodes: {} }],
    ['GET', '/_nodes', { nodes: {} }],
    ['GET', '/_cat/health?format=json', [{ status: 'green' }]],
    ['GET', '/_ilm/policy/filebeat', {}],
    ['GET', '/_ingest/pipeline/filebeat-8.15.0-suricata-eve-pipeline', {}],
    ['GET', '/_logstash/pipeline', {}],
    ['HEAD', '/_index_template/filebeat-8.15.0', ''],
    ['HEAD', '/_data_stream/filebeat-8.15.0', ''],
    ['HEAD', '/_template/logstash?include_type_name=true', ''],
    ['PUT', '/_index_template/ecs-logstash', { acknowledged: true }],
    ['PUT', '/_component_template/a', { acknowledged: true }],
    ['PUT', '/_template/logstash', { acknowledged: true }],
    ['PUT', '/_ilm/policy/filebeat', { acknowledged: true }],
    ['PUT', '/_ingest/pipeline/p', { acknowledged: true }],
    ['PUT', '/_data_stream/filebeat-8.15.0', { acknowledged: true }],
  ])('get the response that shippers expect: %s %s', async (method, target, wanted) => {
    const body = method === 'PUT' ? { body: '{"a":1}' } : {};
    const { status, text, json } = await send(target, { method, ...body });
    expect(status).toBe(200);
    if (wanted === '') expect(text).toBe('');
    else expect(json).toMatchObject(wanted);
  });
});

describe('an overloaded or failing service', () => {
  const reasons = [
    ['OVERLOADED', undefined, '1'],
    ['RATE_LIMITED', { retry_after_s: 7 }, '7'],
    ['UNAVAILABLE', { reason: 'disk_full' }, '1'],
    ['WORKER_LOST', undefined, '1'],
  ] as const;

  test.each(reasons)('rejects the request with 429, or 503 for official clients: %s', async (code, details, wait) => {
    const refuse = () => Promise.reject(new ServiceError(code, 'full', details));
    const full = await openService({}, { ingest: { add: refuse } });
    try {
      const authorization = `Bearer ${await adminOf(full)}`;
      const body = ndjson({ index: {} }, conn(60));
      const shipper = await bulk(body, { of: full, authorization });
      expect([shipper.status, shipper.headers.get('retry-after')]).toEqual([429, wait]);
      expect(shipper.json).toMatchObject({
        error: { type: 'es_rejected_execution_exception' },
        status: 429,
      });
      const accept = 'application/vnd.elasticsearch+json; compatible-with=8';
      const official = await bulk(body, { of: full, authorization, headers: { accept } });
      expect([official.status, official.headers.get('retry-after')]).toEqual([503, wait]);
    } finally {
      await full.close();
    }
  });

  test('responds 500 to an unexpected error, and does not disclose its message', async () => {
    const broken = await openService({}, { ingest: { add: () => Promise.reject(new Error('secret')) } });
    try {
      const authorization = `Bearer ${await adminOf(broken)}`;
      const { status, text } = await bulk(ndjson({ index: {} }, conn(61)), { of: broken, authorization });
      expect([status, text]).toEqual([500, expect.not.stringContaining('secret')]);
    } finally {
      await broken.close();
    }
  });
});
