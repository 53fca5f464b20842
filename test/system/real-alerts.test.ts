/**
 * Real Suricata alerts: recurrences become one alert, each occurrence is counted, and severe alerts are in
 * the log permanently.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Service, startService, tokenFor } from '../../scripts/service.ts';
import { fetchHead, proveEntry } from '../../src/client/auditor.ts';
import { AuditFault } from '../../src/client/fault.ts';
import { httpLog } from '../../src/client/log-source.ts';
import type { Alert } from '../../src/contract/resources/alert.ts';
import { type Item, list, listAll, send } from './call.ts';
import { hasSharedData, sharedLines } from './shared-data.ts';

const others = ['first-org-conf-2015', 'honeypot-2018', 'wrccdc-2017', 'wrccdc-2018'];
const severities = ['', 'high', 'medium', 'low', 'informational'];

interface EveAlert {
  readonly src_ip: string;
  readonly dest_ip: string;
  readonly alert: { readonly gid: number; readonly signature_id: number; readonly severity: number };
}

describe.skipIf(!hasSharedData)('real alerts', () => {
  let service: Service;
  let viewer: string;
  const eve = (lines: readonly string[]) =>
    lines.map((line) => JSON.parse(line) as EveAlert & { event_type: string }).filter((r) => r.event_type === 'alert');
  const ruleOf = ({ alert }: EveAlert) => `${alert.gid}:${alert.signature_id}`;
  const alertsOf = async (query = '') =>
    (await listAll(service, 'listAlerts', viewer, query)) as unknown as (Item & { attributes: Alert })[];

  beforeAll(async () => {
    service = await startService();
    viewer = await tokenFor(service, 'viewer');
  });
  afterAll(async () => {
    expect(await service.stop()).toBe(0);
  });

  test('1,162 occurrences of two rules between nine pairs of addresses become 18 alerts', async () => {
    const lines = sharedLines('suricata/duplicate-alerts.eve.ndjson.gz');
    const records = eve(lines);
    expect(records.length).toBe(1_162);
    const sensor = await tokenFor(service, 'sensor');
    const counts = await send(service, sensor, lines.join('\n'));
    expect(counts).toMatchObject({ accepted: lines.length, rejected: 0, ignored: 0, duplicates: 0 });
    const alerts = await alertsOf();
    expect(alerts.length).toBe(18);
    const byRule = new Map<string, number>();
    for (const { attributes: alert } of alerts) {
      byRule.set(alert.rule_id, (byRule.get(alert.rule_id) ?? 0) + alert.count);
      const its = records.filter(
        (r) => ruleOf(r) === alert.rule_id && r.src_ip === alert.src_ip && r.dest_ip === alert.dst_ip,
      );
      expect(alert.count).toBe(its.length);
      expect(alert.event_ids.length).toBe(Math.min(20, its.length));
      expect(alert.first_seen <= alert.last_seen).toBe(true);
    }
    expect([...byRule.values()]).toEqual([581, 581]);
  });

  test('548 alerts of 415 rules stay separate', async () => {
    const sensor = await tokenFor(service, 'sensor');
    const records: EveAlert[] = [];
    const before = await alertsOf();
    for (const name of others) {
      const lines = sharedLines(`suricata/${name}.alerts.ndjson`);
      const counts = await send(service, sensor, lines.join('\n'));
      expect(counts).toMatchObject({ accepted: lines.length, rejected: 0, ignored: 0, duplicates: 0 });
      records.push(...eve(lines));
    }
    expect(records.length).toBe(548);
    const known = new Set(before.map(({ id }) => id));
    const alerts = (await alertsOf()).filter(({ id }) => !known.has(id));
    expect(alerts.length).toBe(548);
    expect(new Set(alerts.map(({ attributes }) => attributes.rule_id)).size).toBe(415);
    expect(alerts.every(({ attributes }) => attributes.count === 1)).toBe(true);

    // Severity as in the sensor, counted from the files; critical comes from a rule's own metadata.
    for (const rank of [1, 2, 3]) {
      const wanted = records.filter(({ alert }) => alert.severity === rank).length;
      const severity = severities[rank] as string;
      const found = alerts.filter(({ attributes }) =>
        (rank === 1 ? ['high', 'critical'] : [severity]).includes(attributes.severity),
      );
      expect(found.length, severity).toBe(wanted);
    }
  });

  test('the occurrences are events, with the severity of their findings', async () => {
    const total = async (query: string) =>
      (await list(service, 'listNetworkEvents', viewer, `per_page=1&source=suricata${query}`)).pagination.total;
    const severe = (await alertsOf('min_severity=high')).reduce((sum, { attributes }) => sum + attributes.count, 0);
    expect(await total('&min_severity=high')).toBe(severe);
    expect(await total('&min_severity=high')).toBe(
      (await total('&severity=high')) + (await total('&severity=critical')),
    );
  });

  test('every alert at or above high is in the log, with a valid proof', async () => {
    let severe: (Item & { attributes: Alert })[] = [];
    for (let tries = 0; tries < 100; tries++) {
      severe = await alertsOf('min_severity=high');
      if (severe.every(({ attributes }) => attributes.transparency)) break;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    expect(severe.length).toBeGreaterThan(50);
    const log = httpLog(service.url, { token: await tokenFor(service, 'auditor') });
    const signed = await fetchHead(log);
    if (signed instanceof AuditFault) throw signed;
    for (const { id, attributes } of severe) {
      const { leaf_index: leafIndex, leaf_hash } = attributes.transparency!;
      const proven = await proveEntry(log, { leafIndex }, signed);
      if (proven instanceof AuditFault) throw proven;
      expect(proven.entry).toMatchObject({ kind: 'alert.raised', subject: { id } });
      expect(Buffer.from(proven.leafHash).toString('hex')).toBe(leaf_hash);
    }
    const mild = await alertsOf('severity=medium&severity=low&severity=informational');
    expect(mild.every(({ attributes }) => attributes.transparency === undefined)).toBe(true);
    expect(mild.length + severe.length).toBe(566);
  });
});
