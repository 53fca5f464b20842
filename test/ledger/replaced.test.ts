/**
 * A checkpoint key that was replaced on disk, and heads that were removed from the history, are reported by
 * start-up and fsck.
 */
import { readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { fsck } from '../../src/ledger/check/fsck.ts';
import { KeyRing } from '../../src/ledger/keys/key-ring.ts';
import type { DurableLedger } from '../../src/ledger/open.ts';
import { type Database, openDatabase } from '../../src/lmdb.ts';
import { entries, entry, folder, open } from './fixture.ts';

/** Codes of the findings of start-up and fsck in a folder. */
async function found(dataDir: string): Promise<{ start: string[]; fsck: string[] }> {
  const report = await fsck({ dataDir });
  const ledger = await open(dataDir);
  const { health, findings } = await ledger.status();
  expect(health).toEqual({ state: 'ok' });
  await ledger.close();
  return { start: findings.map(({ code }) => code), fsck: Object.keys(report.counts) };
}
const nothing = { start: [], fsck: [] };

async function logWith(
  work: (ledger: DurableLedger) => Promise<unknown> = async () => undefined,
): Promise<string> {
  const dataDir = folder();
  const ledger = await open(dataDir);
  await ledger.append(entries(0, 5));
  await work(ledger);
  await ledger.close();
  return dataDir;
}

function checkpointFiles(dataDir: string): { path: string; file: Record<string, unknown> }[] {
  const keys = join(dataDir, 'keys');
  return readdirSync(keys)
    .map((name) => ({ path: join(keys, name), file: JSON.parse(readFileSync(join(keys, name), 'utf8')) }))
    .filter(({ file }) => file.svc_purpose === 'checkpoint');
}

/** Replaces the checkpoint key with a new active key, with the same dates and origin. */
async function replaceKey(dataDir: string, keepOld: 'removed' | 'retired' | 'active'): Promise<void> {
  const [old] = checkpointFiles(dataDir);
  const other = folder();
  const ring = new KeyRing(join(other, 'keys'));
  await ring.create(['checkpoint'], Date.parse(String(old!.file.svc_created)), String(old!.file.svc_origin));
  const [fresh] = checkpointFiles(other);
  writeFileSync(
    join(dataDir, 'keys', `${fresh!.file.kid}.json`),
    JSON.stringify({ ...fresh!.file, svc_not_before: old!.file.svc_not_before }),
  );
  if (keepOld === 'removed') rmSync(old!.path);
  if (keepOld === 'retired') {
    const { d: _private, ...file } = old!.file;
    writeFileSync(
      old!.path,
      JSON.stringify({ ...file, svc_state: 'retired', svc_not_after: file.svc_created }),
    );
  }
}

describe('the checkpoint key', () => {
  test('causes no finding after starts, rotations and two revocations', async () => {
    const dataDir = await logWith(async (ledger) => {
      await ledger.rotateKey('transparency-sth', 'ann');
      for (let n = 0; n < 2; n++) {
        const key = (await ledger.keyRecords()).find(
          (one) => one.purpose === 'checkpoint' && one.state === 'active',
        )!;
        await ledger.revokeKey(key.kid, 'stolen', 'ann');
        await ledger.keepCheckpoint(await ledger.checkpoint());
      }
      await ledger.tick();
      expect((await ledger.status()).findings).toEqual([]);
    });
    expect(await found(dataDir)).toEqual(nothing);
    expect(await found(dataDir)).toEqual(nothing);
  });

  test.each(['removed', 'active'] as const)(
    'that was replaced causes a finding, with the old file %s',
    async (keepOld) => {
      const dataDir = await logWith();
      expect(await found(dataDir)).toEqual(nothing);
      await replaceKey(dataDir, keepOld);
      const codes = { start: ['checkpoint_key_replaced'], fsck: ['checkpoint_key_replaced'] };
      expect(await found(dataDir)).toEqual(codes);
      expect(await found(dataDir)).toEqual(codes); // the next start does not accept it either
    },
  );

  test('that was replaced causes a finding, with the old file marked as retired', async () => {
    const dataDir = await logWith();
    await replaceKey(dataDir, 'retired');
    const ledger = await open(dataDir);
    await ledger.append([entry(5)]);
    await ledger.tick();
    expect((await ledger.status()).findings).toMatchObject([{ code: 'checkpoint_key_replaced' }]);
    await ledger.close();
    expect((await fsck({ dataDir })).counts).toEqual({ checkpoint_key_replaced: 1 });
  });

  test('that did not sign the stored checkpoint causes a finding, although ledger.mdb names no key', async () => {
    const dataDir = await logWith(async (ledger) => ledger.keepCheckpoint(await ledger.checkpoint()));
    await change(dataDir, 'meta', (rows) => void rows.removeSync('checkpoint_key'));
    await replaceKey(dataDir, 'removed');
    expect(await found(dataDir)).toEqual({
      start: ['checkpoint_key_replaced'],
      fsck: ['checkpoint_key_replaced'],
    });
  });

  test('of a log of an earlier version, which names no key, is recorded at the first start', async () => {
    const dataDir = await logWith();
    await change(dataDir, 'meta', (rows) => void rows.removeSync('checkpoint_key'));
    expect(await found(dataDir)).toEqual(nothing);
    await replaceKey(dataDir, 'removed');
    expect((await found(dataDir)).start).toEqual(['checkpoint_key_replaced']);
  });
});

describe('a head that was removed from the history', () => {
  /** Three heads, of 5, 6 and 7 leaves. */
  const log = () =>
    logWith(async (ledger) => {
      await ledger.append([entry(5)]);
      await ledger.append([entry(6)]);
    });
  const remove = (dataDir: string, size: number) =>
    change(dataDir, 'heads', (rows) => {
      for (const key of [...rows.getKeys()]) if ((key as number[])[0] === size) rows.removeSync(key);
    });

  /** Removes the numbers of heads too, so that no number is missing. */
  const renumber = (dataDir: string, size: number) =>
    change(dataDir, 'history', (rows) => {
      const values = [...rows.getKeys()].map((key) => Buffer.from(rows.getBinary(key)!));
      const kept = values.filter((value) => Number(value.readBigUInt64BE()) !== size);
      for (let n = 0; n < values.length; n++)
        if (n < kept.length) rows.putSync(n, kept[n]!);
        else rows.removeSync(n);
    });
  const missing = { start: ['head_missing'], fsck: ['head_missing'] };

  test('is detected by its number', async () => {
    const dataDir = await log();
    await remove(dataDir, 6);
    expect(await found(dataDir)).toEqual(missing);
  });

  test('is detected by the journal', async () => {
    const dataDir = await log();
    await (await open(dataDir)).close(); // a line with the head of 7
    const ledger = await open(dataDir);
    await ledger.append([entry(7)]);
    await ledger.close();
    await remove(dataDir, 7);
    await renumber(dataDir, 7);
    expect(await found(dataDir)).toEqual(missing);
  });

  test('is detected by the anchor', async () => {
    const dataDir = await log();
    const anchor = join(dataDir, 'anchor.json');
    renameSync(anchor, `${anchor}.kept`);
    const ledger = await open(dataDir);
    await ledger.append([entry(7)]);
    await ledger.close();
    renameSync(`${anchor}.kept`, anchor);
    rmSync(join(dataDir, 'journal.ndjson'));
    await remove(dataDir, 7);
    await renumber(dataDir, 7);
    const codes = await found(dataDir);
    expect([codes.start.includes('head_missing'), codes.fsck]).toEqual([true, ['head_missing']]);
  });

  test('is detected by the stored checkpoint', async () => {
    const dataDir = await logWith(async (ledger) => {
      await ledger.keepCheckpoint(await ledger.checkpoint());
      await ledger.append([entry(5)]);
    });
    await remove(dataDir, 5);
    await renumber(dataDir, 5);
    expect(await found(dataDir)).toEqual(missing);
  });

  test('is detected by the entry that retired its key', async () => {
    const dataDir = await logWith(async (ledger) => {
      await ledger.rotateKey('transparency-sth', 'ann');
      await ledger.append([entry(5)]);
    });
    expect(await found(dataDir)).toEqual(nothing);
    await remove(dataDir, 6); // five entries and key.rotated
    await renumber(dataDir, 6);
    expect(await found(dataDir)).toEqual(missing);
  });
});

async function change(dataDir: string, table: string, work: (rows: Database) => void): Promise<void> {
  const root = openDatabase(join(dataDir, 'ledger.mdb'), { maxDbs: 16 });
  const rows = root.openDB({ name: table, encoding: 'binary' });
  root.transactionSync(() => work(rows));
  await root.close();
}
