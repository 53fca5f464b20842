/** Silences in the store, and their effect on alerts. */
import { describe, expect, test } from 'vitest';
import type { Alert } from '../../../src/contract/resources/alert.ts';
import type { Silence, SilenceMatcher } from '../../../src/contract/resources/silence.ts';
import type { Finding } from '../../../src/events/finding.ts';
import { limits } from '../../../src/limits.ts';
import {
  analyst,
  batchOf,
  everything,
  finding,
  hour,
  newest,
  type Opened,
  opened,
  resources,
  start,
} from '../../store/opened.ts';

const day = 24 * hour;
const inMs = (ms: number) => new Date(start + ms).toISOString();
const silence = (matcher: SilenceMatcher, ms = day) => ({ matcher, reason: 'known', expires_at: inMs(ms) });
const ofRule: SilenceMatcher = { rule_id: ['1:2200073'] };

/** Commits a finding a second later, and returns its alert. */
async function find(there: Opened, changes: Partial<Finding> = {}): Promise<Alert & { id: string }> {
  there.clock.now += 1000;
  const { alerts } = await there.store.commit(batchOf([finding(changes)]));
  return alerts[0]!.alert;
}

async function silenced(matcher: SilenceMatcher, ms?: number) {
  const there = opened();
  const { id } = await there.store.createSilence(silence(matcher, ms), analyst);
  return { there, id };
}

const isNew = { status: 'new' };
const notNamed = (alert: Alert) => expect(alert).not.toHaveProperty('silence_id');

