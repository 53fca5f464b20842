import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import type { Alert } from '../../../src/contract/resources/alert.ts';
import type { Finding } from '../../../src/events/finding.ts';
import { batchOf, everything, finding, opened, resources } from '../../store/opened.ts';

const folder = resolve(process.env.CANDOR_SHARED ?? '../shared', 'data/suricata');

/** Returns findings for the alerts in an EVE file, with the attributes that determine merging. */
function findings(name: string): Finding[] {
  const bytes = readFileSync(join(folder, name));
  const text = (name.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString('utf8');
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line))
    .filter((record) => record.event_type === 'alert')
    .map((record) =>
      finding({
        rule_id: `${record.alert.gid}:${record.alert.signature_id}`,
        timestamp: Date.parse(record.timestamp.replace(/([+-]\d\d)(\d\d)$/, '$1:$2')),
        src_ip: record.src_ip,
        dst_ip: record.dest_ip,
      }),
    );
}

describe.skipIf(!existsSync(folder))('alerts from real sensors', () => {
  for (const batchSize of [1, 100, 2000])
    test(`of two rules, 1,162 in all, are merged into 18 alerts that count 581 per rule, in batches of ${batchSize}`, async () => {
      const { store, reader } = opened();
      const all = findings('duplicate-alerts.eve.ndjson.gz');
      expect(all).toHaveLength(1162);
      for (let i = 0; i < all.length; i += batchSize) await store.commit(batchOf(all.slice(i, i + batchSize)));
      const alerts = resources<Alert>(reader.listAlerts(everything)).map(({ attributes }) => attributes);
      expect(alerts).toHaveLength(18);
      const counts = new Map<string, number>();
      for (const { rule_id, count } of alerts) counts.set(rule_id, (counts.get(rule_id) ?? 0) + count);
      expect([...counts.values()]).toEqual([581, 581]);
    });

  test('of different rules or hosts, 548 in all, are not merged', async () => {
    const { store, reader } = opened();
    const names = ['first-org-conf-2015', 'honeypot-2018', 'wrccdc-2017', 'wrccdc-2018'];
    const all = names.flatMap((name) => findings(`${name}.alerts.ndjson`));
    for (const each of all) await store.commit(batchOf([each]));
    expect([all.length, reader.listAlerts(everything).total]).toEqual([548, 548]);
  });
});
