/**
 * Every endpoint in the specification, over HTTP. `service.call` and `assertServerMessage` check each response
 * against the schemas in the code, and `expectDescribed` against the OpenAPI document that the service serves.
 */
import { once } from 'node:events';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { assertServerMessage } from '../../scripts/contract-assertions.ts';
import { channels } from '../../src/contract/channels.ts';
import { openApiDocument } from '../../src/contract/openapi.ts';
import { type OperationId, operationIds, routeOf } from '../../src/contract/routes.ts';
import { specification } from '../system/shared-data.ts';
import { adminOf, openService, password, type Service } from './service.ts';

const text = specification() ?? '';
/** Endpoints such as `GET /api/v1/assets/:id`, from table rows with a method and a path, and from headings. */
const specified = [...text.matchAll(/^\| (GET|POST|PUT|DELETE) \| (\S+) \||^#### (GET) (\S+)$/gm)].map(
  ([, method, path, get, log]) => `${method ?? get} ${path ?? log}`,
);

let service: Service;
let admin: string;
let refresh: string;
let ajv: Ajv2020;
const ids = {} as Record<'asset' | 'network' | 'dns' | 'alert' | 'service', string>;

const first = ({ body }: { body: unknown }) => (body as { data: [{ id: string }] }).data[0].id;
const list = (operation: OperationId, path: string) => service.call(operation, `GET ${path}`, { token: admin });

beforeAll(async () => {
  if (text === '') return;
  service = await openService();
  admin = await adminOf(service);
  const { body: document } = await service.call('getOpenApi', 'GET /api/v1/openapi.json');
  ajv = new Ajv2020({ strict: false, validateFormats: false, validateSchema: false });
  ajv.addSchema(document as object, 'openapi');
  const timestamp = new Date().toISOString();
  const records = [
    {
      type: 'network_event',
      timestamp,
      src_ip: '10.0.0.1',
      src_port: 50000,
      dst_ip: '10.0.0.2',
      dst_port: 22,
    },
    {
      type: 'dns_event',
      timestamp,
      src_ip: '10.0.0.1',
      dst_ip: '10.0.0.53',
      kind: 'query',
      query: 'a.example',
    },
    {
      ...{
        timestamp,
        event_type: 'alert',
        src_ip: '10.0.0.1',
        src_port: 1,
        dest_ip: '10.0.0.2',
        dest_port: 80,
      },
      ...{ proto: 'TCP', alert: { gid: 1, signature_id: 5, signature: 'probe', severity: 1 } },
    },
  ].map((record) => ('type' in record ? { transport: 'tcp', state: 'closed', ...record } : record));
  const json = records.map((record) =>
    'kind' in record
      ? { ...record, state: undefined, transport: 'udp' }
      : { ...record, src_packets: 3, dst_packets: 3 },
  );
  const sent = await service.call('ingest', 'POST /api/v1/ingest', { token: admin, json });
  expect(sent.body).toMatchObject({ data: { accepted: 3 } });
  await service.pump.idle();
  ids.asset = first(await list('listAssets', '/api/v1/assets'));
  ids.network = first(await list('listNetworkEvents', '/api/v1/events/network'));
  ids.dns = first(await list('listDnsEvents', '/api/v1/events/dns'));
  ids.alert = first(await list('listAlerts', '/api/v1/alerts'));
  ids.service = first(await list('listServices', '/api/v1/services'));
  const { body } = await service.call('login', 'POST /auth/login', { json: { username: 'admin', password } });
  refresh = (body as { refresh_token: string }).refresh_token;
});
afterAll(() => service?.close());

/** Requests that need a path or a body, or whose success status is not 200. */
const exercises: Readonly<Record<string, () => { path?: string; json?: object; status?: number }>> = {
  'POST /auth/login': () => ({ json: { username: 'admin', password } }),
  'POST /auth/refresh': () => ({ json: { refresh_token: refresh } }),
  'POST /auth/logout': () => ({ status: 204 }),
  'POST /api/v1/assets': () => ({ json: { name: 'by hand' }, status: 201 }),
  'GET /api/v1/assets/:id': () => ({ path: `/api/v1/assets/${ids.asset}` }),
  'PUT /api/v1/assets/:id': () => ({ path: `/api/v1/assets/${ids.asset}`, json: { owner: 'ana' } }),
  'DELETE /api/v1/assets/:id': () => ({ path: `/api/v1/assets/${ids.asset}`, status: 204 }),
  'GET /api/v1/events/network/:id': () => ({ path: `/api/v1/events/network/${ids.network}` }),
  'GET /api/v1/events/dns/:id': () => ({ path: `/api/v1/events/dns/${ids.dns}` }),
  'GET /api/v1/alerts/:id': () => ({ path: `/api/v1/alerts/${ids.alert}` }),
  'PUT /api/v1/alerts/:id': () => ({
    path: `/api/v1/alerts/${ids.alert}`,
    json: { assignee: 'admin', note: 'seen', status: 'in_progress' },
  }),
  'POST /api/v1/alerts/:id/notes': () => ({
    path: `/api/v1/alerts/${ids.alert}/notes`,
    json: { text: 'more' },
    status: 201,
  }),
  'GET /api/v1/services/:id': () => ({ path: `/api/v1/services/${ids.service}` }),
  'GET /api/v1/services/asset/:asset_id': () => ({ path: `/api/v1/services/asset/${ids.asset}` }),
  'POST /api/v1/discovery/scan': () => ({ json: { targets: ['127.0.0.1'], ports: '1' }, status: 202 }),
  'PUT /api/v1/config': () => ({ json: { settings: { 'network.home': ['10.0.0.0/8'] } } }),
  'GET /api/transparency/inclusion': () => ({ path: '/api/transparency/inclusion?leaf_index=0&tree_size=1' }),
  'GET /api/transparency/consistency': () => ({ path: '/api/transparency/consistency?first=1&second=2' }),
  'GET /api/transparency/leaf': () => ({ path: '/api/transparency/leaf?leaf_index=0' }),
};

/** Checks a response against the served OpenAPI document. `path` is the path of the route. */
function expectDescribed(method: string, path: string, status: number, body: unknown): void {
  const steps = ['paths', path.replaceAll(/:(\w+)/g, '{$1}'), method.toLowerCase(), 'responses', `${status}`];
  const pointer = steps.map((step) => step.replaceAll('~', '~0').replaceAll('/', '~1')).join('/');
  const described = ajv.compile({ $ref: `openapi#/${pointer}` });
  expect(described).toBeDefined();
  if (typeof body !== 'object') return;
  const validate = ajv.compile({ $ref: `openapi#/${pointer}/content/application~1json/schema` });
  validate(body);
  expect(validate.errors ?? []).toEqual([]);
}

const shapeOf = (row: string) => row.replaceAll(/:\w+/g, ':');
const operationOf = (row: string): OperationId | undefined =>
  operationIds.find((id) => shapeOf(`${routeOf(id).method} ${routeOf(id).path}`) === shapeOf(row));
/** Filters that the specification shows for all channels, but that these channels do not have. */
const withoutFilter: Readonly<Record<string, readonly string[]>> = {
  topology: ['severity'],
  discovery: ['asset_id', 'severity'],
};
const isStream = (row: string) => row.endsWith('/stream');
/** Requests that end the session or remove data that other requests read; they come last. */
const last = ['DELETE /api/v1/assets/:id', 'POST /auth/logout'];
const calls = specified.filter((row) => !isStream(row)).sort((a, b) => last.indexOf(a) - last.indexOf(b));

describe.skipIf(text === '')('the specification', () => {
  test('has only endpoints that are in the OpenAPI document', () => {
    expect(specified.length).toBeGreaterThan(35);
    const { paths } = openApiDocument('0') as { paths: Record<string, Record<string, object>> };
    const described = Object.entries(paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => shapeOf(`${method.toUpperCase()} ${path.replaceAll(/\{(\w+)\}/g, ':$1')}`)),
    );
    expect(described).toEqual(expect.arrayContaining(specified.map(shapeOf)));
  });

  test.each(calls)('%s responds as the OpenAPI document says', async (row) => {
    const [method, plain = ''] = row.split(' ');
    const { path = plain, json, status = 200 } = exercises[row]?.() ?? {};
    const answer = await service.call(operationOf(row)!, `${method} ${path}`, {
      token: admin,
      ...(json === undefined ? {} : { json }),
    });
    expect([answer.status, answer.body]).toEqual([status, answer.body]);
    expectDescribed(method!, routeOf(operationOf(row)!).path, answer.status, answer.body);
  });

  test('names errors that the service returns, as described in the served OpenAPI document', async () => {
    const bad = await service.call('listAssetServices', 'GET /api/v1/services/asset/none', {
      token: await adminOf(service),
    });
    expect(bad).toMatchObject({
      status: 400,
      body: {
        error: {
          code: 'INVALID_REQUEST',
          details: { field: 'asset_id', reason: expect.stringContaining('valid UUID') },
        },
      },
    });
    expectDescribed('GET', '/api/v1/services/asset/:asset_id', bad.status, bad.body);
    const fresh = await openService();
    const empty = await fresh.call('getTreeHead', 'GET /api/transparency/sth');
    await fresh.close();
    expect(empty).toMatchObject({ status: 503, body: { error: { code: 'LOG_EMPTY' } } });
    expectDescribed('GET', '/api/transparency/sth', empty.status, empty.body);
  });

  test.each(specified.filter(isStream))('%s opens a stream', async (row) => {
    const token = await adminOf(service);
    const url = `${service.url.replace('http', 'ws')}${row.split(' ')[1]}`;
    const socket = new WebSocket(url, [`bearer.${token}`]);
    const [data] = (await once(socket, 'message')) as [Buffer];
    assertServerMessage(JSON.parse(String(data)));
    expect(JSON.parse(String(data))).toMatchObject({ type: 'subscribed', filters: {} });
    socket.terminate();
  });

  test('/ws accepts every channel with the filters shown, except filters that the channel does not have', async () => {
    const rows = [...text.matchAll(/^\| (events\.\w+|alerts|topology|discovery) \|/gm)].map(([, name]) => name!);
    expect(rows.sort()).toEqual(Object.keys(channels).sort());
    const socket = new WebSocket(`${service.url.replace('http', 'ws')}/ws`, [`bearer.${await adminOf(service)}`]);
    await once(socket, 'open');
    for (const channel of rows)
      for (const filter of [{ asset_id: ids.asset }, { severity: 'high' }]) {
        const [field = ''] = Object.keys(filter);
        socket.send(JSON.stringify({ type: 'subscribe', id: `${channel} ${field}`, channel, filters: filter }));
        const [data] = (await once(socket, 'message')) as [Buffer];
        const answer = JSON.parse(String(data));
        assertServerMessage(answer);
        const refused = {
          type: 'error',
          error: { code: 'INVALID_REQUEST', details: { field: `filters.${field}` } },
        };
        const isRefused = withoutFilter[channel]?.includes(field);
        expect(answer).toMatchObject(isRefused ? refused : { type: 'subscribed', channel, filters: filter });
      }
    socket.terminate();
  });
});

