/**
 * A disk fails with EIO while the event database is opened: the process ends with a notice and an exit code
 * other than 0, and the next start on a working disk has all acknowledged data.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { type Service, startService, tokenFor } from '../../scripts/service.ts';
import { failedWriteNotice } from '../../src/database/failed-write.ts';
import { call } from './call.ts';
import { FaultyDisk, maySpoilDisks } from './faulty-disk.ts';
import { ship, shipment, storedUids } from './shipper.ts';

describe.skipIf(!maySpoilDisks())('a start on a disk that fails', () => {
  const opened: (() => Promise<void>)[] = [];
  afterEach(async () => {
    for (const close of opened.splice(0).reverse()) await close();
  });

  async function start(disk: FaultyDisk): Promise<Service> {
    const service = await startService({ dataDir: disk.dataDir, env: disk.env });
    opened.push(() => service.kill().catch(() => undefined));
    return service;
  }

  /** Returns the exit code and the output of a start that is expected to fail. */
  async function failedStart(disk: FaultyDisk): Promise<string> {
    const failed = await start(disk).catch((error: Error) => error.message);
    if (typeof failed === 'string') return failed;
    return `the service ended with ${await failed.ended}:\n${failed.output.join('\n')}`;
  }

  test('ends with the reason or a notice, and the next start works and has all acknowledged data', async () => {
    const disk = new FaultyDisk('siem.mdb');
    opened.push(async () => disk.remove());
    // A new database cannot be written. The lock file is as an earlier attempt leaves it.
    writeFileSync(join(disk.dataDir, 'siem.mdb-lock'), Buffer.alloc(8272), { mode: 0o600 });
    disk.failAt(1, { staysBroken: true });
    expect(await failedStart(disk)).toMatch(/ended with 1:[\s\S]*\ncandor: EIO/);
    disk.repair();

    const first = await start(disk);
    expect((await call(first, 'getHealth')).body).toMatchObject({ status: 'ok' });
    const viewer = await tokenFor(first, 'viewer');
    const sent = shipment('flow', 200);
    await ship(first.url, await tokenFor(first, 'sensor'), sent);
    await first.kill();

    const faults: readonly (readonly [string, () => void, string])[] = [
      ['the flush before the log is compared', () => disk.failAt(1), 'EIO'],
      ['the flush before the store opens the file', () => disk.failAt(4), 'EIO'],
      ['a write of pages', () => disk.fail({ writes: 1 }), failedWriteNotice],
      // The first small write is to siem.mdb.json. The failure of this write is tolerated.
      ['the write that makes a commit valid', () => disk.fail({ smallWrites: 2 }), failedWriteNotice],
    ];
    for (const [what, fail, notice] of faults) {
      fail();
      const how = await failedStart(disk);
      disk.repair();
      expect(how, what).toContain(notice);
      expect(how, what).not.toContain('ended with 0');
    }

    const sound = await start(disk);
    expect(await storedUids(sound, viewer)).toEqual([...sent.uids].sort());
    expect((await call(sound, 'getHealth')).body).toMatchObject({ status: 'ok' });
    expect(await sound.stop()).toBe(0);
  });
});
