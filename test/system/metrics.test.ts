/**
 * Checks /metrics with Prometheus' own parser and linter. Needs promtool; scripts/with-system-tools.sh
 * provides it.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Service, startService, tokenFor } from '../../scripts/service.ts';
import { connLines } from '../../scripts/traffic/index.ts';
import { call, failure, list, send } from './call.ts';

function hasPromtool(): boolean {
  try {
    execFileSync('promtool', ['--version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

describe.skipIf(!hasPromtool())('/metrics', () => {
  let service: Service;
  beforeAll(async () => {
    service = await startService();
  });
  afterAll(async () => {
    expect(await service.stop()).toBe(0);
  });

  test('passes promtool without warnings, idle and under load', async () => {
    const scrape = async () => (await call(service, 'getMetrics')).body as string;
    const quiet = await scrape();
    await send(service, await tokenFor(service, 'sensor'), [...connLines(9, 1000), '{"broken'].join('\n'));
    await list(service, 'listNetworkEvents', await tokenFor(service, 'viewer'));
    expect(failure(await call(service, 'listAlerts'))[0]).toBe(401);
    const busy = await scrape();
    expect(busy).toMatch(/^candor_ingest_records_total\{outcome="accepted"\} 1000$/m);
    for (const text of [quiet, busy]) {
      const { status, stdout, stderr } = spawnSync('promtool', ['check', 'metrics'], {
        input: text,
        encoding: 'utf8',
      });
      expect([status, stdout + stderr]).toEqual([0, '']);
    }
  });
});
