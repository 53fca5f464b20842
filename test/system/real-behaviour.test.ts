/** Recorded networks: known activity is found, with few enough alerts for an analyst to review each one. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { login, type Service, startService } from '../../scripts/service.ts';
import type { Evidence } from '../../src/events/finding.ts';
import { alertsAfter, type FoundAlert, inBodies } from './counted.ts';
import { hasSharedData, sharedLines } from './shared-data.ts';

/** Timeout that suffices on a busy machine. */
const patienceMs = 180_000;

interface Recorded {
  readonly alerts: readonly FoundAlert[];
  of(rule: string, ends?: object): Alert[];
}
type Alert = FoundAlert['attributes'];

/** Sends recorded lines to a separate service before the surrounding tests. Returns the alerts. */
function recorded(files: readonly string[], env: Readonly<Record<string, string>> = {}): Recorded {
  let service: Service;
  let alerts: FoundAlert[] = [];
  beforeAll(async () => {
    service = await startService({ env });
    const bodies = files.flatMap((file) => inBodies(sharedLines(file)));
    alerts = await alertsAfter(service, await login(service), bodies);
  }, patienceMs);
  afterAll(async () => {
    expect(await service.stop()).toBe(0);
  });
  return {
    get alerts() {
      return alerts;
    },
    of: (rule, ends = {}) =>
      alerts
        .map(({ attributes }) => attributes)
        .filter(
          (alert) =>
            alert.rule_id === `behaviour.${rule}` &&
            Object.entries(ends).every(([name, value]) => alert[name as keyof Alert] === value),
        ),
  };
}

const severitiesOf = (alerts: readonly FoundAlert[]) => alerts.map(({ attributes }) => attributes.severity);
const internetHost = ['conn', 'open_conn', 'dns'].map((table) => `zeek-internet-host/missing_host.${table}.ndjson.gz`);
const host = '64.225.56.201';
const scores = ['score', 'timestamp_score', 'data_size_score', 'histogram_score', 'duration_score'];
const score = (evidence: Evidence, name: string) => Number(evidence[name]);

/** Over the window 1713657591 to 1713743991, RITA scores the beacon 0.963. */
function expectBeacon(found: readonly Alert[], severity: Alert['severity'], direction: string): void {
  expect(found).toHaveLength(1);
  const { evidence = {}, transport, count, event_ids } = found[0]!;
  expect(found[0]).toMatchObject({ severity, transport: 'tcp', rule_source: 'behaviour' });
  for (const name of scores) expect(score(evidence, name), name).toBeGreaterThan(0.8);
  for (const name of scores) expect(score(evidence, name), name).toBeLessThanOrEqual(1);
  expect(Math.abs(score(evidence, 'score') - 0.963)).toBeLessThan(0.03);
  const mean = scores.slice(1).reduce((sum, name) => sum + score(evidence, name) / 4, 0);
  expect(score(evidence, 'score')).toBeCloseTo(mean, 2);
  expect(score(evidence, 'connections')).toBeGreaterThan(300);
  expect(evidence).toMatchObject({ direction, histogram: expect.any(Array) });
  // The beacon is reported once a day, not every hour, so its count is low. The alert lists a sample of its events.
  expect([transport, count <= 5, event_ids.length > 0]).toEqual(['tcp', true, true]);
}

describe.skipIf(!hasSharedData)('a host on the Internet for 72 hours, 105,990 connections', () => {
  describe('without a setting for its public address', () => {
    const network = recorded(internetHost);
    const beacon = { src_ip: '73.54.23.243', dst_ip: host, dst_port: 80 };

    test('the beacon is one alert, with its subscores', () => {
      expectBeacon(network.of('beaconing', beacon), 'medium', 'external');
    });

    test('the connection that was reported 72 times is one alert', () => {
      const found = network.of('long-connection');
      expect(found).toMatchObject([{ src_ip: '73.54.23.243', dst_ip: host, dst_port: 22, severity: 'high' }]);
      expect(score(found[0]!.evidence!, 'duration_hours')).toBeGreaterThan(70);
    });

    test('there are few enough alerts to review each one', () => {
      expect(network.alerts.length).toBeLessThanOrEqual(25);
      expect(severitiesOf(network.alerts)).not.toContain('critical');
    });
  });

  describe('as a home host', () => {
    const network = recorded(internetHost, { CANDOR_NETWORK_HOME: `${host}/32` });

    test('SSH brute force is found, from the whole Internet as one alert', () => {
      const guessing = network.of('brute-force', { dst_ip: host, dst_port: 22 });
      expect(guessing.length).toBeGreaterThanOrEqual(1);
      expect(guessing.length).toBeLessThanOrEqual(3);
      expect(guessing.map(({ severity }) => severity)).not.toContain('high');
    });

    test('hosts that try hundreds of ports are reported as port scans', () => {
      const scans = network.of('port-scan', { dst_ip: host });
      expect(scans.map(({ src_ip }) => src_ip).sort()).toEqual(
        expect.arrayContaining(['104.152.52.90', '104.156.155.4', '80.66.66.145']),
      );
      for (const { evidence } of scans) expect(score(evidence!, 'ports_in_vain')).toBeGreaterThan(100);
    });

    test('attempts of 14,991 sources are reported once a day', () => {
      const noise = network.of('internet-background');
      expect(noise.length).toBeLessThanOrEqual(4);
      expect(noise.reduce((sum, { count }) => sum + count, 0)).toBeLessThanOrEqual(4);
      expect(noise[0]).toMatchObject({ dst_ip: host, severity: 'informational' });
    });

    test('a host that connects as regularly as a monitor is reported one severity level lower', () => {
      const beacon = network.of('beaconing', { src_ip: '73.54.23.243', dst_port: 80 });
      expectBeacon(beacon, 'low', 'inbound');
    });

    test('there are few enough alerts to review each one', () => {
      expect(network.alerts.length).toBeLessThanOrEqual(35);
      expect(severitiesOf(network.alerts)).not.toContain('critical');
    });
  });
});

describe.skipIf(!hasSharedData)('a tunnel in DNS', () => {
  const network = recorded(['zeek-variants/all-fields.conn.ndjson', 'zeek-variants/all-fields.dns.ndjson']);

  test('is found with its domain by behaviour detection, and raises few other alerts', () => {
    const [tunnel, ...others] = network.of('dns-tunnel');
    expect(others).toEqual([]);
    expect(tunnel).toMatchObject({ src_ip: '192.168.88.2', domain: 'r-1x.com', severity: 'medium' });
    expect(tunnel!.event_ids.length).toBeGreaterThan(0);
    expect(network.alerts.length).toBeLessThanOrEqual(3);
  });
});

describe.skipIf(!hasSharedData)('a small office', () => {
  const network = recorded(['zeek-lan/m57.conn.ndjson.gz', 'zeek-lan/m57.dns.ndjson.gz']);

  test('does not raise alerts above low', () => {
    expect(network.alerts.length).toBeLessThanOrEqual(3);
    for (const severity of severitiesOf(network.alerts)) expect(['informational', 'low']).toContain(severity);
  });
});
