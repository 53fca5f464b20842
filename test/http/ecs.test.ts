import { afterAll, beforeAll, expect, test } from 'vitest';
import * as ecs from '../ingest/ecs-documents.ts';
import { openService, password, type Service } from './service.ts';

let service: Service;
let admin: string;
let sensor: string;

beforeAll(async () => {
  service = await openService();
  const json = { username: 'admin', password };
  const { body } = await service.call('login', 'POST /auth/login', { json });
  admin = (body as { access_token: string }).access_token;
  const issued = await service.call('issueToken', 'POST /api/v1/tokens', {
    token: admin,
    json: { name: 'filebeat', scopes: ['sensor'] },
  });
  sensor = (issued.body as { data: { attributes: { token: string } } }).data.attributes.token;
});
afterAll(() => service.close());

const source = `title: A file fetched by a connection that was reset
id: 0190a1b2-0000-7000-8000-00000000ec50
logsource: {category: firewall}
detection: {selection: {destination.port: 443, conn_state: RSTO}, condition: selection}
level: high
`;

const attributesOf = (body: unknown) =>
  (body as { data: { attributes: Record<string, unknown> }[] }).data.map(({ attributes }) => attributes);

const send = (target: string, lines: readonly object[]) =>
  fetch(service.url + target, {
    method: 'POST',
    headers: { authorization: `Bearer ${sensor}`, 'content-type': 'application/x-ndjson' },
    body: lines.map((line) => `${JSON.stringify(line)}\n`).join(''),
  });

test('ECS documents become events and alerts, and rules match them', async () => {
  const made = await service.call('createRule', 'POST /api/v1/rules', { token: admin, json: { source } });
  expect(made.status).toBe(201);
  const bulk = await send('/_bulk', [
    { create: {} },
    ecs.moduleConn,
    { create: {} },
    ecs.ecsAlert,
    { create: {} },
    ecs.http,
  ]);
  expect(await bulk.json()).toMatchObject({ errors: false });
  const ingest = await send('/api/v1/ingest?source=ecs', [ecs.flow, ecs.dotted(ecs.dns), { ...ecs.flow, source: {} }]);
  expect(await ingest.json()).toMatchObject({
    data: { accepted: 2, rejected: 1, errors: [{ line: 3, field: 'source.ip' }] },
  });

  const network = await service.call('listNetworkEvents', 'GET /api/v1/events/network?source=ecs', {
    token: admin,
  });
  expect(
    attributesOf(network.body)
      .map(({ connection_id }) => connection_id)
      .sort(),
  ).toEqual(['904992230150281', 'CAbc', `EQQA@${ecs.at}`]);
  const dns = await service.call('listDnsEvents', 'GET /api/v1/events/dns?source=ecs', { token: admin });
  expect(attributesOf(dns.body)).toMatchObject([{ query: 'www.example.org', kind: 'transaction', sensor: 'tap-1' }]);
  const alerts = await service.call('listAlerts', 'GET /api/v1/alerts', { token: admin });
  expect(attributesOf(alerts.body)).toEqual(
    expect.arrayContaining([
      expect.objectContaining({ rule_source: 'suricata', rule_id: '1:2024833', severity: 'critical' }),
      expect.objectContaining({ rule_source: 'sigma', severity: 'high', src_ip: '10.0.0.5' }),
    ]),
  );
});
