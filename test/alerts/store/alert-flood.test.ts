/** Summary alerts: floods of alerts from one rule, and attacks hidden in the floods. */
import { describe, expect, test } from 'vitest';
import type { Alert } from '../../../src/contract/resources/alert.ts';
import type { Finding } from '../../../src/events/finding.ts';
import { limits } from '../../../src/limits.ts';
import { analyst, batchOf, everything, finding, hour, type Opened, opened, start } from '../../store/opened.ts';

const minute = 60_000;
const home = ['10.0.0.0/8'];
const victim = '10.0.0.5';

/** Returns the n-th address outside the home networks. */
const forged = (n: number): string => `198.${18 + (n >> 16)}.${(n >> 8) & 255}.${n & 255}`;

const flood = (count: number, changes: (n: number) => Partial<Finding> = () => ({})): Finding[] =>
  Array.from({ length: count }, (_, n) =>
    finding({ src_ip: forged(n), dst_ip: victim, timestamp: start + n, ...changes(n) }),
  );

type Shown = Alert & { readonly id: string };

function alertsOf({ reader }: Opened, status?: Alert['status']): Shown[] {
  const terms = status === undefined ? [] : [{ field: 'status', values: [status] }];
  const found: Shown[] = [];
  for (let page = 1; ; page++) {
    const { json, total } = reader.listAlerts({ ...everything, page, terms });
    const items = JSON.parse(Buffer.from(json).toString('utf8')) as { id: string; attributes: Alert }[];
    found.push(...items.map(({ id, attributes }) => ({ id, ...attributes })));
    if (found.length >= total) return found;
  }
}

const counted = (alerts: readonly Alert[]): number => alerts.reduce((sum, { count }) => sum + count, 0);
const namesOf = (alert: Alert | undefined, name: string): unknown => alert?.evidence?.[name];

async function commit({ store }: Opened, findings: readonly Finding[], atOnce = findings.length): Promise<void> {
  for (let i = 0; i < findings.length; i += atOnce) await store.commit(batchOf(findings.slice(i, i + atOnce)));
}

describe('findings from many forged addresses', () => {
  const all = (destination: (n: number) => string) =>
    flood(20_000, (n) => ({
      rule_id: `1:${n % 50}`,
      severity: (['high', 'medium', 'low', 'critical'] as const)[n % 4]!,
      dst_ip: destination(n),
      timestamp: start + Math.floor((n * minute) / 20_000),
    }));

  const cases: [name: string, destination: (n: number) => string][] = [
    ['at one host', () => victim],
    ['at hosts across the home network', (n) => `10.0.${(n >> 3) & 255}.${n & 255}`],
    ['between external hosts', (n) => forged(n + 7)],
  ];
  test.for(cases)('%s: 20,000 findings of 50 rules in a minute create 50 visible alerts', async ([, destination]) => {
    const there = opened({ home });
    await commit(there, all(destination), 10_000);
    const alerts = alertsOf(there);
    const seen = alerts.filter(({ status }) => status === 'new');
    expect(seen).toHaveLength(50);
    expect(alerts.length).toBeLessThanOrEqual(100);
    expect(counted(alerts)).toBe(20_000);
    for (const alert of seen) {
      // Each alert has 400 sources, counted by a sketch with a standard error of 1.6 %.
      expect(namesOf(alert, 'sources')).toBeGreaterThan(360);
      expect(namesOf(alert, 'sources')).toBeLessThan(440);
      expect(namesOf(alert, 'estimated')).toBe(true);
      expect(namesOf(alert, 'first_sources')).toHaveLength(limits.maxFoldedNames);
      expect(alert.event_ids.length).toBeLessThanOrEqual(limits.maxAlertEventIds);
    }
    expect((await there.store.outbox(1000)).length).toBeLessThanOrEqual(100);
  });

  test('sent in small bodies: alerts raised before the summary alert are suppressed and name the summary alert', async () => {
    const there = opened({ home });
    await commit(
      there,
      flood(600, (n) => ({ rule_id: `1:${n % 5}` })),
      7,
    );
    const alerts = alertsOf(there);
    const seen = alerts.filter(({ status }) => status === 'new');
    expect(seen.map(({ rule_id }) => rule_id).sort()).toEqual(['1:0', '1:1', '1:2', '1:3', '1:4']);
    const folded = alerts.filter(({ status }) => status === 'suppressed');
    // Alerts in the same body as the first alert above the limit are not covered.
    expect(folded.length).toBeGreaterThan(5 * limits.maxAlertsPerHostWindow - 7);
    const byRule = new Map(seen.map(({ rule_id, id }) => [rule_id, id]));
    for (const { folded_into, rule_id } of folded) expect(folded_into).toBe(byRule.get(rule_id));
    expect(counted(alerts)).toBe(600);
    // The summary alert also counts the addresses of covered alerts.
    for (const alert of seen) expect(namesOf(alert, 'sources')).toBe(120);
  });
});

