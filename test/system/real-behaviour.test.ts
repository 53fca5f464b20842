/** A host on the Internet, without a setting for its public address: known activity is found, with few alerts. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { login, type Service, startService } from '../../scripts/service.ts';
import { expectBeacon, type RecordedAlerts, recordedAlerts, score, severitiesOf } from './recorded-alerts.ts';
import { internetHost, sendNetwork } from './recorded-networks.ts';
import { hasSharedData } from './shared-data.ts';

describe.skipIf(!hasSharedData)('a host on the Internet for 72 hours, without a setting for its public address', () => {
  const [host] = internetHost.hosts;
  const beacon = { src_ip: '73.54.23.243', dst_ip: host, dst_port: 80 };
  let service: Service;
  let network: RecordedAlerts;
  beforeAll(async () => {
    service = await startService();
    await sendNetwork(service, internetHost);
    network = await recordedAlerts(service, await login(service));
  });
  afterAll(async () => {
    expect(await service.stop()).toBe(0);
  });

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
