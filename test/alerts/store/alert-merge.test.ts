import { describe, expect, test } from 'vitest';
import type { Alert } from '../../../src/contract/resources/alert.ts';
import type { Finding } from '../../../src/events/finding.ts';
import { limits } from '../../../src/limits.ts';
import { analyst, batchOf, everything, finding, hour, opened, resources, start } from '../../store/opened.ts';

const minute = 60_000;

/** Returns the alerts after committing the findings in one batch each, in order of their first occurrence. */
async function merged(batches: readonly (readonly Finding[])[]): Promise<Alert[]> {
  const { store, reader } = opened();
  for (const findings of batches) await store.commit(batchOf(findings));
  return resources<Alert>(reader.listAlerts(everything)).map(({ attributes }) => attributes);
}

const at = (...minutes: number[]) => minutes.map((m) => [finding({ timestamp: start + m * minute })]);
const iso = (minutes: number) => new Date(start + minutes * minute).toISOString();

describe('occurrences', () => {
  const cases: [name: string, minutes: number[], counts: number[]][] = [
    ['once', [0], [1]],
    ['at the same time', [0, 0, 0], [3]],
    ['exactly a window apart', [0, 60, 120], [3]],
    ['more than a window apart', [0, 61], [1, 1]],
    ['the window runs from the last occurrence', [0, 50, 100, 150], [4]],
    ['backwards', [150, 100, 50, 0], [4]],
    ['late, before the alert began', [100, 41], [2]],
    ['late, more than a window before', [100, 39], [1, 1]],
    ['between two alerts: the nearer alert counts the occurrence', [0, 100, 45], [2, 1]],
    ['between two alerts, nearer to the later alert', [0, 100, 55], [1, 2]],
    ['late for the first of three alerts', [0, 100, 200, 5], [2, 1, 1]],
  ];
  test.for(cases)('%s: findings at minutes %j become alerts with counts %j', async ([, minutes, counts]) => {
    expect((await merged(at(...minutes))).map(({ count }) => count)).toEqual(counts);
  });

  test('are processed in order of time within a batch', async () => {
    const alerts = await merged([at(0, 100, 50).flat()]);
    expect(alerts).toMatchObject([{ count: 3, first_seen: iso(0), last_seen: iso(100), version: 1 }]);
  });

  const others: [string, Partial<Finding>, number][] = [
    ['another rule', { rule_id: '1:2' }, 2],
    ['another rule source', { rule_source: 'zeek' }, 2],
    ['another source address', { src_ip: '192.0.2.2' }, 2],
    ['another destination address', { dst_ip: '198.51.100.2' }, 2],
    ['the addresses exchanged', { src_ip: '198.51.100.1', dst_ip: '192.0.2.1' }, 2],
    ['other ports', { src_port: 1, dst_port: 2 }, 1],
    ['another title and severity', { title: 'x', severity: 'critical' }, 1],
    ['another spelling of the address', { src_ip: '::ffff:192.0.2.1' }, 1],
  ];
  test.for(others)('are merged if rule and addresses are equal: %s %j, alerts: %d', async ([, changes, count]) => {
    expect(await merged([[finding(), finding(changes)]])).toHaveLength(count);
  });

  test('of one rule without addresses are merged into one alert', async () => {
    const { src_ip: _s, dst_ip: _d, ...bare } = finding();
    expect(await merged([[bare], [bare]])).toMatchObject([{ count: 2 }]);
  });
});

describe('an alert', () => {
  test('has the ports and names of the first occurrence and the highest severity', async () => {
    const [alert] = await merged([
      [finding({ severity: 'medium', confidence: 0.5, domain: 'a.example' })],
      [finding({ severity: 'high', src_port: 1, domain: 'b.example' })],
      [finding({ severity: 'low' })],
    ]);
    expect(alert).toMatchObject({
      severity: 'high',
      priority: 'high',
      risk_score: 55,
      src_port: 4711,
      domain: 'a.example',
      version: 3,
      status: 'new',
    });
  });

  test('keeps the severity of an analyst until a more severe finding arrives', async () => {
    const { store, reader } = opened();
    const { alerts } = await store.commit(batchOf([finding({ severity: 'medium' })]));
    const id = alerts[0]!.alert.id;
    await store.changeAlert(id, { severity: 'low', priority: 'critical' }, analyst);
    await store.commit(batchOf([finding({ severity: 'medium' })]));
    expect(reader.getAlert(id)).toMatchObject({ severity: 'low', priority: 'critical' });
    await store.commit(batchOf([finding({ severity: 'high' })]));
    expect(reader.getAlert(id)).toMatchObject({ severity: 'high', priority: 'critical' });
  });
});