describe('an alert', () => {
  test('that matches a silence begins suppressed, names the silence, counts occurrences, and has a risk score and a log record', async () => {
    const { there, id } = await silenced(ofRule);
    const first = await find(there, { severity: 'high' });
    expect(first).toMatchObject({ status: 'suppressed', silence_id: id, count: 1, risk_score: 73 });
    expect(await find(there, { severity: 'high' })).toMatchObject({ id: first.id, count: 2 });
    // Severe alerts are logged, whether or not they are silenced.
    expect(await there.store.outbox(10)).toMatchObject([{ kind: 'alert.raised' }]);
  });

  test('becomes new with the next finding after its silence ended', async () => {
    const { there, id } = await silenced(ofRule, hour);
    const first = await find(there);
    there.clock.now = start + hour;
    expect(there.reader.getAlert(first.id)).toMatchObject({ status: 'suppressed', silence_id: id });
    const next = await find(there);
    expect(next).toMatchObject({ id: first.id, count: 2, ...isNew });
    notNamed(next);
  });

  test('becomes new with the next finding after its silence was removed or no longer matches', async () => {
    const { there, id } = await silenced(ofRule);
    const first = await find(there);
    await there.store.changeSilence(id, { matcher: { rule_id: ['other'] } });
    expect(await find(there)).toMatchObject({ id: first.id, ...isNew });
    const other = await find(there, { rule_id: 'other' });
    expect(other).toMatchObject({ status: 'suppressed', silence_id: id });
    await there.store.removeSilence(id);
    const next = await find(there, { rule_id: 'other' });
    expect(next).toMatchObject({ id: other.id, ...isNew });
    notNamed(next);
  });

  test('names the remaining silence when another silence has ended', async () => {
    const { there } = await silenced(ofRule, hour);
    const first = await find(there);
    there.clock.now = start + hour;
    const other = await there.store.createSilence(silence({ ip: ['192.0.2.0/24'] }), analyst);
    expect(await find(there)).toMatchObject({ id: first.id, status: 'suppressed', silence_id: other.id });
  });

  test('that existed before the silence is suppressed as well', async () => {
    const there = opened();
    const first = await find(there);
    expect(first).toMatchObject(isNew);
    there.clock.now += 1000;
    const { id } = await there.store.createSilence(silence(ofRule), analyst);
    expect(await find(there)).toMatchObject({ id: first.id, status: 'suppressed', silence_id: id });
  });

  test('that is more severe than the silence allows is not suppressed', async () => {
    const { there } = await silenced({ ...ofRule, max_severity: 'low' });
    expect(await find(there)).toMatchObject({ status: 'suppressed' });
    const graver = await find(there, { severity: 'high' });
    expect(graver).toMatchObject({ ...isNew, severity: 'high' });
    notNamed(graver);
    // A less severe finding does not hide the alert again.
    expect(await find(there)).toMatchObject({ id: graver.id, ...isNew, count: 3 });
    there.clock.now += 1000;
    await there.store.createSilence(silence({ ...ofRule, max_severity: 'medium' }), analyst);
    expect(await find(there)).toMatchObject({ id: graver.id, ...isNew });
  });

  test('with several names is not hidden by a silence for one name', async () => {
    const { there } = await silenced({ domain: ['example.org'] });
    expect(await find(there, { domain: 'a.example.org' })).toMatchObject({ status: 'suppressed' });
    expect(await find(there, { domain: 'evil.example' })).toMatchObject(isNew);
    expect(await find(there, { domain: 'a.example.org' })).toMatchObject(isNew);
  });

  test.for([[['in_progress']], [['suppressed']], [['in_progress', 'new']]] as const)(
    'whose status a user set to %j keeps that status when a silence matches, unless the user reset the status to new',
    async ([statuses]) => {
      const there = opened();
      const first = await find(there);
      for (const status of statuses) await there.store.changeAlert(first.id, { status }, analyst);
      const isOpen = statuses.at(-1) === 'new';
      there.clock.now += 1000;
      const { id } = await there.store.createSilence(silence(ofRule), analyst);
      const status = isOpen ? 'suppressed' : statuses.at(-1);
      expect(await find(there)).toMatchObject({ id: first.id, count: 2, status });
      await there.store.removeSilence(id);
      expect(await find(there)).toMatchObject({ count: 3, status: isOpen ? 'new' : status });
    },
  );

  test('that a user works on keeps its status although it is silenced', async () => {
    const { there } = await silenced(ofRule);
    const first = await find(there);
    const { alert } = await there.store.changeAlert(first.id, { status: 'in_progress' }, analyst);
    notNamed(alert);
    const next = await find(there);
    expect(next).toMatchObject({ status: 'in_progress', count: 2 });
    notNamed(next);
  });

  test('is silenced by asset if the asset currently owns an address of the alert', async () => {
    const there = opened({ home: ['192.0.2.0/24'] });
    const asset = { name: 'printer', ip_addresses: ['192.0.2.1'] };
    const { asset: printer } = await there.store.createAsset(asset, analyst);
    const { id } = await there.store.createSilence(silence({ asset_id: [printer.id] }), analyst);
    expect(await find(there, { src_ip: '::ffff:192.0.2.1' })).toMatchObject({ silence_id: id });
    expect(await find(there, { src_ip: '192.0.2.2' })).toMatchObject(isNew);
    await there.store.changeAsset(printer.id, { ip_addresses: ['192.0.2.2'] }, analyst);
    expect(await find(there, { src_ip: '192.0.2.2', dst_ip: '198.51.100.9' })).toMatchObject({
      silence_id: id,
    });
    expect(await find(there, { src_ip: '192.0.2.1' })).toMatchObject(isNew);
  });

  test('of a silenced flood does not count towards the limit of visible alerts', async () => {
    const { there, id } = await silenced({ src_ip: ['203.0.113.0/24'] });
    const loud = Array.from({ length: 250 }, (_, n) => finding({ src_ip: `203.0.113.${n}` }));
    for (let i = 0; i < loud.length; i += 50) await there.store.commit(batchOf(loud.slice(i, i + 50)));
    const seen = await find(there, { src_ip: '192.0.2.77' });
    expect(seen).toMatchObject({ ...isNew, src_ip: '192.0.2.77' });
    const alerts = resources<Alert>(there.reader.listAlerts(everything)).map(({ attributes }) => attributes);
    expect(alerts.filter(({ status }) => status === 'new')).toHaveLength(1);
    expect(alerts.filter(({ silence_id }) => silence_id === id)).toHaveLength(alerts.length - 1);
    expect(alerts.reduce((sum, { count }) => sum + count, 0)).toBe(251);
    const named = { ...everything, terms: [{ field: 'silence_id', values: [id] }] };
    expect(there.reader.listAlerts(named).total).toBe(alerts.length - 1);
  });
});

