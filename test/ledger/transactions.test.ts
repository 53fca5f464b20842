/**
 * LMDB's list of free pages is keyed by the transaction number: eight bytes, little-endian, ordered as
 * integers (MDB_INTEGERKEY). Numbers around multiples of 256 sort differently as bytes.
 */
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openDatabase } from '../../src/database/lmdb.ts';
import { DatabaseFile } from '../../src/ledger/check/database-file.ts';
import { fsck } from '../../src/ledger/check/fsck.ts';
import { inspectFile } from '../../src/ledger/check/inspect-file.ts';
import { RowCursor } from '../../src/ledger/check/row-cursor.ts';
import { cloneFolder } from '../files/copy-folder.ts';
import { entry, folder, open } from './fixture.ts';
import { lastTransaction, spendTransactions } from './spent-transactions.ts';

const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, n) => from + n);

test.each([
  ['250 to 260', range(250, 260)],
  ['510 to 514', range(510, 514)],
  ['65,535 to 65,537', range(65_535, 65_537)],
])('a log that stops at transactions %s starts healthy, and fsck finds nothing', async (_, stops) => {
  const dataDir = folder();
  await (await open(dataDir)).close();
  await spendTransactions(dataDir, stops[0]! - 5);
  let stopped = 0;
  for (const stop of stops) {
    const ledger = await open(dataDir);
    expect(await ledger.status()).toMatchObject({ health: { state: 'ok' }, findings: [] });
    while (lastTransaction(dataDir) < stop) await ledger.append([entry(stopped++)]);
    await ledger.close();
    expect(lastTransaction(dataDir)).toBe(stop);
    const copy = folder();
    cloneFolder(dataDir, copy);
    expect((await fsck({ dataDir: copy })).findings).toEqual([]);
    const again = await open(copy);
    expect((await again.status()).health).toEqual({ state: 'ok' });
    await again.append([entry(1_000_000)]);
    await again.close();
    expect((await fsck({ dataDir: copy })).findings).toEqual([]);
  }
});

test('a list of free pages that spans branch pages is read in the order of its transactions', async () => {
  const path = join(folder(), 'free.mdb');
  const root = openDatabase(path);
  const table = root.openDB({ name: 'rows', encoding: 'binary' });
  root.transactionSync(() => table.putSync(0, Buffer.alloc(100)));
  const reader = root.useReadTransaction(); // keeps all pages freed from now on in the free list
  for (let n = 0; n < 1500; n++) root.transactionSync(() => table.putSync(n % 300, Buffer.alloc(100, n)));
  reader.done();
  await root.close();
  expect(inspectFile(path)).toEqual({ cut: false });
  const file = new DatabaseFile(path);
  expect(file.freeList.depth).toBeGreaterThan(1);
  const numbers: bigint[] = [];
  const rows = new RowCursor(file, file.freeList, (damage) => expect(damage).toBeUndefined());
  while (rows.next()) numbers.push(rows.key().readBigUInt64LE());
  expect(numbers).toHaveLength(file.freeList.rows);
  expect(numbers).toEqual(numbers.toSorted((a, b) => (a < b ? -1 : 1)));
  expect(numbers.at(-1)! - numbers[0]!).toBeGreaterThan(1000n);
  file.close();
});
