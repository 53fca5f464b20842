/** Alerts of correlations: one for each group, which says how far the group is past the rule's threshold. */
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import type { Alert } from '../../src/contract/resources/alert.ts';
import { adminOf, issue, openService, type Service } from './service.ts';

let service: Service;
let admin: string;
let sensor: string;

beforeAll(async () => {
  service = await openService();
  admin = await adminOf(service);
  sensor = await issue(service, admin, ['sensor']);
});
afterAll(() => service.close());

const start = Date.now() / 1000 - 7200;

const upload = (from: string, to: string, second: number) => ({
  _path: 'http',
  ts: start + second,
  uid: 'C',
  'id.orig_h': from,
  'id.orig_p': 40_000 + second,
  'id.resp_h': to,
  'id.resp_p': 80,
  method: 'PUT',
});

async function ingest(...records: readonly object[]): Promise<void> {
  const answer = await service.call('ingest', 'POST /api/v1/ingest', {
    token: sensor,
    text: records.map((record) => `${JSON.stringify(record)}\n`).join(''),
    headers: { 'content-type': 'application/x-ndjson' },
  });
  expect(answer.status).toBe(200);
}

/** Makes a rule over uploads, and returns its id. */
async function correlate(correlation: string): Promise<string> {
  const [base, id] = [crypto.randomUUID(), crypto.randomUUID()];
  const sources = [
    `{title: Upload, id: ${base}, logsource: {product: zeek, service: http}, detection: {s: {method: PUT}, condition: s}}`,
    `{title: Many uploads, id: ${id}, level: medium, correlation: {rules: [${base}], ${correlation}}}`,
  ];
  for (const source of sources) {
    const made = await service.call('createRule', 'POST /api/v1/rules', { token: admin, json: { source } });
    expect(made).toMatchObject({ status: 201 });
  }
  return id;
}

async function alertsOf(rule: string): Promise<Alert[]> {
  const { body } = await service.call('listAlerts', `GET /api/v1/alerts?rule_id=${rule}`, { token: admin });
  return (body as { data: { attributes: Alert }[] }).data.map(({ attributes }) => attributes);
}

test('a group that grows updates one alert, whatever addresses its newest event has', async () => {
  const rule = await correlate(
    'type: value_count, group-by: [src_ip], timespan: 5m, condition: {field: dst_ip, gte: 4}',
  );
  const to = (n: number) => upload('203.0.113.8', `198.51.100.${n}`, n);
  await ingest(to(1), to(2), to(3), to(4), to(5));
  const [begun] = await alertsOf(rule);
  expect(begun).toMatchObject({
    count: 1,
    src_ip: '203.0.113.8',
    evidence: { matches: 5, value: 5, threshold: 4, src_ip: '203.0.113.8' },
  });
  expect(begun).not.toHaveProperty('dst_ip');
  expect(begun!.description).toContain('5 distinct dst_ip in 5 min (threshold: 4)');
  expect(begun!.description).toContain('src_ip 203.0.113.8');
  await ingest(to(6), to(7));
  await ingest(to(8));
  const evidence = { matches: 8, value: 8, threshold: 4 };
  const refreshed = async () =>
    expect(await alertsOf(rule)).toMatchObject([{ dedup_key: begun!.dedup_key, count: 1, evidence }]);
  await vi.waitFor(refreshed, { timeout: 20_000, interval: 100 });
  const [grown] = await alertsOf(rule);
  expect(grown!.description).toContain('8 distinct dst_ip in 5 min (threshold: 4)');
  expect(grown!.first_seen).toBe(begun!.first_seen);
  expect(Date.parse(grown!.last_seen) - Date.parse(grown!.first_seen)).toBe(7000);
});

test('groups without an address are told apart by their values, and name the ends that all events share', async () => {
  const rule = await correlate('type: event_count, group-by: [id.orig_p], timespan: 90s, condition: {gt: 2}');
  await ingest(
    ...[1, 2].flatMap((port) => [
      upload('203.0.113.9', '10.0.0.5', port),
      upload('203.0.113.10', '10.0.0.5', port),
      upload('203.0.113.11', '10.0.0.5', port),
    ]),
  );
  const alerts = (await alertsOf(rule)).filter(({ dst_ip }) => dst_ip === '10.0.0.5');
  expect(alerts).toHaveLength(2);
  expect(new Set(alerts.map(({ dedup_key }) => dedup_key))).toHaveLength(2);
  for (const alert of alerts) {
    expect(alert).not.toHaveProperty('src_ip');
    expect(alert.evidence).toMatchObject({ value: 3, threshold: '> 2' });
    expect(alert.description).toContain('3 events in 1 min 30 s (threshold: > 2)');
  }
});

test('a group that grows for longer than the deduplication window stays one alert', async () => {
  const rule = await correlate('type: event_count, group-by: [src_ip], timespan: 1d, condition: {gte: 2}');
  const at = (second: number) => upload('203.0.113.12', '10.0.0.5', second);
  await ingest(at(-40_000), at(-39_000));
  await ingest(at(-20_000), at(0));
  const grown = async () =>
    expect(await alertsOf(rule)).toMatchObject([{ count: 1, evidence: { value: 4 } }]);
  await vi.waitFor(grown, { timeout: 20_000, interval: 100 });
});

test('an alert counts one occurrence where a late event shows that two were one', async () => {
  const rule = await correlate('type: event_count, group-by: [src_ip], timespan: 1m, condition: {gte: 2}');
  const at = (second: number) => upload('203.0.113.13', `10.0.0.${second < 60 ? 5 : 6}`, second);
  await ingest(at(0), at(10), at(110), at(120));
  expect(await alertsOf(rule)).toMatchObject([{ count: 2, evidence: { matches: 2 }, dst_ip: '10.0.0.6' }]);
  await ingest(at(65));
  const [alert] = await alertsOf(rule);
  expect(alert).toMatchObject({ count: 1, evidence: { matches: 5, value: 3 } });
  expect(alert).not.toHaveProperty('dst_ip');
});