describe('silences', () => {
  test('can be changed and removed; a request with an outdated version is rejected', async () => {
    const { there, id } = await silenced(ofRule);
    there.clock.now += 1000;
    const { silence: after } = await there.store.changeSilence(id, { reason: 'still known' }, 1);
    expect(after).toMatchObject({ reason: 'still known', version: 2, owner: 'ana', state: 'active' });
    expect(after.updated_at > after.created_at).toBe(true);
    expect(await there.store.changeSilence(id, { reason: 'still known' })).toMatchObject({ unchanged: true });
    await expect(there.store.changeSilence(id, { reason: 'x' }, 1)).rejects.toMatchObject({
      code: 'VERSION_MISMATCH',
    });
    await expect(there.store.removeSilence(id, 1)).rejects.toMatchObject({ code: 'VERSION_MISMATCH' });
    await there.store.removeSilence(id.toUpperCase(), 2);
    await expect(there.store.removeSilence(id)).rejects.toMatchObject({ code: 'NOT_FOUND' });
    expect(there.reader.getSilence(id, start)).toBeUndefined();
  });

  test('must end in the future, within 90 days', async () => {
    const there = opened();
    for (const ms of [0, -1, limits.maxSilenceMs + 1])
      await expect(there.store.createSilence(silence(ofRule, ms), analyst)).rejects.toMatchObject({
        code: 'INVALID_REQUEST',
        details: { field: 'expires_at' },
      });
    const { id } = await there.store.createSilence(silence(ofRule, limits.maxSilenceMs), analyst);
    there.clock.now += limits.maxSilenceMs;
    expect(there.reader.getSilence(id, there.clock.now)).toMatchObject({ state: 'expired' });
    // An expired silence can get a better description, and can be restarted.
    await there.store.changeSilence(id, { reason: 'was known' });
    await expect(there.store.changeSilence(id, { expires_at: inMs(0) })).rejects.toMatchObject({
      code: 'INVALID_REQUEST',
    });
    expect(await there.store.changeSilence(id, { expires_at: inMs(limits.maxSilenceMs + day) })).toMatchObject({
      silence: { state: 'active', version: 3 },
    });
  });

  test('can be filtered by matcher, state, owner and text, and sorted by expiry', async () => {
    const there = opened();
    const matchers: SilenceMatcher[] = [ofRule, { domain: ['example.org'] }, { category: ['Trojan'] }];
    for (const [n, matcher] of matchers.entries())
      await there.store.createSilence({ ...silence(matcher, (n + 1) * hour), reason: `reason ${n}` }, analyst);
    const reasons = (more: object, nowMs = start) =>
      resources<Silence>(there.reader.listSilences({ ...newest, order: 'asc', ...more }, nowMs)).map(
        ({ attributes }) => attributes.reason,
      );
    const by = (field: string, value: string) => ({ terms: [{ field, values: [value] }] });
    expect(reasons(by('rule_id', '1:2200073'))).toEqual(['reason 0']);
    expect(reasons(by('domain', 'Example.ORG'))).toEqual(['reason 1']);
    expect(reasons(by('category', 'Trojan'))).toEqual(['reason 2']);
    expect(reasons(by('owner', 'ana'))).toHaveLength(3);
    expect(reasons(by('state', 'expired'), start + hour)).toEqual(['reason 0']);
    expect(reasons({ sort: 'expires_at', order: 'desc' })).toEqual(['reason 2', 'reason 1', 'reason 0']);
    expect(reasons({ q: 'trojan' })).toEqual(['reason 2']);
  });

  test('are limited in number; the silence that ended first is removed for a new silence', async () => {
    const there = opened();
    const made = await Promise.all(
      Array.from({ length: limits.maxSilences }, (_, n) =>
        there.store.createSilence(silence({ src_ip: [`10.0.${n >> 8}.${n & 255}`] }, hour + n), analyst),
      ),
    );
    await expect(there.store.createSilence(silence(ofRule), analyst)).rejects.toMatchObject({
      code: 'CONFLICT',
    });
    there.clock.now += hour + 10;
    await there.store.createSilence(silence(ofRule), analyst);
    expect(there.reader.listSilences(newest, start).total).toBe(limits.maxSilences);
    expect(there.reader.getSilence(made[0]!.id, start)).toBeUndefined();
    expect(there.reader.getSilence(made[1]!.id, start)).toBeDefined();
  });

  test('take effect even if another call aborts their transaction', async () => {
    const there = opened();
    const bad = { blocks: [new ArrayBuffer(3)], answer: batchOf([]).answer };
    const [made, failed] = await Promise.allSettled([
      there.store.createSilence(silence(ofRule), analyst),
      there.store.commit(bad),
    ]);
    expect([made.status, failed.status]).toEqual(['fulfilled', 'rejected']);
    expect(await find(there)).toMatchObject({ status: 'suppressed' });
  });
});
