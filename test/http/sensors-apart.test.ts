/**
 * An attacker with the token of one sensor cannot affect another sensor: records of the other sensor are stored,
 * counted and alerted on.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Alert } from '../../src/contract/resources/alert.ts';
import { eventId, parseEventId } from '../../src/events/event-id.ts';
import { scopedId } from '../../src/events/scoped-id.ts';
import { limits } from '../../src/limits.ts';
import { adminOf, openService, type Service } from './service.ts';

interface Sensor {
  readonly id: string;
  readonly token: string;
}
interface Resource<T = Readonly<Record<string, unknown>>> {
  readonly id: string;
  readonly attributes: T;
}

let service: Service;
let admin: string;
let honest: Sensor;
let rogue: Sensor;

beforeAll(async () => {
  service = await openService();
  admin = await adminOf(service);
  honest = await sensor('honest');
  rogue = await sensor('rogue');
});
afterAll(() => service.close());

async function sensor(name: string): Promise<Sensor> {
  const principal = await service.call('createPrincipal', 'POST /api/v1/principals', {
    token: admin,
    json: { name, kind: 'sensor', roles: ['sensor'] },
  });
  const { id } = (principal.body as { data: Resource }).data;
  const issued = await service.call('issueToken', 'POST /api/v1/tokens', {
    token: admin,
    json: { name, principal_id: id, scopes: ['sensor'] },
  });
  return { id, token: (issued.body as { data: Resource<{ token: string }> }).data.attributes.token };
}

async function post({ token }: Sensor, path: string, lines: readonly object[]) {
  const answer = await fetch(service.url + path, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/x-ndjson' },
    body: lines.map((line) => `${JSON.stringify(line)}\n`).join(''),
  });
  expect(answer.status).toBe(200);
  return answer.json();
}
const ingest = async (by: Sensor, ...lines: object[]) =>
  ((await post(by, '/api/v1/ingest', lines)) as { data: { accepted: number; duplicates: number } }).data;

async function list<T>(path: string): Promise<Resource<T>[]> {
  const answer = await fetch(service.url + path, { headers: { authorization: `Bearer ${admin}` } });
  expect(answer.status).toBe(200);
  return ((await answer.json()) as { data: Resource<T>[] }).data;
}
const alertsOf = (rule: string) => list<Alert>(`/api/v1/alerts?rule_id=${rule}&per_page=1000`);
const shown = (alerts: readonly Resource<Alert>[]) =>
  alerts.map(({ attributes: { status, severity, count, sensors } }) => ({
    status,
    severity,
    count,
    sensors,
  }));

const eve = (signature_id: number, more: object = {}, at = Date.now()) => ({
  timestamp: new Date(at).toISOString(),
  event_type: 'alert',
  src_ip: '203.0.113.7',
  src_port: 4711,
  dest_ip: '10.0.0.5',
  dest_port: 22,
  proto: 'TCP',
  alert: { gid: 1, signature_id, signature: 'scan', severity: 3, category: 'x' },
  ...more,
});
const grave = (signature_id: number) => ({
  alert: { gid: 1, signature_id, signature: 'exploit', severity: 1, category: 'x' },
});

describe('an explicit id', () => {
  const event = (id: string, src_ip: string) => ({
    type: 'network_event',
    id,
    timestamp: '2026-11-20T00:00:00.000Z',
    src_ip,
    dst_ip: '198.51.100.1',
    transport: 'tcp',
  });

  test('suppresses a repeated record of the same sensor, but no record of another sensor', async () => {
    const id = crypto.randomUUID();
    expect(await ingest(rogue, event(id, '203.0.113.66'))).toMatchObject({ accepted: 1, duplicates: 0 });
    const lines = [event(id, '203.0.113.1'), event(id, '203.0.113.1')];
    expect(await ingest(honest, ...lines)).toMatchObject({ accepted: 1, duplicates: 1 });
    expect(await ingest(honest, ...lines)).toMatchObject({ accepted: 0, duplicates: 2 });
    expect(await ingest(rogue, event(id, '203.0.113.66'))).toMatchObject({ accepted: 0, duplicates: 1 });
    const [stored, ...others] = await list('/api/v1/events/network?src_ip=203.0.113.1');
    expect(others).toEqual([]);
    expect(stored).toMatchObject({ attributes: { sensor_id: honest.id } });
    const read = await list(`/api/v1/events/network/${stored!.id}`);
    expect(read).toMatchObject({ id: stored!.id, attributes: { src_ip: '203.0.113.1' } });
    const byId = await list(`/api/v1/events/network/${id}`);
    expect(byId).toMatchObject({ attributes: { src_ip: '203.0.113.66', sensor_id: rogue.id } });
  });

  test('cannot occupy the id under which a record of another sensor would be stored', async () => {
    const id = crypto.randomUUID();
    let next: string = id;
    for (let taken = 0; taken < 10; taken++, next = scopedId(honest.id, next))
      await ingest(rogue, event(next, '203.0.113.67'));
    expect(await ingest(honest, event(id, '203.0.113.2'))).toMatchObject({ accepted: 1, duplicates: 0 });
    expect(await list('/api/v1/events/network?src_ip=203.0.113.2')).toHaveLength(1);
  });

  test('may be used once per table and sensor, and is replaced if the service could assign it to a later event', async () => {
    const id = crypto.randomUUID();
    const query = { ...event(id, '203.0.113.5'), type: 'dns_event', transport: 'udp', kind: 'query' };
    await ingest(honest, query);
    expect(await ingest(rogue, event(id, '203.0.113.69'))).toMatchObject({ accepted: 1 });
    expect(await ingest(honest, event(id, '203.0.113.5'))).toMatchObject({ accepted: 1 });
    const own = await list(`/api/v1/events/network/${id}`);
    expect(own).toMatchObject({ attributes: { src_ip: '203.0.113.5' } });
    const { id: _, ...unnamed } = event(id, '203.0.113.6');
    await ingest(honest, { ...unnamed, src_ip: '203.0.113.71' });
    const [last] = await list('/api/v1/events/network?src_ip=203.0.113.71');
    const { timestamp, seq } = parseEventId(last!.id)!;
    const next = eventId('network', timestamp, seq + 2);
    await ingest(rogue, event(next, '203.0.113.70'));
    await ingest(honest, unnamed);
    const [given] = await list('/api/v1/events/network?src_ip=203.0.113.6');
    expect(given!.id).toBe(next);
    const [forged] = await list('/api/v1/events/network?src_ip=203.0.113.70');
    expect(forged!.id).not.toBe(next);
  });

  const cases: [name: string, sid: number, ids: (id: string) => { sent: string; taken: string }][] = [
    ['a UUID', 11, (id) => ({ sent: id, taken: id })],
    ['a text', 12, (id) => ({ sent: `doc ${id}`, taken: scopedId(honest.id, `doc ${id}`) })],
  ];
  test.each(cases)(
    'that is %s belongs to the sensor that sends it in a bulk request, and the alert is raised',
    async (_, sid, ids) => {
      const { sent, taken } = ids(crypto.randomUUID());
      await ingest(rogue, event(taken, '203.0.113.68'));
      const bulk = () => post(honest, '/_bulk', [{ create: { _index: 'eve', _id: sent } }, eve(sid, grave(sid))]);
      expect(await bulk()).toMatchObject({ errors: false, items: [{ create: { _id: sent, status: 201 } }] });
      expect(await bulk()).toMatchObject({ errors: true, items: [{ create: { _id: sent, status: 409 } }] });
      expect(shown(await alertsOf(`1:${sid}`))).toMatchObject([{ status: 'new', count: 1 }]);
    },
  );
});

test('an event names the principal that sent it, even if the record names another sensor', async () => {
  const line = { type: 'dns_event', timestamp: '2026-11-20T00:00:00.000Z', transport: 'udp', kind: 'query' };
  await ingest(rogue, { ...line, src_ip: '203.0.113.4', dst_ip: '203.0.113.5', sensor: 'honest' });
  const of = ({ id }: Sensor) => list(`/api/v1/events/dns?sensor=honest&sensor_id=${id.toUpperCase()}`);
  expect(await of(honest)).toEqual([]);
  expect(await of(rogue)).toMatchObject([{ attributes: { sensor: 'honest', sensor_id: rogue.id } }]);
});

describe('alerts', () => {
  const change = (id: string, json: object) =>
    service.call('updateAlert', `PUT /api/v1/alerts/${id}`, { token: admin, json });

  test.each([
    ['is suppressed', 1, { status: 'suppressed' }],
    ['is rated low', 2, { severity: 'low' }],
  ] as const)('do not count findings of another sensor if the earlier alert %s', async (_, sid, json) => {
    await ingest(rogue, eve(sid, grave(sid)));
    const [cheap] = await alertsOf(`1:${sid}`);
    expect((await change(cheap!.id, json)).status).toBe(200);
    await ingest(honest, eve(sid, grave(sid)));
    const alerts = await alertsOf(`1:${sid}`);
    expect(shown(alerts)).toContainEqual({
      status: 'new',
      severity: 'high',
      count: 1,
      sensors: [{ id: honest.id, name: 'honest', count: 1 }],
    });
    expect(alerts.find(({ id }) => id === cheap!.id)?.attributes.count).toBe(1);
  });

  test('count repeated findings of one sensor', async () => {
    await ingest(honest, eve(3));
    await ingest(honest, eve(3), eve(3));
    expect(shown(await alertsOf('1:3'))).toMatchObject([{ count: 3, sensors: [{ id: honest.id, count: 3 }] }]);
  });

  test('beyond the limits of one sensor leave alerts of another sensor unchanged', async () => {
    const flood = Array.from({ length: 2 * limits.maxAlertsPerRuleWindow }, (_, n) =>
      eve(4, { src_ip: `198.18.0.${n}`, dest_ip: `198.18.1.${n}` }),
    );
    await ingest(rogue, ...flood);
    await ingest(honest, eve(4));
    await ingest(rogue, ...flood.map((line) => ({ ...line, src_ip: line.dest_ip, dest_ip: line.src_ip })));
    const own = (await alertsOf('1:4')).filter(({ attributes }) => attributes.sensors?.[0]?.id === honest.id);
    expect(own).toMatchObject([{ attributes: { status: 'new', title: 'scan', src_ip: '203.0.113.7', count: 1 } }]);
    const summaries = (await alertsOf('1:4')).filter(({ attributes }) => /^Alert flood/.test(attributes.title));
    expect(summaries).toMatchObject([{ attributes: { sensors: [{ id: rogue.id }] } }]);
  });

  test('of a correlation name the sensors whose records were counted, even if not stored', async () => {
    const [base, id] = [crypto.randomUUID(), crypto.randomUUID()];
    const rule = `title: Upload
id: ${base}
logsource: {product: zeek, service: http}
detection: {selection: {method: PUT}, condition: selection}
`;
    const correlation = `title: Many uploads
id: ${id}
level: medium
correlation: {type: event_count, rules: [${base}], group-by: [id.orig_h], timespan: 10m, condition: {gte: 2}}
`;
    for (const source of [rule, correlation]) {
      const made = await service.call('createRule', 'POST /api/v1/rules', { token: admin, json: { source } });
      expect(made).toMatchObject({ status: 201 });
    }
    const upload = (ip: string) => ({
      _path: 'http',
      ts: Date.now() / 1000,
      uid: 'C',
      'id.orig_h': ip,
      'id.orig_p': 1,
      'id.resp_h': '198.51.100.2',
      'id.resp_p': 80,
      method: 'PUT',
    });
    await ingest(honest, upload('203.0.113.8'));
    await ingest(rogue, upload('203.0.113.8'), upload('203.0.113.9'), upload('203.0.113.9'));
    const alerts = await alertsOf(id);
    const sensorsAt = (ip: string) =>
      alerts.find(({ attributes }) => attributes.src_ip === ip)?.attributes.sensors?.map(({ name }) => name);
    expect(sensorsAt('203.0.113.8')).toEqual(['honest', 'rogue']);
    expect(sensorsAt('203.0.113.9')).toEqual(['rogue']);
  });
});

describe('a port scan that one sensor reports in part', () => {
  const scan = (src: string, first: number, count: number) =>
    Array.from({ length: count }, (_, n) => ({
      ts: Date.now() / 1000 - 5 + n / 1000,
      uid: `S${src}${first + n}`,
      'id.orig_h': src,
      'id.orig_p': 40_000,
      'id.resp_h': '10.0.0.9',
      'id.resp_p': first + n,
      proto: 'tcp',
      conn_state: 'REJ',
    }));
  const scansOf = (src: string) => list<Alert>(`/api/v1/alerts?rule_id=behaviour.port-scan&src_ip=${src}`);

  test.each([
    ['suppressed', '10.0.9.50', 2],
    ['resolved', '10.0.9.51', 2],
    ['in_progress', '10.0.9.52', 1],
  ] as const)('includes the part that another sensor reports after the alert is %s', async (status, src, alerts) => {
    await ingest(rogue, ...scan(src, 1, 80));
    const [own] = await scansOf(src);
    expect(own!.attributes.sensors).toMatchObject([{ id: rogue.id }]);
    const change = { token: admin, json: { status } };
    await service.call('updateAlert', `PUT /api/v1/alerts/${own!.id}`, change);
    await ingest(honest, ...scan(src, 1000, 900));
    const found = await scansOf(src);
    expect(found).toHaveLength(alerts);
    const shown = found.find(({ attributes }) => alerts === 1 || attributes.status === 'new')!;
    expect(shown.attributes.severity).toBe('high');
    expect(shown.attributes.sensors!.map(({ id }) => id).sort()).toEqual([honest.id, rogue.id].sort());
  });
});
