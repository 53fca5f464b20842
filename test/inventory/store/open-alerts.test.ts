import { describe, expect, test } from 'vitest';
import { riskScore } from '../../../src/analytics/risk-score.ts';
import { openDatabase, type RootDatabase } from '../../../src/database/lmdb.ts';
import { openRows } from '../../../src/database/rows.ts';
import { at } from '../../../src/inventory/store/asset-row.ts';
import { openReader } from '../../../src/store/reader.ts';
import { analyst, batchOf, finding, hour, opened, openProcessed, start } from '../../store/opened.ts';
import { holder, macA, macB, see } from './sightings.ts';

const on = (ip: string, more: Parameters<typeof finding>[0] = {}) =>
  finding({ src_ip: '198.51.100.1', dst_ip: ip, severity: 'critical', ...more });

describe('open alerts of an asset', () => {
  test('are counted with their risk while they are new or in progress, regardless of whether the asset is source or target', async () => {
    const open = opened();
    const { store, reader } = open;
    await see(open, { ip: '10.0.0.1' }, { ip: '10.0.0.2' });
    const { alerts } = await store.commit(
      batchOf([on('10.0.0.1'), finding({ src_ip: '10.0.0.1', dst_ip: '10.0.0.1', rule_id: '2', severity: 'medium' })]),
    );
    const asset = () => holder(reader, '10.0.0.1');
    expect(asset()).toMatchObject({ open_alerts: 2, risk_score: 99, risk_level: 'critical', version: 1 });
    expect(holder(reader, '10.0.0.2')).toMatchObject({ open_alerts: 0, risk_score: 0 });
    const [critical, medium] = alerts.map(({ alert }) => alert.id);
    await store.changeAlert(critical!, { status: 'resolved' }, analyst);
    expect(asset()).toMatchObject({ open_alerts: 1, risk_score: 47, risk_level: 'moderate' });
    await store.changeAlert(medium!, { severity: 'high' }, analyst);
    expect(asset()).toMatchObject({ open_alerts: 1, risk_score: 73 });
    await store.changeAlert(critical!, { status: 'in_progress' }, analyst);
    expect(asset()).toMatchObject({ open_alerts: 2 });
    await store.changeAlert(medium!, { status: 'resolved' }, analyst);
    expect(asset()).toMatchObject({ open_alerts: 1, risk_score: 99 });
    await store.changeAlert(critical!, { status: 'suppressed' }, analyst);
    expect(asset()).toMatchObject({ open_alerts: 0, risk_score: 99 });
    await store.changeAlert(critical!, { status: 'archived' }, analyst);
    expect(asset()).toMatchObject({ open_alerts: 0, risk_score: 0 });
  });

  test('are weighted by a changed criticality immediately', async () => {
    const open = opened();
    await see(open, { ip: '10.0.0.1' });
    await open.store.commit(batchOf([on('10.0.0.1', { severity: 'medium' })]));
    const { id } = holder(open.reader, '10.0.0.1');
    const { asset } = await open.store.changeAsset(id, { criticality: 'critical' }, analyst);
    expect(asset).toMatchObject({ risk_score: 68, risk_level: 'moderate' });
    expect(open.reader.getAsset(id)).toMatchObject({ risk_score: 68 });
  });

  test('are limited to the time in which the asset had the address, and move with the address', async () => {
    const open = opened();
    const { store, reader } = open;
    await see(open, { ip: '10.0.0.1', mac: macA });
    const first = holder(reader, '10.0.0.1').id;
    await store.commit(batchOf([on('10.0.0.1'), on('10.0.0.1', { rule_id: '2', timestamp: start + 2 * hour })]));
    expect(reader.getAsset(first)).toMatchObject({ open_alerts: 2 });
    await see(open, { ip: '10.0.0.1', mac: macB, at: start + hour });
    const second = holder(reader, '10.0.0.1').id;
    expect(reader.getAsset(first)).toMatchObject({ open_alerts: 1 });
    expect(reader.getAsset(second)).toMatchObject({ open_alerts: 1 });
    // The first alert recurs at a time when the other asset has the address.
    await store.commit(batchOf([on('10.0.0.1', { timestamp: start + hour })]));
    expect(reader.getAsset(first)).toMatchObject({ open_alerts: 0, risk_score: 0 });
    expect(reader.getAsset(second)).toMatchObject({ open_alerts: 2 });
    await store.mergeAssets(second, first, analyst);
    expect(reader.getAsset(first)).toMatchObject({ open_alerts: 2 });
    const { asset } = await store.createAsset({ ip_addresses: ['10.0.0.9'] }, analyst);
    await store.mergeAssets(first, asset.id, analyst);
    expect(reader.getAsset(asset.id)).toMatchObject({ open_alerts: 2, risk_level: 'critical' });
  });

  test('include alerts that are older than the asset', async () => {
    const open = opened();
    await open.store.commit(batchOf([on('10.0.0.1')]));
    await see(open, { ip: '10.0.0.1' });
    expect(holder(open.reader, '10.0.0.1')).toMatchObject({ open_alerts: 1 });
  });

  /** Changes that give a closed store's file the state that an older version, or a crash, leaves. */
  const left: Record<string, (root: RootDatabase) => void> = {
    'a file of a version without an index of open alerts': (root) => {
      for (const name of ['open-alerts', 'asset-risks', 'risk-ranks', 'risk-falls', 'asset-counters'])
        root.openDB({ name }).dropSync();
    },
    'a file whose assets do not have the alerts yet': (root) =>
      root.openDB<number, string>({ name: 'asset-counters' }).putSync('risks', 0),
  };

  test.each(Object.entries(left))('are found in %s', async (_, leave) => {
    const open = opened();
    await see(open, { ip: '10.0.0.1' });
    const { alerts } = await open.store.commit(
      batchOf([on('10.0.0.1'), on('10.0.0.1', { rule_id: '2' }), on('10.0.0.1', { rule_id: '3' })]),
    );
    await open.store.changeAlert(alerts[2]!.alert.id, { status: 'resolved' }, analyst);
    await open.store.close();
    open.reader.close();
    const root = openDatabase(`${open.dataDir}/siem.mdb`, { maxDbs: 64 });
    leave(root);
    const assets = openRows<unknown[], string>(root, 'assets');
    for (const { key, value } of [...assets.getRange()])
      assets.putSync(key, value.with(at.risk, 0).with(at.openAlerts, 0));
    await root.close();
    for (let time = 0; time < 2; time++) {
      const store = await openProcessed({ dataDir: open.dataDir, alertWindowMs: hour, clock: () => start });
      const reader = openReader(open.dataDir);
      expect(holder(reader, '10.0.0.1')).toMatchObject({ open_alerts: 2, risk_level: 'critical' });
      expect(riskScore(reader, { now: start }).entities).toMatchObject([{ score: 100 }]);
      reader.close();
      await store.close();
    }
  });

  test('of one address are counted exactly, for any number of alerts', async () => {
    const open = opened();
    await see(open, { ip: '10.0.0.1' });
    const many = Array.from({ length: 300 }, (_, i) => on('10.0.0.1', { rule_id: `${i}`, severity: 'low' }));
    const { alerts } = await open.store.commit(batchOf(many));
    expect(holder(open.reader, '10.0.0.1')).toMatchObject({ open_alerts: 300 });
    await open.store.changeAlert(alerts[7]!.alert.id, { status: 'resolved' }, analyst);
    expect(holder(open.reader, '10.0.0.1')).toMatchObject({ open_alerts: 299 });
  });
});
