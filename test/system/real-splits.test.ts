/**
 * A recorded network gives the same alerts in bodies of any size, in Zeek's and in Suricata's format. Takes
 * minutes: REAL_SPLITS=1 runs it.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { login, startService } from '../../scripts/service.ts';
import { inFormat, type SensorFormat } from '../http/eve-lines.ts';
import { alertsAfter, inBodies } from './counted.ts';
import { hasSharedData, sharedLines } from './shared-data.ts';

/** Long enough for a busy machine. */
const timeout = 1_800_000;
const host = '64.225.56.201';
const tables = ['conn', 'open_conn', 'dns'];
/** Numbers of records per body. The largest bodies are close to the size limit. */
const splits = [1_000, 15_000, 30_000];

const recordedLines = () =>
  tables.flatMap((table) => sharedLines(`zeek-internet-host/missing_host.${table}.ndjson.gz`));

interface Shown {
  readonly rule_id: string;
  readonly src_ip?: string;
  readonly dst_ip?: string;
  readonly evidence?: object;
}

async function alertsIn(lines: readonly string[], perBody: number): Promise<Shown[]> {
  const service = await startService({ env: { CANDOR_NETWORK_HOME: `${host}/32` } });
  const admin = await login(service);
  let alerts = await alertsAfter(service, admin, inBodies(lines, perBody));
  // The last figures are updated by refreshes, after the last event. On a busy machine, refreshes pause for seconds.
  for (let known = ''; known !== JSON.stringify(alerts); ) {
    known = JSON.stringify(alerts);
    await sleep(12_000);
    alerts = await alertsAfter(service, admin, []);
  }
  expect(await service.stop()).toBe(0);
  const shown = alerts.map(({ attributes }) => {
    const { rule_id, src_ip, dst_ip, dst_port, severity, count, first_seen, last_seen, evidence } = attributes;
    return { rule_id, src_ip, dst_ip, dst_port, severity, count, first_seen, last_seen, evidence } as Shown;
  });
  return shown.sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
}

describe.skipIf(!hasSharedData || process.env.REAL_SPLITS !== '1')('a host on the Internet for 72 hours', () => {
  test.each(['Zeek', 'Suricata'] satisfies SensorFormat[])(
    'gives the same alerts for every split: %s',
    { timeout },
    async (format) => {
      const lines = recordedLines().map(inFormat[format]);
      const found: Shown[][] = [];
      for (const perBody of splits) found.push(await alertsIn(lines, perBody));
      const [first, ...others] = found;
      for (const [n, other] of others.entries()) expect(other, `split ${splits[n + 1]}`).toEqual(first);
      const scan = first!.filter(
        ({ rule_id, src_ip }) => rule_id === 'behaviour.port-scan' && src_ip === '104.156.155.4',
      );
      expect(scan).toMatchObject([{ dst_ip: host, evidence: { ports_in_vain: 1465, ports_answered: 2 } }]);
      const beacons = first!.filter(
        ({ rule_id, src_ip }) => rule_id === 'behaviour.beaconing' && src_ip === '143.110.222.166',
      );
      expect(beacons).toMatchObject([{ count: 2 }]);
    },
  );
});
