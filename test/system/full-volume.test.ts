/**
 * A volume that fills up under a running service, and shippers that repeat refused bodies. The volume is a
 * small one in memory, mounted only for the service; the test accesses it through /proc.
 */

import { cpSync, mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { Agent } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { adminPassword, type Service, startService, tokenFor } from '../../scripts/service.ts';
import { limits } from '../../src/limits.ts';
import { mayMount } from '../store/small-volume.ts';
import { call, failure, list, ndjson } from './call.ts';
import { flows, type Met, type Shipment, ship, shipment, storedUids, uidsOf } from './shipper.ts';

describe.skipIf(!mayMount())('a volume that fills up under the service', () => {
  const agent = new Agent({ keepAlive: true });
  const sent: Shipment[] = [];
  const met: Met = {};
  let service: Service;
  let sensor: string;
  let viewer: string;
  let folder: string;
  let volume: string;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'candor-volume-'));
    const script = 'mount -t tmpfs -o size=192m none "$0" && mkdir -m 700 "$0/data" && exec "$@"';
    service = await startService({
      dataDir: join(folder, 'data'),
      wrapper: ['unshare', '-rm', 'sh', '-c', script, folder],
    });
    volume = `/proc/${service.pid}/root${folder}`;
    sensor = await tokenFor(service, 'sensor');
    viewer = await tokenFor(service, 'viewer');
  });
  afterAll(async () => {
    agent.destroy();
    expect(await service.stop()).toBe(0);
    rmSync(folder, { recursive: true });
  });

  const freeBytes = () => {
    const { bavail, bsize } = statfsSync(volume);
    return bavail * bsize;
  };
  const others = () => join(volume, 'of-somebody-else');

  /** Fills the volume, as another program would, until this number of bytes is free. */
  function fillUpTo(left: number): void {
    for (let bytes = 2 ** 20; bytes >= 4096; bytes /= 2)
      while (freeBytes() >= left + bytes) writeFileSync(others(), Buffer.alloc(bytes), { flag: 'a' });
  }

  test.each([
    ['up to the reserve for the log', limits.minFreeDiskBytes - 2 ** 20],
    ['up to the last page', 0],
  ])('%s: only events are refused; with free space again, all sent events are accepted', async (_, left) => {
    let goesOn = true;
    const sender = async (): Promise<void> => {
      while (goesOn) {
        const one = shipment(`full-${sent.length}`, 100);
        sent.push(one);
        await ship(service.url, sensor, one, met, { agent });
      }
    };
    const acknowledged = () => met['200'] ?? 0;
    const from = acknowledged();
    const senders = Promise.all(Array.from({ length: 8 }, sender));
    const aMoment = () => Promise.race([senders, pause(20)]);
    while (acknowledged() < from + 20) await aMoment();

    const refused = met['503'] ?? 0;
    fillUpTo(left);
    while ((met['503'] ?? 0) < refused + 16) await aMoment();
    const answer = await call(service, 'ingest', {
      token: sensor,
      headers: ndjson,
      body: flows('never', 10),
    });
    expect(failure(answer).slice(0, 2)).toEqual([503, 'UNAVAILABLE']);
    expect((answer.body as { error: { details: unknown } }).error.details).toMatchObject({
      reason: 'disk_full',
    });
    expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
    const page = await list(service, 'listNetworkEvents', viewer, 'per_page=10');
    expect(page.pagination.total).toBeGreaterThanOrEqual(100 * (from + 20));
    expect((await call(service, 'getHealth')).status).toBe(200);

    rmSync(others());
    const back = acknowledged();
    while (acknowledged() < back + 20) await aMoment();
    goesOn = false;
    await senders;
    expect(Object.keys(met).sort()).toEqual(['200', '503']);
    expect(await storedUids(service, viewer)).toEqual(uidsOf(sent));
  });
});

describe.skipIf(!mayMount())('a volume that is full when the service starts', () => {
  let folder: string;
  let viewer: string;
  let sensor: string;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'candor-volume-'));
    const service = await startService({ dataDir: join(folder, 'whole') });
    viewer = await tokenFor(service, 'viewer');
    sensor = await tokenFor(service, 'sensor');
    expect((await ingest(service)).status).toBe(200);
    await service.kill();
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  const ingest = (service: Service) =>
    call(service, 'ingest', { token: sensor, headers: ndjson, body: flows('full-at-start', 10) });

  /** Starts on a copy that lacks some files, on a volume that another program has filled to the last byte. */
  const start = (lacking: readonly string[]) => {
    const copy = join(folder, `lacking-${lacking.length}`);
    cpSync(join(folder, 'whole'), copy, { recursive: true });
    for (const name of lacking) rmSync(join(copy, name));
    const script =
      'mount -t tmpfs -o size=96m none "$0" && cp -a "$1" "$0/data" && shift && ' +
      '{ head -c 96m /dev/zero > "$0/of-somebody-else" 2>&-; exec "$@"; }';
    const volume = mkdtempSync(join(folder, 'mount-'));
    return startService({
      dataDir: join(volume, 'data'),
      env: { CANDOR_LEDGER_DETECT_COPIES: 'false' },
      wrapper: ['unshare', '-rm', 'sh', '-c', script, volume, copy],
    }).then((service) => ({ service, others: `/proc/${service.pid}/root${volume}/of-somebody-else` }));
  };

  test.each([
    ['a complete folder', []],
    ['a folder whose small files have to be written', ['format.json', 'policy.json']],
  ])('%s is served read-only, with an explanation, and accepts events once there is free space', async (_, lacking) => {
    const { service, others } = await start(lacking);
    expect(service.output.join('\n')).toContain('has 0 bytes free: events are refused below');
    expect((await call(service, 'getHealth')).body).toMatchObject({ status: 'degraded' });
    const page = await list(service, 'listNetworkEvents', viewer, 'per_page=10');
    expect(page.pagination.total).toBe(10);
    expect((await call(service, 'getTreeHead')).status).toBe(200);
    expect(failure(await ingest(service)).slice(0, 2)).toEqual([503, 'UNAVAILABLE']);

    rmSync(others);
    const isWell = async () =>
      ((await call(service, 'getHealth')).body as { status: string }).status === 'ok' &&
      (await call(service, 'login', { json: { username: 'admin', password: adminPassword } })).status === 200;
    await expect.poll(isWell, { timeout: 60_000, interval: 500 }).toBe(true);
    expect((await ingest(service)).status).toBe(200);
    expect(await storedUids(service, viewer)).toHaveLength(20);
    expect(await service.stop()).toBe(0);
  });

  test('causes a clear error if the folder cannot be opened without free space', async () => {
    const refused = await start(['siem.mdb-lock', 'ledger.mdb-lock']).catch(String);
    expect(refused).toContain('ended with 1');
    expect(refused).toMatch(/candor: the volume of .* is full: free space on it and start again/);
    expect(refused).not.toContain('    at ');
  });
});
