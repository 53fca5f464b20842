/**
 * Recorded networks: machines, services and the graph of connections match the files, and known activity is found, with
 * few enough alerts for an analyst to review each one.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { login, type Service, startService, tokenFor } from '../../scripts/service.ts';
import type { Topology } from '../../src/contract/resources/topology.ts';
import { type Item, listAll, send } from './call.ts';
import { alertsAfter } from './counted.ts';
import { alertsOf, expectBeacon, type RecordedAlerts, recordedAlerts, score, severitiesOf } from './recorded-alerts.ts';
import { describeAssets } from './recorded-assets.ts';
import { internetHost, office, type RecordedNetwork, type SentNetwork, sendNetwork } from './recorded-networks.ts';
import { describeTopology, readGraph } from './recorded-topology.ts';
import { hasSharedData, sharedLines, sharedText } from './shared-data.ts';

/** Describes a network that is sent to a separate service. */
function describeNetwork(network: RecordedNetwork, tests: (sent: () => SentNetwork) => void): void {
  describe.skipIf(!hasSharedData)(network.name, () => {
    let service: Service;
    let sent: SentNetwork;
    let empty: Topology;
    beforeAll(async () => {
      service = await startService({ env: network.env });
      empty = await readGraph(service, await tokenFor(service, 'viewer'), 'limit=2000');
      sent = await sendNetwork(service, network);
    });
    afterAll(async () => {
      expect(await service.stop()).toBe(0);
    });
    describeAssets(network, () => sent);
    describeTopology(
      network,
      () => sent,
      () => empty,
    );
    tests(() => sent);
  });
}

describeNetwork(internetHost, (sent) => {
  describe('alerts of a home host', () => {
    const [host] = internetHost.hosts;
    let network: RecordedAlerts;
    beforeAll(async () => {
      const { service } = sent();
      network = await recordedAlerts(service, await login(service));
    });

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

describeNetwork(office, (sent) => {
  const logs = [
    { operation: 'listNetworkEvents', file: 'zeek_conn.log.gz', lines: 8_462 },
    { operation: 'listDnsEvents', file: 'zeek_dns.log.gz', lines: 5_124 },
  ] as const;
  let service: Service;
  let admin: string;
  let found: RecordedAlerts;
  beforeAll(async () => {
    ({ service } = sent());
    admin = await login(service);
  });

  test('raises no alerts above low', async () => {
    found = await recordedAlerts(service, admin);
    expect(found.alerts.length).toBeLessThanOrEqual(3);
    for (const severity of severitiesOf(found.alerts)) expect(['informational', 'low']).toContain(severity);
  });

  test.each(logs)(
    'its events in $operation are the same if they are sent as Zeek TSV',
    async ({ operation, file, lines }) => {
      // One event was sent by the test of the graph.
      const isRecorded = ({ attributes }: Item) => attributes.connection_id !== 'Cnew';
      const fromJson = (await listAll(service, operation, admin)).filter(isRecorded);
      const counts = await send(service, admin, sharedText(`zeek-lan/${file}`), {
        headers: { 'content-type': 'text/tab-separated-values' },
      });
      expect(counts).toEqual({ accepted: lines, rejected: 0, ignored: 0, duplicates: 0, errors: [] });
      const known = new Set(fromJson.map(({ id }) => id));
      const fromTsv = (await listAll(service, operation, admin)).filter(
        (event) => isRecorded(event) && !known.has(event.id),
      );
      const wanted = fromJson.map(comparable).sort();
      expect(wanted.length).toBe(lines);
      const converted = fromTsv.map(comparable).sort();
      // Line by line first: printing a difference of whole lists takes minutes.
      for (const [n, event] of wanted.entries()) expect(converted[n]).toBe(event);
      expect(converted.length).toBe(lines);
    },
  );

  test('a tunnel in DNS is found with its domain by behaviour detection, and raises few other alerts', async () => {
    const before = new Set((await listAll(service, 'listAlerts', admin)).map(({ id }) => id));
    const bodies = ['conn', 'dns'].map((table) => sharedLines(`zeek-variants/all-fields.${table}.ndjson`).join('\n'));
    const raised = (await alertsAfter(service, admin, bodies)).filter(({ id }) => !before.has(id));
    const [tunnel, ...others] = alertsOf(raised).of('dns-tunnel');
    expect(others).toEqual([]);
    expect(tunnel).toMatchObject({ src_ip: '192.168.88.2', domain: 'r-1x.com', severity: 'medium' });
    expect(tunnel!.event_ids.length).toBeGreaterThan(0);
    expect(raised.length).toBeLessThanOrEqual(3);
  });
});

/**
 * Formats an event without values that differ between two sendings: time of receipt, asset ids (which appear later) and
 * the sensor's id.
 */
function comparable({ attributes }: Item): string {
  const { received_at: _, src_asset_id: __, dst_asset_id: ___, sensor_id: ____, ...event } = attributes;
  return JSON.stringify(event);
}
