import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { groupAlerts } from '../../../src/analytics/alert-groups.ts';
import { alertGroupings } from '../../../src/contract/vocabulary.ts';
import { openDatabase } from '../../../src/database/lmdb.ts';
import { openReader } from '../../../src/store/reader.ts';
import type { AlertSpan, ListFilter } from '../../../src/store/store.ts';
import { databaseFile, openTables } from '../../../src/store/tables.ts';
import { openStore } from '../../../src/store/writer.ts';
import { readerOf } from '../../analytics/alerts.ts';
import { analyst, batchOf, finding, hour, opened, start } from '../../store/opened.ts';

const none: ListFilter = { terms: [] };

test('alerts are visited in the order of their ids, in both directions, within any bounds', async () => {
  const { store, reader, clock } = opened();
  const ids: string[] = [];
  for (let n = 0; n < 12; n++) {
    clock.now += 1;
    const { alerts } = await store.commit(
      batchOf([finding({ rule_id: `1:${n}`, severity: n % 3 === 0 ? 'medium' : 'low' })]),
    );
    ids.push(alerts[0]!.alert.id);
  }
  await store.changeAlert(ids[4]!, { status: 'in_progress' }, analyst);
  const model = readerOf(new Map(ids.map((id) => [id, reader.getAlert(id)!])));
  expect(reader.lastAlertId()).toBe(ids.at(-1));

  const grave: ListFilter = { terms: [{ field: 'severity', values: ['medium'] }] };
  const spans: AlertSpan[] = [
    {},
    { newestFirst: true },
    { after: ids[3]! },
    { until: ids[7]! },
    { after: ids[3]!, until: ids[7]! },
    { rows: 5 },
    { after: ids[2]!, rows: 3, until: ids[9]! },
    { rows: 12 },
    { rows: 100 },
  ];
  for (const filter of [none, grave])
    for (const span of spans)
      for (const enough of [1, 2, 100]) {
        const seen = (from: typeof model) => {
          const shown: string[] = [];
          const next = from.visitAlerts(filter, span, (id) => (shown.push(id) === enough ? 'enough' : undefined));
          return { shown, next };
        };
        expect(seen(reader)).toEqual(seen(model));
      }
  const older: string[] = [];
  reader.visitAlerts(none, { newestFirst: true, after: ids[3]!, until: ids[1]! }, (id) => {
    older.push(id);
    return undefined;
  });
  expect(older).toEqual([ids[2], ids[1]]);
});

test('groups computed from the attributes stored for counts equal groups computed from complete alerts, for any filter', async () => {
  const { store, reader } = opened();
  const findings = Array.from({ length: 40 }, (_, n) =>
    finding({
      rule_id: `1:${n % 7}`,
      src_ip: `192.0.2.${n}`,
      dst_ip: `198.51.100.${n % 3}`,
      severity: n % 2 === 0 ? 'low' : 'high',
      timestamp: start + n * 1000,
      ...(n % 3 === 0 ? { category: 'Policy' } : {}),
    }),
  );
  const { alerts } = await store.commit(batchOf(findings));
  await store.changeAlert(alerts[3]!.alert.id, { status: 'resolved', assignee: 'ana' }, analyst);
  await store.commit(batchOf(findings.slice(10, 20)));
  const whole = { visitAlertFacts: reader.visitAlerts };
  const filters: ListFilter[] = [
    none,
    { terms: [{ field: 'status', values: ['new'] }], min_severity: 'high' },
    { terms: [{ field: 'ip', values: ['192.0.2.0/28'] }] },
    { terms: [{ field: 'count', values: [2] }], from: start + 12_000, to: start + 30_000 },
    { terms: [{ field: 'assignee', values: ['ana'] }] },
    { terms: [], q: 'checksum' },
    { terms: [{ field: 'category', values: ['Policy'] }] },
    { terms: [{ field: 'category', values: ['Policy'], negated: true }] },
    { terms: [{ field: 'assignee', values: ['ana'], negated: true }] },
  ];
  for (const filter of filters)
    for (const by of alertGroupings) {
      const groups = groupAlerts(reader, { by, filter, limit: 100 });
      expect(groups).toEqual(groupAlerts(whole, { by, filter, limit: 100 }));
      if (by === 'status') expect(groups.alerts).toBeGreaterThan(0);
    }
});

test('opening a store from an earlier version rebuilds the attributes used for alert counts', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'candor-facts-'));
  onTestFinished(() => rmSync(dataDir, { recursive: true }));
  const before = openStore({ dataDir, alertWindowMs: hour });
  await before.commit(batchOf([finding(), finding({ rule_id: '1:2' })]));
  await before.close();
  const root = openDatabase(join(dataDir, databaseFile));
  root.transactionSync(() => openTables(root).alertFacts.clearSync());
  await root.close();
  await openStore({ dataDir, alertWindowMs: hour }).close();
  const reader = openReader(dataDir);
  expect(groupAlerts(reader, { by: 'rule_id', filter: none, limit: 10 }).alerts).toBe(2);
  reader.close();
});

test('a scan of a store without alerts is empty', () => {
  const { reader } = opened();
  expect(reader.lastAlertId()).toBeUndefined();
  expect(reader.visitAlerts(none, {}, () => 'enough')).toBeUndefined();
  expect(() => reader.visitAlerts({ terms: [{ field: 'nothing', values: [1] }] }, {}, () => 'enough')).toThrow(
    expect.objectContaining({ code: 'INVALID_REQUEST' }),
  );
});