describe('a separate alert', () => {
  test('is raised for every host up to the limit', async () => {
    const there = opened({ home });
    const findings = flood(limits.maxAlertsPerRuleWindow, (n) => ({
      src_ip: '198.18.0.1',
      dst_ip: `10.0.0.${n}`,
    }));
    await commit(there, findings, 10);
    expect(alertsOf(there, 'new')).toHaveLength(limits.maxAlertsPerRuleWindow);
  });

  test('is raised for every host of a slow, severe outbreak', async () => {
    const there = opened({ home });
    const findings = flood(300, (n) => ({
      severity: 'high',
      src_ip: `10.0.${n >> 8}.${n & 255}`,
      dst_ip: '198.18.0.1',
      timestamp: start + n * 10_000,
    }));
    await commit(there, findings, 30);
    expect(alertsOf(there, 'new')).toHaveLength(300);
  });

  test('is not merged into the summary if it was raised before the flood, if a user works on it, or if its host is critical', async () => {
    const there = opened({ home });
    const { store } = there;
    const crown = '10.0.0.9';
    await store.createAsset(
      { name: 'ledger', ip_addresses: [crown], criticality: 'critical' },
      { id: analyst.id, name: analyst.name },
    );
    const before = finding({ src_ip: '203.0.113.1', dst_ip: '10.0.0.7', timestamp: start });
    const inHand = finding({ src_ip: '203.0.113.2', dst_ip: '10.0.0.8', timestamp: start + 29 * minute });
    await commit(there, [before]);
    const { alerts } = await store.commit(batchOf([inHand]));
    await store.changeAlert(alerts[0]!.alert.id, { assignee: 'ana' }, analyst);
    const ofCrown = finding({ src_ip: '203.0.113.3', dst_ip: crown, timestamp: start + 29 * minute });
    await commit(there, [ofCrown]);
    const findings = flood(3000, (n) => ({
      dst_ip: `10.1.${n & 15}.${n >> 4}`,
      timestamp: start + 30 * minute + n,
    }));
    await commit(there, findings, 100);
    await commit(there, [
      finding({ src_ip: '203.0.113.4', dst_ip: crown, timestamp: start + 31 * minute }),
      finding({ src_ip: '203.0.113.4', dst_ip: '10.2.2.2', timestamp: start + 31 * minute }),
    ]);
    const seen = alertsOf(there, 'new');
    const told = seen.map(({ src_ip, dst_ip, title }) => `${src_ip} ${dst_ip} ${title.slice(0, 5)}`);
    // The order of alerts with the same time is not fixed.
    expect(told.sort()).toEqual([
      '203.0.113.1 10.0.0.7 Inval',
      '203.0.113.2 10.0.0.8 Inval',
      `203.0.113.3 ${crown} Inval`,
      `undefined ${crown} Inval`,
      'undefined undefined Alert',
    ]);
  });

  test('is kept for a host with many sources, regardless of forged findings for other hosts', async () => {
    const there = opened({ home });
    await commit(there, flood(500), 50);
    const others = flood(500, (n) => ({ dst_ip: `10.3.${n & 7}.${n >> 3}`, timestamp: start + 1000 + n }));
    await commit(there, others, 50);
    await commit(there, [finding({ src_ip: '203.0.113.66', dst_ip: victim, timestamp: start + 2000 })]);
    const [ofHost, ofRule, ...more] = alertsOf(there, 'new');
    expect(more).toEqual([]);
    expect(ofHost).toMatchObject({
      dst_ip: victim,
      title: 'Invalid checksum, from many sources',
      count: 501,
    });
    expect(ofHost).not.toHaveProperty('src_ip');
    expect(namesOf(ofHost, 'sources')).toBeGreaterThanOrEqual(480);
    expect(namesOf(ofHost, 'first_destinations')).toEqual([victim]);
    expect(ofRule).toMatchObject({ title: 'Alert flood: Invalid checksum' });
    expect(ofRule).not.toHaveProperty('dst_ip');
  });

  test('is raised for every host of high criticality up to the limit, regardless of the number of other hosts', async () => {
    const there = opened({ home });
    const bound = limits.maxCriticalHostsPerRuleWindow;
    const crowns = Array.from({ length: bound + 1 }, (_, n) => `10.8.0.${n}`);
    await Promise.all(
      crowns.map((ip) => there.store.createAsset({ name: ip, ip_addresses: [ip], criticality: 'high' }, analyst)),
    );
    await commit(
      there,
      flood(200, (n) => ({ dst_ip: `10.4.0.${n}` })),
    );
    for (const round of [1000, 2000])
      await commit(
        there,
        crowns.map((ip, n) => finding({ src_ip: forged(round + n), dst_ip: ip, timestamp: start + round })),
        10,
      );
    const seen = alertsOf(there, 'new');
    expect(seen.filter(({ dst_ip }) => dst_ip !== undefined).map(({ count }) => count)).toEqual(
      Array.from({ length: bound }, () => 2),
    );
    expect(seen.filter(({ dst_ip }) => dst_ip === undefined)).toMatchObject([{ count: 202 }]);
  });

  test('becomes a summary alert for a home host with many destinations', async () => {
    const there = opened({ home });
    await commit(
      there,
      flood(100, (n) => ({ src_ip: victim, dst_ip: `10.0.1.${n}` })),
    );
    const [alert, ...others] = alertsOf(there);
    expect(others).toEqual([]);
    expect(alert).toMatchObject({
      title: 'Invalid checksum, to many destinations',
      src_ip: victim,
      count: 100,
      evidence: { sources: 1, destinations: 100, estimated: false },
    });
  });
});

