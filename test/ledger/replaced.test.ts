/**
 * A checkpoint key that was replaced on disk, and heads that were removed from the history, are reported by
 * start-up and fsck.
 */
import { renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { fsck } from '../../src/ledger/check/fsck.ts';
import type { DurableLedger } from '../../src/ledger/open.ts';
import { tamper } from './damaged-log.ts';
import { entries, entry, folder, open } from './fixture.ts';
import { removeHeads, renumberHeads, replaceCheckpointKey } from './replaced-parts.ts';

/** Returns the codes of the findings of start-up and fsck in a folder. */
async function found(dataDir: string): Promise<{ start: string[]; fsck: string[] }> {
  const report = await fsck({ dataDir });
  const ledger = await open(dataDir);
  const { health, findings } = await ledger.status();
  expect(health).toEqual({ state: 'ok' });
  await ledger.close();
  return { start: findings.map(({ code }) => code), fsck: Object.keys(report.counts) };
}
const nothing = { start: [], fsck: [] };

async function logWith(work: (ledger: DurableLedger) => Promise<unknown> = async () => undefined): Promise<string> {
  const dataDir = folder();
  const ledger = await open(dataDir);
  await ledger.append(entries(0, 5));
  await work(ledger);
  await ledger.close();
  return dataDir;
}

describe('the checkpoint key', () => {
  test('causes no finding after starts, rotations and two revocations', async () => {
    const dataDir = await logWith(async (ledger) => {
      await ledger.rotateKey('transparency-sth', 'ann');
      for (let n = 0; n < 2; n++) {
        const key = (await ledger.keyRecords()).find((one) => one.purpose === 'checkpoint' && one.state === 'active')!;
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
      await replaceCheckpointKey(dataDir, keepOld);
      const codes = { start: ['checkpoint_key_replaced'], fsck: ['checkpoint_key_replaced'] };
      expect(await found(dataDir)).toEqual(codes);
      expect(await found(dataDir)).toEqual(codes); // the next start does not accept the new key either
    },
  );

  test('that was replaced causes a finding, with the old file marked as retired', async () => {
    const dataDir = await logWith();
    await replaceCheckpointKey(dataDir, 'retired');
    const ledger = await open(dataDir);
    await ledger.append([entry(5)]);
    await ledger.tick();
    expect((await ledger.status()).findings).toMatchObject([{ code: 'checkpoint_key_replaced' }]);
    await ledger.close();
    expect((await fsck({ dataDir })).counts).toEqual({ checkpoint_key_replaced: 1 });
  });

  test('that did not sign the stored checkpoint causes a finding, even if ledger.mdb does not name a key', async () => {
    const dataDir = await logWith(async (ledger) => ledger.keepCheckpoint(await ledger.checkpoint()));
    await tamper({ dataDir }, 'meta', (rows) => void rows.removeSync('checkpoint_key'));
    await replaceCheckpointKey(dataDir, 'removed');
    expect(await found(dataDir)).toEqual({
      start: ['checkpoint_key_replaced'],
      fsck: ['checkpoint_key_replaced'],
    });
  });

  test('is recorded at the first start for a log of an earlier version, which does not name the key', async () => {
    const dataDir = await logWith();
    await tamper({ dataDir }, 'meta', (rows) => void rows.removeSync('checkpoint_key'));
    expect(await found(dataDir)).toEqual(nothing);
    await replaceCheckpointKey(dataDir, 'removed');
    expect((await found(dataDir)).start).toEqual(['checkpoint_key_replaced']);
  });
});

describe('a head that was removed from the history', () => {
  /** Creates a log with three heads, of 5, 6 and 7 leaves. */
  const log = () =>
    logWith(async (ledger) => {
      await ledger.append([entry(5)]);
      await ledger.append([entry(6)]);
    });
  const missing = { start: ['head_missing'], fsck: ['head_missing'] };

  test('is detected by its number', async () => {
    const dataDir = await log();
    await removeHeads(dataDir, 6);
    expect(await found(dataDir)).toEqual(missing);
  });

  test('is detected by the journal', async () => {
    const dataDir = await log();
    await (await open(dataDir)).close(); // writes a line with the head of 7 leaves
    const ledger = await open(dataDir);
    await ledger.append([entry(7)]);
    await ledger.close();
    await removeHeads(dataDir, 7);
    await renumberHeads(dataDir, 7);
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
    await removeHeads(dataDir, 7);
    await renumberHeads(dataDir, 7);
    const codes = await found(dataDir);
    expect([codes.start.includes('head_missing'), codes.fsck]).toEqual([true, ['head_missing']]);
  });

  test('is detected by the stored checkpoint', async () => {
    const dataDir = await logWith(async (ledger) => {
      await ledger.keepCheckpoint(await ledger.checkpoint());
      await ledger.append([entry(5)]);
    });
    await removeHeads(dataDir, 5);
    await renumberHeads(dataDir, 5);
    expect(await found(dataDir)).toEqual(missing);
  });

  test('is detected by the entry that retired its key', async () => {
    const dataDir = await logWith(async (ledger) => {
      await ledger.rotateKey('transparency-sth', 'ann');
      await ledger.append([entry(5)]);
    });
    expect(await found(dataDir)).toEqual(nothing);
    await removeHeads(dataDir, 6); // five entries and key.rotated
    await renumberHeads(dataDir, 6);
    expect(await found(dataDir)).toEqual(missing);
  });
});
