import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { riskScore } from '../../../src/analytics/risk-score.ts';
import type { RiskScore } from '../../../src/contract/resources/risk-score.ts';
import { verdicts } from '../../../src/contract/vocabulary.ts';
import type { Finding } from '../../../src/events/finding.ts';
import { limits } from '../../../src/limits.ts';
import { openReader } from '../../../src/store/reader.ts';
import type { StoreReader } from '../../../src/store/store.ts';
import { openStore } from '../../../src/store/writer.ts';
import { analyst, batchOf, finding, hour, type Opened, opened, start } from '../../store/opened.ts';
import { assetsOf, holder, macA, macB, see } from './sightings.ts';

const day = 24 * hour;
const outside = '198.51.100.1';

const on = (ip: string, more: Partial<Finding> = {}) =>
  finding({ src_ip: outside, dst_ip: ip, severity: 'critical', ...more });

const scoreOf = ({ reader, clock }: Pick<Opened, 'reader' | 'clock'>) => riskScore(reader, { now: clock.now });

const sum = (parts: readonly { readonly points: number }[]) => parts.reduce((total, { points }) => total + points, 0);

/** Checks that the risk score agrees with the lists, in the same order, and that its parts add up. */
function expectAgreement(risk: RiskScore, reader: StoreReader): void {
  const listed = assetsOf(reader).filter(({ risk_score }) => risk_score > 0);
  expect(risk.entities_at_risk).toBe(listed.length);
  const shown = risk.entities.map(({ asset_id, score, level }) => [asset_id, score, level]);
  expect(shown.toSorted()).toEqual(
    listed.map(({ id, risk_score, risk_level }) => [id, risk_score, risk_level]).toSorted(),
  );
  const scores = risk.entities.map(({ score }) => score);
  expect(scores).toEqual(scores.toSorted((a, b) => b - a));
  for (const one of [...risk.entities, ...(risk.unassigned === undefined ? [] : [risk.unassigned])]) {
    expect(sum(one.alerts)).toBeCloseTo(one.score, 6);
    expect(risk.score).toBeGreaterThanOrEqual(one.score);
  }
  const parts = [...risk.entities, ...(risk.unassigned === undefined ? [] : [risk.unassigned])];
  expect(sum(parts)).toBeCloseTo(risk.score, 6);
}

describe('as time passes', () => {
  // Flushes and other parts of the store keep their real timers.
  beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }));
  afterEach(() => void vi.useRealTimers());

  /** Advances the clock, and the timers that depend on it, until no timer is due. */
  async function pass(clock: Opened['clock'], ms: number): Promise<void> {
    clock.now += ms;
    for (let step = 0; step < 6; step++) {
      await vi.advanceTimersByTimeAsync(step === 0 ? limits.riskLookMs : limits.riskPauseMs);
      for (let turn = 0; turn < 3; turn++) await new Promise((resolve) => setImmediate(resolve));
    }
  }

  test('stored scores fall automatically, and lists agree with the risk score', async () => {
    const open = opened();
    const { store, reader, clock } = open;
    await see(open, { ip: '10.0.0.1' }, { ip: '10.0.0.2' }, { ip: '10.0.0.3' });
    await store.commit(
      batchOf([on('10.0.0.1'), on('10.0.0.2', { severity: 'low' }), on('10.0.0.2', { rule_id: '2' })]),
    );
    expect(holder(reader, '10.0.0.1').risk_score).toBe(99);
    const seen: number[] = [];
    for (let week = 0; week < 8; week++) {
      expectAgreement(scoreOf(open), reader);
      seen.push(holder(reader, '10.0.0.1').risk_score);
      await pass(clock, 7 * day);
    }
    expect(seen).toEqual([99, 90, 68, 44, 25, 13, 7, 4]);
    // Alerts stay open until they are closed, regardless of their age.
    expect(holder(reader, '10.0.0.1')).toMatchObject({ open_alerts: 1, version: 1 });
    await pass(clock, 52 * 7 * day);
    expect(holder(reader, '10.0.0.2')).toMatchObject({ open_alerts: 2, risk_score: 0, risk_level: 'low' });
    expect(scoreOf(open)).toMatchObject({ score: 0, level: 'low', entities: [], entities_at_risk: 0 });
    await pass(clock, day);
    expect(vi.getTimerCount()).toBe(1); // only the timer for the background check of stored data
  });

  test('a new occurrence of an alert restarts its decay', async () => {
    const open = opened({ alertWindowMs: 30 * day });
    const { store, reader, clock } = open;
    await see(open, { ip: '10.0.0.1' });
    await store.commit(batchOf([on('10.0.0.1')]));
    await pass(clock, 14 * day);
    expect(holder(reader, '10.0.0.1')).toMatchObject({ open_alerts: 1, risk_score: 68 });
    const { alerts } = await store.commit(batchOf([on('10.0.0.1', { timestamp: clock.now })]));
    expect(alerts[0]!.alert.count).toBe(2);
    expect(holder(reader, '10.0.0.1')).toMatchObject({ open_alerts: 1, risk_score: 99 });
    expectAgreement(scoreOf(open), reader);
  });

  test('all assets are updated, even if they do not fit into one step', async () => {
    const open = opened();
    const count = limits.riskFallsPerStep + 100;
    const ips = Array.from({ length: count }, (_, i) => `10.0.${i >> 8}.${i & 255}`);
    await see(open, ...ips.map((ip) => ({ ip })));
    await open.store.commit(batchOf(ips.map((ip, i) => on(ip, { rule_id: `${i}`, severity: 'high' }))));
    await pass(open.clock, 7 * day);
    expect(new Set(assetsOf(open.reader).map(({ risk_score }) => risk_score))).toEqual(new Set([48]));
    const risk = scoreOf(open);
    expect(risk.entities.length).toBe(limits.maxShownRisks);
    expect(risk.entities_at_risk).toBe(count);
  });

  test('no timer of risk scores runs if no asset is at risk', async () => {
    const open = opened();
    await see(open, { ip: '10.0.0.1' });
    await open.store.commit(batchOf([finding()]));
    await pass(open.clock, day);
    expect(vi.getTimerCount()).toBe(1); // only the timer for the background check of stored data
  });
});