describe('a flood', () => {
  test('does not affect another rule, and ends with the window: later findings make its suppressed alerts new again', async () => {
    const there = opened({ home });
    await commit(there, flood(100), 5);
    await commit(there, [finding({ rule_id: 'other', src_ip: forged(5000), dst_ip: victim })]);
    expect(alertsOf(there, 'new')).toHaveLength(2);
    const again = finding({ src_ip: forged(3), dst_ip: victim, timestamp: start + 30 * minute });
    await commit(there, [again]);
    expect(alertsOf(there, 'new')).toHaveLength(2);
    await commit(there, [{ ...again, timestamp: start + hour + 1 }]);
    expect(alertsOf(there, 'new').map(({ src_ip, count }) => [src_ip, count])).toEqual(
      expect.arrayContaining([[forged(3), 3]]),
    );
    await commit(there, [finding({ src_ip: forged(6000), dst_ip: victim, timestamp: start + hour + 2 })]);
    expect(alertsOf(there, 'new')).toHaveLength(4);
  });

  describe('cannot be split by a clock that jumps', () => {
    const cases: [name: string, time: (n: number) => number][] = [
      ['forwards through ten years', (n) => start - (1500 - n) * 58 * hour],
      ['backwards', (n) => start - n * 29 * hour],
      ['back and forth', (n) => start + (n % 2 === 0 ? n : -n) * 2 * hour],
      ['into the future', (n) => start + n * 2 * hour],
    ];
    test.for(cases)('%s', async ([, time]) => {
      const there = opened({ home });
      await commit(
        there,
        flood(1500, (n) => ({ timestamp: time(n) })),
        250,
      );
      const alerts = alertsOf(there);
      const most = limits.maxUntimelyAlertsPerRuleWindow + limits.maxAlertsPerHostWindow + 2;
      expect(alerts.length).toBeLessThanOrEqual(most);
      expect(alerts.filter(({ title }) => title.includes('past or future times'))).toHaveLength(1);
      expect(counted(alerts)).toBe(1500);
    });

    test('and does not hide current findings', async () => {
      const there = opened({ home });
      await commit(
        there,
        flood(1500, (n) => ({ timestamp: start - (1500 - n) * 29 * hour })),
        250,
      );
      await commit(there, [finding({ src_ip: '203.0.113.9', dst_ip: victim, timestamp: start })]);
      expect(alertsOf(there, 'new').filter(({ src_ip }) => src_ip === '203.0.113.9')).toHaveLength(1);
    });
  });

  test('cannot be split by backdating', async () => {
    const there = opened();
    const backwards = flood(1500).map((each, i) => ({ ...each, timestamp: start - i }));
    await commit(there, backwards, 100);
    expect(alertsOf(there, 'new')).toHaveLength(1);
    expect(counted(alertsOf(there))).toBe(1500);
  });

  test('raises another summary alert after a user resolved the first', async () => {
    const there = opened({ home });
    await commit(there, flood(200), 20);
    const [fold] = alertsOf(there, 'new');
    await there.store.changeAlert(fold!.id, { status: 'resolved' }, analyst);
    await commit(
      there,
      flood(10, (n) => ({ src_ip: forged(1000 + n) })),
    );
    const [next, ...others] = alertsOf(there, 'new');
    expect(others).toEqual([]);
    expect(next).toMatchObject({ previous_alert_id: fold!.id, count: 10, dst_ip: victim });
    expect(namesOf(next, 'sources')).toBe(10);
  });

  test.for([[['in_progress']], [['in_progress', 'new']]] as const)(
    'does not suppress an alert that a user set to %j',
    async ([statuses]) => {
      const there = opened({ home });
      await commit(there, flood(40), 4);
      const [one] = alertsOf(there, 'suppressed');
      for (const status of statuses) await there.store.changeAlert(one!.id, { status }, analyst);
      await commit(there, flood(40), 4);
      expect(there.reader.getAlert(one!.id)).toMatchObject({ status: statuses.at(-1), count: 2 });
      expect(there.reader.getAlert(one!.id)).not.toHaveProperty('folded_into');
    },
  );
});

