import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Topology } from '../../src/contract/resources/topology.ts';
import { openService, password, type Service } from './service.ts';

let service: Service;
let token: string;
const path = '/api/v1/topology';

beforeAll(async () => {
  service = await openService();
  const login = await service.call('login', 'POST /auth/login', { json: { username: 'admin', password } });
  token = (login.body as { access_token: string }).access_token;
});
afterAll(() => service.close());

const get = (query: string) => service.call('getTopology', `GET ${path}${query}`, { token });

it('the graph is empty without data', async () => {
  const { status, body } = await get('');
  expect(status).toBe(200);
  const { attributes } = (body as { data: { attributes: Topology } }).data;
  expect(attributes).toMatchObject({ seq: 0, nodes: [], edges: [], truncated: false });
  expect(attributes).not.toHaveProperty('from');
});

it('the graph has hosts with connections, grouped as requested', async () => {
  const event = {
    type: 'network_event',
    timestamp: '2026-01-01T10:20:30.000Z',
    src_ip: '10.0.0.1',
    dst_ip: '10.0.0.2',
    dst_port: 22,
    transport: 'tcp',
    app_protocol: 'ssh',
    state: 'closed',
    src_bytes: 10,
    dst_bytes: 20,
    src_packets: 1,
    dst_packets: 1,
  };
  const sent = await service.call('ingest', 'POST /api/v1/ingest', { token, json: event });
  expect(sent.status).toBe(200);
  const graphOf = async (query: string) =>
    ((await get(query)).body as { data: { attributes: Topology } }).data.attributes;
  const graph = await graphOf('');
  expect(graph).toMatchObject({
    seq: 1,
    edges: [{ source: '10.0.0.1', target: '10.0.0.2', ports: [22], protocols: ['ssh'], connections: 1, bytes: 30 }],
  });
  const target = graph.nodes.find(({ id }) => id === '10.0.0.2')!;
  expect(target).toMatchObject({ kind: 'asset', ip: '10.0.0.2', degree: 1, bytes: 30, risk_level: 'low' });
  expect((await graphOf('?group_by=subnet')).nodes).toMatchObject([{ id: '10.0.0.0/24', kind: 'subnet', degree: 1 }]);
  expect((await graphOf(`?focus=${target.asset_id}&depth=3&limit=1`)).nodes).toMatchObject([{ id: '10.0.0.2' }]);
  const ranged = await graphOf('?from=2026-01-01T10:30:00Z&to=2026-01-01T10:40:00Z');
  expect(ranged).toMatchObject({ from: '2026-01-01T10:00:00.000Z', to: '2026-01-01T11:00:00.000Z' });
  expect(ranged.edges.length).toBe(1);
  expect((await graphOf('?from=2026-01-01T11:00:00Z')).edges).toEqual([]);
});

it.each([
  ['limit=0', 'limit'],
  ['limit=2001', 'limit'],
  ['limit=1.5', 'limit'],
  ['limit=', 'limit'],
  ['depth=0&focus=0199b1c2-0000-7000-8000-000000000000', 'depth'],
  ['depth=4&focus=0199b1c2-0000-7000-8000-000000000000', 'depth'],
  ['depth=2', 'depth'],
  ['focus=10.0.0.1', 'focus'],
  ['focus=', 'focus'],
  ['group_by=asset', 'group_by'],
  ['group_by=host&group_by=subnet', 'group_by'],
  ['from=yesterday', 'from'],
  ['from=2026-01-02T00:00:00Z&to=2026-01-01T00:00:00Z', 'from'],
  ['to=99999999999999999999', 'to'],
  ['page=1', 'page'],
  ['per_page=5', 'per_page'],
  ['sort=bytes', 'sort'],
  ['q=x', 'q'],
  ['%FF=1', '%FF'],
])('the topology rejects %s, and the error names %s', async (query, field) => {
  const { status, body } = await get(`?${query}`);
  expect(status).toBe(400);
  const { error } = body as { error: { code: string; details: { field: string } } };
  expect(error.code).toBe('INVALID_REQUEST');
  if (!field.startsWith('%')) expect(error.details.field).toBe(field);
});

it('the topology returns not found for an unknown asset', async () => {
  expect((await get('?focus=0199b1c2-0000-7000-8000-000000000000')).status).toBe(404);
});

it('the topology accepts times far from any data', async () => {
  for (const query of ['?from=9999-12-31T23:59:59Z', '?to=1970-01-01T00:00:01Z', '?from=0&to=253402300799999']) {
    const { status } = await get(query);
    expect(status, query).toBe(200);
  }
});