test('after a start, scores are updated for the time in which the service was stopped', async () => {
  const open = opened();
  await see(open, { ip: '10.0.0.1' });
  await open.store.commit(batchOf([on('10.0.0.1')]));
  await open.store.close();
  const store = openStore({ dataDir: open.dataDir, alertWindowMs: hour, clock: () => start + 14 * day });
  const reader = openReader(open.dataDir);
  await vi.waitFor(() => expect(holder(reader, '10.0.0.1').risk_score).toBe(68), { timeout: 60_000 });
  reader.close();
  await store.close();
});

test.each(verdicts.map((verdict) => [verdict] as const))('the verdict %s updates risk immediately', async (verdict) => {
  const open = opened();
  await see(open, { ip: '10.0.0.1' });
  const { alerts } = await open.store.commit(batchOf([on('10.0.0.1')]));
  await open.store.changeAlert(alerts[0]!.alert.id, { verdict }, analyst);
  const counts = verdict === 'true_positive' || verdict === 'suspicious';
  expect(holder(open.reader, '10.0.0.1')).toMatchObject({ open_alerts: 1, risk_score: counts ? 99 : 0 });
  expectAgreement(scoreOf(open), open.reader);
  await open.store.changeAlert(alerts[0]!.alert.id, { verdict: 'suspicious' }, analyst);
  expect(holder(open.reader, '10.0.0.1')).toMatchObject({ open_alerts: 1, risk_score: 99 });
});

test('suppressed alerts contribute, resolved alerts do not', async () => {
  const open = opened();
  const { store, reader } = open;
  await see(open, { ip: '10.0.0.1' });
  const { alerts } = await store.commit(batchOf([on('10.0.0.1', { severity: 'high' })]));
  const { id } = alerts[0]!.alert;
  await store.changeAlert(id, { status: 'suppressed' }, analyst);
  expect(holder(reader, '10.0.0.1')).toMatchObject({ open_alerts: 0, risk_score: 73 });
  expectAgreement(scoreOf(open), reader);
  await store.changeAlert(id, { verdict: 'false_positive' }, analyst);
  expect(holder(reader, '10.0.0.1')).toMatchObject({ open_alerts: 0, risk_score: 0 });
  await store.changeAlert(id, { verdict: 'true_positive' }, analyst);
  expect(holder(reader, '10.0.0.1').risk_score).toBe(73);
  await store.changeAlert(id, { status: 'in_progress' }, analyst);
  await store.changeAlert(id, { status: 'resolved' }, analyst);
  expect(scoreOf(open)).toMatchObject({ score: 0, entities: [] });
});

test('alerts dated by a clock that is ahead decay from their last update', async () => {
  const open = opened();
  await see(open, { ip: '10.0.0.1' });
  await open.store.commit(batchOf([on('10.0.0.1', { timestamp: start + 3650 * day })]));
  expect(scoreOf(open).entities).toMatchObject([{ score: 99 }]);
  open.clock.now += 14 * day;
  expect(scoreOf(open).entities).toMatchObject([{ score: 68 }]);
});