describe('a flood from many rules of one source', () => {
  const many = (n: number, from = 0) =>
    Array.from({ length: n }, (_, i) =>
      finding({
        rule_id: `1:${from + i}`,
        rule_name: `Rule ${from + i}`,
        title: `Rule ${from + i}`,
        src_ip: `203.0.113.${i % 250}`,
        severity: i % 100 === 0 ? 'high' : 'low',
      }),
    );

  test('raises alerts up to the limit, and one summary alert that counts the rest', async () => {
    const there = opened({ home });
    await commit(there, many(7000), 1000);
    const alerts = alertsOf(there, 'new');
    expect(alerts).toHaveLength(limits.maxAlertsPerSourceHour + 1);
    const [flood, ...others] = alerts.filter(({ rule_id }) => rule_id === 'flood.suricata');
    expect(others).toEqual([]);
    expect(flood).toMatchObject({
      title: 'Alert flood across rules: all rules of suricata',
      rule_source: 'suricata',
      severity: 'high',
      count: 7000 - limits.maxAlertsPerSourceHour,
      evidence: { sources: 250 },
    });
  });

  test('does not affect other sources, and ends with the hour', async () => {
    const there = opened({ home });
    await commit(there, many(6500), 6500);
    await commit(there, [finding({ rule_source: 'intel', rule_id: 'intel.1', title: 'Known-bad' })]);
    expect(alertsOf(there, 'new').some(({ rule_id }) => rule_id === 'intel.1')).toBe(true);
    there.clock.now += 2 * hour;
    await commit(there, [finding({ rule_id: '9:9', title: 'After it', timestamp: there.clock.now })]);
    expect(alertsOf(there, 'new').some(({ rule_id }) => rule_id === '9:9')).toBe(true);
  });
});
