import { execFileSync } from 'node:child_process';
import { chmodSync, cpSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { DamagedBackupError } from '../../src/backup/backup-error.ts';
import type { BackupsOptions } from '../../src/backup/backups.ts';
import { partialName } from '../../src/backup/folders.ts';
import { verifyCopy } from '../../src/backup/verify.ts';
import { openDatabase } from '../../src/database/lmdb.ts';
import { BlockBuilder } from '../../src/events/format/block-builder.ts';
import { limits } from '../../src/limits.ts';
import { codeOf } from '../ledger/fixture.ts';
import { entries } from '../ledger/fixture-entry.ts';
import { batchOf, finding, newest, start } from '../store/opened.ts';
import { networkRecord } from '../store/records.ts';
import { backUp, newFolder, openParts, restore } from './fixture.ts';

/** Parts with ten entries and an alert in the log, and with a modified way of making backups. */
async function withBackups(backups: Partial<BackupsOptions>) {
  const dataDir = newFolder();
  const parts = await openParts(dataDir, { backups });
  await parts.ledger.append(entries(0, 10));
  await parts.store.commit(batchOf([finding({ severity: 'high' })]));
  parts.pump.wake();
  await parts.pump.idle();
  return parts;
}

describe('a failed backup reports its reason and leaves no files:', () => {
  test('a copy damaged while it is written', async () => {
    const parts = await withBackups({
      async verify(copy) {
        const bytes = await readFile(join(copy, 'ledger.mdb'));
        const at = bytes.indexOf('"kind":"alert.raised"');
        bytes.write('X', at + 10);
        await writeFile(join(copy, 'ledger.mdb'), bytes);
        return verifyCopy(copy);
      },
    });
    const { id, attributes } = await backUp(parts);
    expect(attributes).toMatchObject({
      state: 'failed',
      error: expect.stringMatching(/copy of the log failed verification/),
    });
    expect(readdirSync(join(parts.dataDir, 'backups'))).toEqual([]);
    expect((await parts.backups.get(id)).attributes).toEqual(attributes);
    expect((await parts.backups.list(newest)).items.map((item) => item.id)).toEqual([id]);
    expect(await codeOf(parts.ledger.leaf({ entry_id: id }))).toBe('NOT_FOUND');
  });

  test.each(['event-parts', 'alerts', 'event-ids'])('a siem.mdb with a flipped bit in %s', async (name) => {
    const parts = await withBackups({
      async verify(copy) {
        const root = openDatabase(join(copy, 'siem.mdb'));
        const rows = root.openDB<Buffer, Buffer>({ name, encoding: 'binary', keyEncoding: 'binary' });
        const [row] = [...rows.getRange({ limit: 1 })].map(({ key, value }) => ({
          key,
          value: Buffer.from(value),
        }));
        row!.value[3]! ^= 4;
        await rows.put(row!.key, row!.value);
        await root.close();
        return verifyCopy(copy);
      },
    });
    const builder = new BlockBuilder('network', start);
    builder.add(networkRecord({ timestamp: start, id: '0199aa00-0000-4000-8000-000000000001' }));
    await parts.store.commit(batchOf([], { blocks: [builder.finish()] }));
    expect((await backUp(parts)).attributes).toMatchObject({
      state: 'failed',
      error: expect.stringMatching(/the copy of siem\.mdb failed verification/),
    });
    expect(readdirSync(join(parts.dataDir, 'backups'))).toEqual([]);
  });

  test('a copy of the log older than the copy of the alerts', async () => {
    const parts = await withBackups({});
    const { attributes } = await backUp(parts);
    const stale = newFolder();
    cpSync(attributes.path!, stale, { recursive: true });
    await parts.store.commit(batchOf([finding({ severity: 'critical', rule_id: '1:77' })]));
    parts.pump.wake();
    await parts.pump.idle();
    const fresh = (await backUp(parts)).attributes.path!;
    cpSync(join(fresh, 'siem.mdb'), join(stale, 'siem.mdb'));
    await expect(verifyCopy(stale)).rejects.toThrow(/are inconsistent: alert .* is recorded as leaf/);
    await expect(verifyCopy(stale)).rejects.toThrow(DamagedBackupError);
  });

  test('a copy that times out, and blocks other backups until the volume responds', async () => {
    let answer: () => void = () => undefined;
    const verify = (copy: string) => new Promise<void>((resolve) => (answer = resolve)).then(() => verifyCopy(copy));
    const parts = await withBackups({ verify, maxMs: 500 });
    const { id, attributes } = await backUp(parts);
    expect(attributes).toMatchObject({ state: 'failed', error: expect.stringContaining('took longer than') });
    expect(await codeOf(parts.backups.begin('system'))).toBe('CONFLICT');
    answer();
    await expect.poll(() => codeOf(parts.backups.begin('system'))).not.toBe('CONFLICT');
    expect((await parts.backups.get(id)).attributes).toEqual(attributes);
  });

  test('a pipe in place of a manifest, without blocking', async () => {
    const parts = await withBackups({});
    const { id, attributes } = await backUp(parts);
    const manifest = join(attributes.path!, 'manifest.json');
    rmSync(manifest);
    execFileSync('mkfifo', [manifest]);
    for (let i = 0; i < 5; i++)
      expect((await parts.backups.get(id)).attributes).toMatchObject({
        state: 'failed',
        error: expect.stringMatching(/is not a backup: manifest.json: it is not a file$/),
      });
    await expect(restore(attributes.path!, newFolder())).rejects.toThrow('it is not a file');
  });

  test('a manifest that the manifest parser rejects', async () => {
    const parts = await withBackups({});
    const { id } = await parts.backups.begin('x'.repeat(600));
    expect((await parts.backups.ended(id)).attributes).toMatchObject({
      state: 'failed',
      error: expect.stringMatching(/actor/),
    });
    expect(readdirSync(join(parts.dataDir, 'backups'))).toEqual([]);
  });

  test('a log without the key file of a signer', async () => {
    const parts = await withBackups({});
    const { kid } = (await parts.ledger.keyRecords()).find(({ purpose }) => purpose === 'transparency-sth')!;
    rmSync(join(parts.dataDir, 'keys', `${kid}.json`));
    expect((await backUp(parts)).attributes).toMatchObject({
      state: 'failed',
      error: expect.stringContaining('the copy of the log failed verification'),
    });
  });

  test('a file in place of the backup folder', async () => {
    const dir = join(newFolder(), 'taken');
    writeFileSync(dir, '');
    const parts = await withBackups({ dir });
    expect((await backUp(parts)).attributes).toMatchObject({
      state: 'failed',
      error: expect.stringContaining(dir),
    });
  });

  test.skipIf(process.platform !== 'linux')('a backup folder in /proc, at each of several attempts', async () => {
    const parts = await withBackups({ dir: '/proc/x' });
    for (let attempt = 0; attempt < 3; attempt++)
      expect((await backUp(parts)).attributes).toMatchObject({
        state: 'failed',
        error: expect.stringContaining('/proc/x'),
      });
  });

  test.skipIf(process.getuid?.() === 0)('a backup folder that cannot be written to', async () => {
    const dir = newFolder();
    chmodSync(dir, 0o500);
    const parts = await withBackups({ dir });
    const { attributes } = await backUp(parts);
    expect(attributes.error).toMatch(/cannot be written to/);
    chmodSync(dir, 0o700);
  });

  test('a full volume', async () => {
    const parts = await withBackups({
      store: {
        copyTo: async () => {
          throw Object.assign(new Error('No space left on device'), { name: 'Error' });
        },
      },
    });
    const { attributes } = await backUp(parts);
    expect(attributes.error).toMatch(/^the volume of .* is full$/);
    expect(readdirSync(join(parts.dataDir, 'backups'))).toEqual([]);
  });

  test('a shutdown during the backup', async () => {
    let begun = (): void => undefined;
    const verifying = new Promise<void>((resolve) => {
      begun = resolve;
    });
    const parts = await withBackups({
      verify: (_, signal) =>
        new Promise((_resolve, reject) => {
          signal.addEventListener('abort', () => reject(new Error('given up')));
          begun();
        }),
    });
    const { id } = await parts.backups.begin('system');
    await verifying;
    await parts.backups.close();
    expect((await parts.backups.get(id)).attributes).toMatchObject({
      state: 'failed',
      error: 'the service was stopped',
    });
    expect(readdirSync(join(parts.dataDir, 'backups'))).toEqual([]);
    expect(await codeOf(parts.backups.begin('system'))).toBe('UNAVAILABLE');
  });
});

test('only the newest failed backups are kept in memory', async () => {
  const dir = join(newFolder(), 'taken');
  writeFileSync(dir, '');
  const { backups } = await withBackups({ dir });
  const ids: string[] = [];
  for (let n = 0; n <= limits.maxFailedBackups; n++) ids.push((await backUp({ backups })).id);
  expect((await backups.list(newest)).total).toBe(limits.maxFailedBackups);
  expect(await codeOf(backups.get(ids[0]!))).toBe('NOT_FOUND');
  expect((await backups.get(ids.at(-1)!)).attributes.state).toBe('failed');
});

test('the service allows one backup at a time; the next backup may start once the current backup has ended or failed', async () => {
  const parts = await withBackups({});
  const { id } = await parts.backups.begin('system');
  expect(await codeOf(parts.backups.begin('system'))).toBe('CONFLICT');
  expect((await parts.backups.get(id)).attributes.state).toBe('running');
  await parts.backups.ended(id);
  expect((await backUp(parts)).attributes.state).toBe('completed');
});

test('the service removes partial backups of an earlier process at the next start, but not those of another service', async () => {
  const parts = await withBackups({});
  const dir = join(parts.dataDir, 'backups');
  const ours = await partialName(parts.dataDir, '01940000-0000-7000-8000-000000000001');
  const other = '.partial-01930000-0000-7000-8000-000000000001-01940000-0000-7000-8000-000000000002';
  for (const name of [ours, other]) {
    mkdirSync(join(dir, name), { recursive: true });
    writeFileSync(join(dir, name, 'siem.mdb'), 'half');
  }
  await parts.backups.recover();
  expect(readdirSync(dir)).toEqual([other]);
  expect(parts.findings).toEqual([expect.stringContaining('unfinished')]);
});

test('the service appends the missing log entry of a complete backup exactly once, at the next start', async () => {
  const parts = await withBackups({});
  const { id, attributes } = await backUp(parts);
  await parts.close();
  // Simulates a crash between the last step of the backup and the append: the backup's own log has no entry for it.
  const dataDir = newFolder();
  await restore(attributes.path!, dataDir);
  const restored = await openParts(dataDir, { backups: { dir: join(parts.dataDir, 'backups') } });
  expect(await codeOf(restored.ledger.leaf({ entry_id: id }))).toBe('NOT_FOUND');
  await restored.backups.recover();
  const { leaf_index } = await restored.ledger.leaf({ entry_id: id });
  await restored.backups.recover();
  expect((await restored.backups.get(id)).attributes.transparency?.leaf_index).toBe(leaf_index);
  expect((await restored.ledger.status()).size).toBe(leaf_index + 1);
});

test('the service lists backups of another log in the same folder, but does not log them', async () => {
  const one = await withBackups({});
  const { id } = await backUp(one);
  const other = await openParts(newFolder(), { backups: { dir: join(one.dataDir, 'backups') } });
  await other.backups.recover();
  expect((await other.ledger.status()).size).toBe(0);
  expect((await other.backups.get(id)).attributes.transparency).toBeUndefined();
});

test('the service reports a backup with a damaged manifest as failed, with the file name', async () => {
  const parts = await withBackups({});
  const { id, attributes } = await backUp(parts);
  writeFileSync(join(attributes.path!, 'manifest.json'), '{');
  expect((await parts.backups.get(id)).attributes).toMatchObject({
    state: 'failed',
    error: 'manifest.json is damaged: it is not valid JSON',
  });
  rmSync(attributes.path!, { recursive: true });
  expect(await codeOf(parts.backups.get(id))).toBe('NOT_FOUND');
});

test('the service does not back up a degraded log', async () => {
  const dataDir = newFolder();
  const parts = await openParts(dataDir);
  await parts.ledger.append(entries(0, 10));
  await parts.close();
  rmSync(join(dataDir, 'ledger.mdb'));
  const degraded = await openParts(dataDir);
  expect((await backUp(degraded)).attributes.state).toBe('failed');
  expect(readdirSync(join(dataDir, 'backups'))).toEqual([]);
});
