import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openDatabase } from '../../src/database/lmdb.ts';
import { DatabaseFile, type Table } from '../../src/ledger/check/database-file.ts';
import { RowCursor } from '../../src/ledger/check/row-cursor.ts';
import { numberKey } from '../../src/ledger/check/row-keys.ts';

const seed = 20_251_121;
/** Rows whose keys have gaps, with every 50th value on overflow pages. */
const rows = Array.from({ length: 3000 }, (_, n) => ({
  key: 3 * n,
  value: Buffer.alloc(n % 50 === 7 ? 5000 + n : n % 40, n),
}));
const ids = Array.from({ length: 3000 }, (_, n) => {
  const key = Buffer.alloc(16, n % 251);
  key.writeUInt32BE(n * 1_400_000, 4 * (n % 2));
  return { key, value: Buffer.from([n >> 8, n, 2, 3, 4, 5, 6, 0xff]) };
}).sort((a, b) => a.key.compare(b.key));

const folder = mkdtempSync(join(tmpdir(), 'candor-rows-'));
let file: DatabaseFile;
let tables: Map<string, Table>;
const onDamage = (damage: unknown) => expect(damage).toBeUndefined();

beforeAll(async () => {
  const path = join(folder, 'rows.mdb');
  const root = openDatabase(path);
  const numbered = root.openDB({ name: 'numbered', encoding: 'binary' });
  const named = root.openDB({ name: 'ids', encoding: 'binary', keyEncoding: 'binary' });
  root.transactionSync(() => {
    for (const { key, value } of rows) numbered.putSync(key, value);
    for (const { key, value } of ids) named.putSync(key, value);
  });
  await root.close();
  file = new DatabaseFile(path);
  tables = file.tables(onDamage);
});
afterAll(() => {
  file.close();
  rmSync(folder, { recursive: true });
});

const cursor = (name: string, from?: Buffer, before?: Buffer) =>
  new RowCursor(file, tables.get(name)!, onDamage, from, before);

test('a range of keys contains exactly its rows', () => {
  const place = fc.option(fc.integer({ min: 0, max: 9100 }), { nil: undefined });
  fc.assert(
    fc.property(place, place, fc.boolean(), (from, before, keysOnly) => {
      const key = (n?: number) => (n === undefined ? undefined : numberKey(n));
      const found: number[] = [];
      for (const at = cursor('numbered', key(from), key(before)); keysOnly ? at.nextKey() : at.next(); )
        found.push(at.keyNumber());
      const wanted = rows.filter((row) => row.key >= (from ?? 0) && row.key < (before ?? Number.POSITIVE_INFINITY));
      expect(found).toEqual(wanted.map((row) => row.key));
    }),
    { seed, numRuns: 80 },
  );
});

test('a value can be read together with the byte before it, on any kind of page', () => {
  const at = cursor('numbered');
  for (const { key, value } of rows) {
    expect(at.next()).toBe(true);
    expect(at.keyNumber()).toBe(key);
    expect(at.value()).toEqual(value);
    expect(at.valueBehindByte().subarray(1)).toEqual(value);
  }
  expect(at.next()).toBe(false);
});

test('rows with known key and value lengths are read word by word', () => {
  const at = cursor('ids');
  for (const { key, value } of ids) {
    expect(at.next()).toBe(true);
    expect([at.hasForm(16, 8), at.hasForm(16, 7), at.hasForm(15, 8)]).toEqual([true, false, false]);
    const row = Buffer.concat([key, value]);
    for (let word = 0; word < row.length; word += 4) expect(at.word(word)).toBe(row.readInt32BE(word));
  }
  const big = cursor('numbered', numberKey(21));
  expect([big.next(), big.value().length, big.hasForm(4, 5007)]).toEqual([true, 5007, false]);
});