test('after a detected rollback, users sign in and read, changes are refused, and the metrics report the rollback', async () => {
  const sound = await openService();
  const { ledger } = sound;
  const status = async () => ({
    ...(await ledger.status()),
    health: { state: 'degraded', fault: 'rollback', advice: 'restore it' } as const,
  });
  const degraded = await openService(
    {},
    { ledger: Object.assign(Object.create(ledger), { status }), logStatus: status },
  );
  const token = await adminOf(degraded);
  const health = await degraded.call('getHealth', 'GET /health');
  expect(health).toMatchObject({ status: 200, body: { status: 'degraded', ledger: 'rollback' } });
  const events = await degraded.call('listNetworkEvents', 'GET /api/v1/events/network', { token });
  expect(events.status).toBe(200);
  const json = { name: 'new', kind: 'user', roles: ['viewer'] };
  const refused = await degraded.call('createPrincipal', 'POST /api/v1/principals', { token, json });
  expect(refused).toMatchObject({
    status: 503,
    body: { error: { code: 'UNAVAILABLE', details: { reason: 'log_rollback' } } },
  });
  const metrics = await degraded.call('getMetrics', 'GET /metrics', { token });
  expect(metrics.body).toContain('candor_ledger_regression_leaves 1\n');
  await degraded.close();
  await sound.close();
});