describe('the overall score', () => {
  test('is at least the score of the riskiest asset, can be higher because of other assets, and has an explanation', async () => {
    const open = opened();
    const { store, reader } = open;
    expect(scoreOf(open)).toMatchObject({ score: 0, level: 'low', entities: [], entities_at_risk: 0 });
    await see(open, { ip: '10.0.0.1' }, { ip: '10.0.0.2' });
    await store.commit(batchOf([on('10.0.0.1', { severity: 'medium' })]));
    expect(scoreOf(open)).toMatchObject({ score: 47, entities: [{ score: 47, points: 47 }] });
    await store.commit(
      batchOf([on('10.0.0.2', { severity: 'low' }), on('10.0.0.1', { rule_id: '2', severity: 'low' })]),
    );
    const risk = scoreOf(open);
    expectAgreement(risk, reader);
    expect(risk.score).toBeGreaterThan(risk.entities[0]!.score);
    expect(risk.entities[0]).toMatchObject({
      name: '10.0.0.1',
      criticality: 'medium',
      alerts: [{ severity: 'medium' }, { severity: 'low' }],
    });
    expect(risk.as_of).toBe(new Date(start).toISOString());
    const { id } = holder(reader, '10.0.0.2');
    await store.changeAsset(id, { criticality: 'critical' }, analyst);
    expectAgreement(scoreOf(open), reader);
    expect(scoreOf(open).score).toBeGreaterThan(risk.score);
  });

  test('includes alerts whose address does not belong to an asset yet', async () => {
    const open = opened();
    const { store, reader } = open;
    const { src_ip, dst_ip, ...withoutAddresses } = finding({ severity: 'low', rule_id: '3' });
    const { alerts } = await store.commit(
      batchOf([on('10.0.0.1', { severity: 'high' }), on('10.0.0.2', { severity: 'medium' }), withoutAddresses]),
    );
    const before = scoreOf(open);
    expectAgreement(before, reader);
    expect(before.entities).toEqual([]);
    expect(before.unassigned).toMatchObject({ points: before.score });
    const ids = before.unassigned!.alerts.map(({ alert_id }) => alert_id);
    expect(ids).toEqual(alerts.map(({ alert }) => alert.id));
    await see(open, { ip: '10.0.0.1' });
    const after = scoreOf(open);
    expectAgreement(after, reader);
    expect(after.entities).toMatchObject([{ score: 73 }]);
    expect(after.unassigned!.alerts.map(({ severity }) => severity)).toEqual(['medium', 'low']);
    await store.removeAsset(holder(reader, '10.0.0.1').id);
    expectAgreement(scoreOf(open), reader);
    expect(scoreOf(open)).toMatchObject({ score: before.score, entities: [] });
    for (const { alert } of alerts) await store.changeAlert(alert.id, { status: 'resolved' }, analyst);
    expect(scoreOf(open)).toMatchObject({ score: 0, entities: [] });
    expect(scoreOf(open)).not.toHaveProperty('unassigned');
  });

  test('follows assets that are merged, split and removed', async () => {
    const open = opened();
    const { store, reader } = open;
    await see(open, { ip: '10.0.0.1', mac: macA }, { ip: '10.0.0.2', mac: macB });
    await store.commit(batchOf([on('10.0.0.1'), on('10.0.0.2', { severity: 'medium' })]));
    const [first, second] = [holder(reader, '10.0.0.1').id, holder(reader, '10.0.0.2').id];
    await store.mergeAssets(second, first, analyst);
    expectAgreement(scoreOf(open), reader);
    expect(scoreOf(open).entities.map(({ asset_id, alerts }) => [asset_id, alerts.length])).toEqual([[first, 2]]);
    await store.splitAsset(first, ['10.0.0.2'], analyst);
    expectAgreement(scoreOf(open), reader);
    expect(scoreOf(open).entities.map(({ alerts }) => alerts.length)).toEqual([1, 1]);
    await store.removeAsset(first);
    expectAgreement(scoreOf(open), reader);
    expect(scoreOf(open).unassigned!.alerts.map(({ severity }) => severity)).toEqual(['critical']);
  });

  test('counts an alert between two addresses of one asset once', async () => {
    const open = opened();
    const { store, reader } = open;
    await store.createAsset({ ip_addresses: ['10.0.0.1', '10.0.0.2'] }, analyst);
    await store.commit(
      batchOf([finding({ src_ip: '10.0.0.1', dst_ip: '10.0.0.2', severity: 'medium', timestamp: start + 1 })]),
    );
    expect(holder(reader, '10.0.0.1')).toMatchObject({ open_alerts: 1, risk_score: 47 });
    expectAgreement(scoreOf(open), reader);
  });
});