describe('recurrence', () => {
  async function recurring(status: Alert['status'][], afterMinutes = 1) {
    const { store, reader } = opened();
    const first = (await store.commit(batchOf([finding()]))).alerts[0]!.alert.id;
    for (const next of status) await store.changeAlert(first, { status: next }, analyst);
    await store.commit(batchOf([finding({ timestamp: start + afterMinutes * minute })]));
    return { first, alerts: resources<Alert>(reader.listAlerts(everything)) };
  }

  test.for([['new'], ['in_progress'], ['suppressed']] as const)(
    'while the alert is %s adds to its count and raises no second alert',
    async ([status]) => {
      const { alerts } = await recurring([status]);
      expect(alerts).toMatchObject([{ attributes: { count: 2, status } }]);
    },
  );

  test.for([[['resolved']], [['resolved', 'archived']], [['suppressed', 'archived']]] as const)(
    'after the alert became %s raises a new alert that names the earlier alert',
    async ([status]) => {
      const { first, alerts } = await recurring([...status]);
      expect(alerts).toHaveLength(2);
      expect(alerts.find(({ id }) => id !== first)?.attributes).toMatchObject({
        count: 1,
        status: 'new',
        previous_alert_id: first,
      });
      expect(alerts.find(({ id }) => id === first)?.attributes.count).toBe(1);
    },
  );

  test('long after the alert was resolved raises a new alert that names the earlier alert', async () => {
    const { first, alerts } = await recurring(['resolved'], 500);
    expect(alerts[1]?.attributes.previous_alert_id).toBe(first);
  });

  test('long after an open alert raises a new alert that does not name the open alert', async () => {
    const { alerts } = await recurring([], 500);
    expect(alerts).toHaveLength(2);
    expect(alerts[1]?.attributes.previous_alert_id).toBeUndefined();
  });

  test('after the alert was reopened adds to the count of the reopened alert', async () => {
    const { alerts } = await recurring(['resolved', 'in_progress']);
    expect(alerts).toMatchObject([{ attributes: { count: 2, status: 'in_progress' } }]);
  });
});

describe('the log', () => {
  test('receives an alert once, when its severity first reaches high', async () => {
    const { store, notices } = opened();
    await store.commit(batchOf([finding({ severity: 'medium' })]));
    expect(await store.outbox(10)).toEqual([]);
    const { alerts } = await store.commit(batchOf([finding({ severity: 'high' })]));
    expect(notices.at(-1)?.outbox).toBe(1);
    await store.commit(batchOf([finding({ severity: 'critical' })]));
    const rows = await store.outbox(10);
    expect(rows).toMatchObject([
      {
        kind: 'alert.raised',
        actor: 'system',
        subject: { type: 'alert', id: alerts[0]!.alert.id },
        data: { rule: { source: 'suricata', id: '1:2200073' }, severity: 'high', count: 2 },
      },
    ]);
  });

  test('receives an alert whose severity a user raised, with the user as the actor', async () => {
    const { store } = opened();
    const { alerts } = await store.commit(batchOf([finding()]));
    await store.changeAlert(alerts[0]!.alert.id, { severity: 'high' }, analyst);
    await store.changeAlert(alerts[0]!.alert.id, { severity: 'low' }, analyst);
    await store.changeAlert(alerts[0]!.alert.id, { severity: 'critical' }, analyst);
    expect(await store.outbox(10)).toMatchObject([{ kind: 'alert.raised', actor: analyst.id }]);
  });

  test('returns a position that is stored in the alert; returning the same position again changes nothing', async () => {
    const { store, reader, notices } = opened();
    const { alerts } = await store.commit(batchOf([finding({ severity: 'high' })]));
    const [row] = await store.outbox(10);
    const settlement = { id: row!.id, leaf_index: 7, tree_size: 8, leaf_hash: 'ab'.repeat(32) };
    await store.settle([settlement]);
    const { id: _, ...transparency } = settlement;
    expect(notices.at(-1)?.alerts).toMatchObject([{ alert: { transparency, version: 2 } }]);
    expect(reader.getAlert(alerts[0]!.alert.id)).toMatchObject({ transparency });
    const announced = notices.length;
    await store.settle([settlement]);
    expect(notices).toHaveLength(announced);
    expect(await store.outbox(10)).toEqual([]);
  });

  test('receives bounded, well-formed texts for any sensor input', async () => {
    const { store } = opened();
    const text = `${'\u0001'.repeat(4000)}\ud800`;
    await store.commit(
      batchOf([
        finding({
          severity: 'high',
          title: text,
          rule_name: text,
          rule_id: text,
          category: `${text}`,
          domain: '\ud800',
        }),
      ]),
    );
    const [row] = await store.outbox(10);
    expect(JSON.stringify(row).length).toBeLessThan(limits.maxEntryBytes);
    expect(row?.data.domain).toBe('\ufffd');
  });
});

test('findings about different things between the same hosts become different alerts', async () => {
  const { store, reader } = opened();
  const about = (name: string) => finding({ about: name, domain: name });
  await store.commit(batchOf([about('a.example'), about('b.example'), about('a.example'), finding()]));
  const alerts = resources<Alert>(reader.listAlerts(everything));
  const counted = new Map(alerts.map(({ attributes }) => [attributes.domain, attributes.count]));
  expect(alerts).toHaveLength(3);
  expect(counted).toEqual(
    new Map([
      ['a.example', 2],
      ['b.example', 1],
      [undefined, 1],
    ]),
  );
});

test('activity that lasts longer than the window stays one alert, described by its latest finding', async () => {
  const { store, reader } = opened();
  const day = 24 * hour;
  const found = (at: number, title: string, n: number) =>
    finding({ timestamp: start + at, title, lasts_ms: 36 * hour, evidence: { n } });
  await store.commit(batchOf([found(0, 'Scan of 10 ports', 10)]));
  await store.commit(batchOf([found(day, 'Scan of 20 ports', 20)]));
  await store.commit(batchOf([found(hour, 'Scan of 11 ports', 11)]));
  const [alert, ...others] = resources<Alert>(reader.listAlerts(everything));
  expect(others).toEqual([]);
  expect(alert?.attributes).toMatchObject({ count: 3, title: 'Scan of 20 ports', evidence: { n: 20 } });
  await store.commit(batchOf([found(3 * day, 'Scan of 30 ports', 30)]));
  expect(resources<Alert>(reader.listAlerts(everything))).toHaveLength(2);
});
