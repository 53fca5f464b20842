/** Correlation alerts: one alert per group, with figures that show how far the group exceeds the rule's threshold. */
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import type { Alert } from '../../src/contract/resources/alert.ts';
import { inBodies } from '../system/counted.ts';
import { inFormat, type SensorFormat } from './eve-lines.ts';
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
  uid: `C${second}`,
  'id.orig_h': from,
  'id.orig_p': 40_000 + second,
  'id.resp_h': to,
  'id.resp_p': 80,
  method: 'PUT',
});

async function alertsOf(rule: string): Promise<Alert[]> {
  const { body } = await service.call('listAlerts', `GET /api/v1/alerts?rule_id=${rule}`, { token: admin });
  return (body as { data: { attributes: Alert }[] }).data.map(({ attributes }) => attributes);
}

/** Returns the rule's only alert, once it has these figures. */
async function eventually(rule: string, figures: object): Promise<Alert> {
  const read = async () => {
    const alerts = await alertsOf(rule);
    expect(alerts).toMatchObject([figures]);
    return alerts[0]!;
  };
  return vi.waitFor(read, { timeout: 60_000, interval: 100 });
}

describe.each([
  ['Zeek', 1],
  ['Zeek', 2],
  ['Zeek', 8],
  ['Suricata', 1],
  ['Suricata', 2],
  ['Suricata', 8],
] satisfies [SensorFormat, number][])('%s lines in %d bodies', (format, bodies) => {
  /** Sends uploads, each of which matches only the rules of its path. */
  async function ingest(uri: string, ...records: readonly object[]): Promise<void> {
    const lines = records.map((record) => inFormat[format](JSON.stringify({ ...record, uri })));
    for (const text of inBodies(lines, Math.ceil(lines.length / Math.min(bodies, lines.length)))) {
      const answer = await service.call('ingest', 'POST /api/v1/ingest', {
        token: sensor,
        text,
        headers: { 'content-type': 'application/x-ndjson' },
      });
      expect(answer.status).toBe(200);
    }
  }

  /** Creates a correlation over uploads to a path, and returns the id of the correlation and the path. */
  async function correlate(correlation: string): Promise<{ rule: string; path: string }> {
    const [base, rule] = [crypto.randomUUID(), crypto.randomUUID()];
    const path = `/${base}`;
    const sources = [
      `{title: Upload, id: ${base}, logsource: {product: ${format.toLowerCase()}, service: http}, detection: {s: {method: PUT, uri: ${path}}, condition: s}}`,
      `{title: Many uploads, id: ${rule}, level: medium, correlation: {rules: [${base}], ${correlation}}}`,
    ];
    for (const source of sources) {
      const made = await service.call('createRule', 'POST /api/v1/rules', { token: admin, json: { source } });
      expect(made).toMatchObject({ status: 201 });
    }
    return { rule, path };
  }

  test('a growing group updates one alert, even if the addresses of its events differ', async () => {
    const { rule, path } = await correlate(
      'type: value_count, group-by: [src_ip], timespan: 5m, condition: {field: dst_ip, gte: 4}',
    );
    const to = (n: number) => upload('203.0.113.8', `198.51.100.${n}`, n);
    await ingest(path, to(1), to(2), to(3), to(4), to(5));
    const begun = await eventually(rule, {
      count: 1,
      src_ip: '203.0.113.8',
      evidence: { matches: 5, value: 5, threshold: 4, src_ip: '203.0.113.8' },
    });
    expect(begun).not.toHaveProperty('dst_ip');
    expect(begun.description).toContain('5 distinct dst_ip in 5 min (threshold: 4)');
    expect(begun.description).toContain('src_ip 203.0.113.8');
    await ingest(path, to(6), to(7));
    await ingest(path, to(8));
    const evidence = { matches: 8, value: 8, threshold: 4 };
    const grown = await eventually(rule, { dedup_key: begun.dedup_key, count: 1, evidence });
    expect(grown.description).toContain('8 distinct dst_ip in 5 min (threshold: 4)');
    expect(grown.first_seen).toBe(begun.first_seen);
    expect(Date.parse(grown.last_seen) - Date.parse(grown.first_seen)).toBe(7000);
  });

  test('groups without an address are identified by their values, and omit endpoints that differ', async () => {
    const { rule, path } = await correlate(
      'type: event_count, group-by: [id.orig_p], timespan: 90s, condition: {gt: 2}',
    );
    await ingest(
      path,
      ...[1, 2].flatMap((port) => [
        upload('203.0.113.9', '10.0.0.5', port),
        upload('203.0.113.10', '10.0.0.5', port),
        upload('203.0.113.11', '10.0.0.5', port),
      ]),
    );
    const alerts = await alertsOf(rule);
    expect(alerts).toHaveLength(2);
    expect(new Set(alerts.map(({ dedup_key }) => dedup_key))).toHaveLength(2);
    for (const alert of alerts) {
      expect(alert).not.toHaveProperty('src_ip');
      expect(alert.evidence).toMatchObject({ value: 3, threshold: '> 2' });
      expect(alert.description).toContain('3 events in 1 min 30 s (threshold: > 2)');
    }
  });

  test('a group that grows for longer than the deduplication window stays one alert', async () => {
    const { rule, path } = await correlate('type: event_count, group-by: [src_ip], timespan: 1d, condition: {gte: 2}');
    const at = (second: number) => upload('203.0.113.12', '10.0.0.5', second);
    await ingest(path, at(-40_000), at(-39_000));
    await ingest(path, at(-20_000), at(0));
    await eventually(rule, { count: 1, evidence: { value: 4 } });
  });

  test('an alert counts one occurrence after a late event joins two episodes', async () => {
    const { rule, path } = await correlate('type: event_count, group-by: [src_ip], timespan: 1m, condition: {gte: 2}');
    const at = (second: number) => upload('203.0.113.13', `10.0.0.${second < 60 ? 5 : 6}`, second);
    await ingest(path, at(0), at(10), at(110), at(120));
    await eventually(rule, { count: 2, evidence: { matches: 2 }, dst_ip: '10.0.0.6' });
    await ingest(path, at(65));
    const alert = await eventually(rule, { count: 1, evidence: { matches: 5, value: 3 } });
    expect(alert).not.toHaveProperty('dst_ip');
  });
});
