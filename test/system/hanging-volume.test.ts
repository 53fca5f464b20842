/**
 * The volume with the anchor, the settings and the backups hangs: writes to the volume never return. These system
 * calls permanently occupy threads of the pool, and cannot be cancelled.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { login, startService, tokenFor } from '../../scripts/service.ts';
import { call, failure } from './call.ts';
import { FaultyDisk, maySpoilDisks } from './faulty-disk.ts';
import { ship, shipment, storedUids, uidsOf } from './shipper.ts';

test.skipIf(!maySpoilDisks())(
  'a volume that hangs is reported, everything else is served, and a stop ends the process',
  async () => {
    const disk = new FaultyDisk('hanging');
    onTestFinished(() => disk.remove());
    const volume = join(disk.dataDir, 'hanging');
    mkdirSync(volume);
    const config = join(volume, 'candor.yaml');
    writeFileSync(config, '# empty\n');
    const env = {
      ...disk.env,
      CANDOR_CONFIG: config,
      CANDOR_LEDGER_ANCHOR_PATH: join(volume, 'anchor.json'),
      CANDOR_BACKUP_DIR: join(volume, 'backups'),
      CANDOR_HTTP_DRAIN_MS: '1000',
    };
    const start = () => startService({ dataDir: disk.dataDir, env });
    const service = await start();
    const sensor = await tokenFor(service, 'sensor');
    const token = await login(service);
    disk.slow({ write: 1_800_000, flush: 1_800_000 });

    const backup = await call(service, 'createBackup', { token });
    expect(backup.status).toBe(202);
    const json = { settings: { 'auth.session_ms': 86_400_000 } };
    const stored = await call(service, 'updateConfig', { token, json });
    expect(failure(stored).slice(0, 2)).toEqual([503, 'UNAVAILABLE']);
    await expect
      .poll(async () => (await call(service, 'getHealth')).body, { timeout: 60_000, interval: 500 })
      .toMatchObject({ ledger: 'anchor_unavailable', findings: [{ code: 'anchor_unavailable' }] });
    const sent = shipment('meanwhile', 50);
    await ship(service.url, sensor, sent);
    const viewing = await login(service);
    expect(await storedUids(service, viewing)).toEqual(uidsOf([sent]));

    // A process that ended itself with SIGKILL has no exit code.
    expect(await service.stop()).toBeNull();
    disk.quick();
    const next = await start();
    expect(await storedUids(next, await login(next))).toEqual(uidsOf([sent]));
    expect(await next.stop()).toBe(0);
  },
);
