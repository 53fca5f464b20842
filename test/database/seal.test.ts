import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { openDatabase, type RootDatabase } from '../../src/database/lmdb.ts';
import { openRows } from '../../src/database/rows.ts';

function database(): RootDatabase {
  const folder = mkdtempSync(join(tmpdir(), 'candor-seal-'));
  const root = openDatabase(join(folder, 'siem.mdb'));
  onTestFinished(async () => {
    await root.close();
    rmSync(folder, { recursive: true });
  });
  return root;
}

const row = { name: 'alice', since: 1.5, roles: ['admin'] };
const damaged = expect.objectContaining({
  code: 'INTERNAL',
  details: { reason: 'data_damaged', table: 't' },
});

test.each(['msgpack', 'json', 'binary'] as const)('a %s row with a flipped bit is not read', (encoding) => {
  const root = database();
  const rows = openRows<unknown, string>(root, 't', encoding === 'msgpack' ? undefined : encoding);
  const raw = root.openDB<Buffer, string>({ name: 't', encoding: 'binary' });
  const value = encoding === 'binary' ? Buffer.from(JSON.stringify(row)) : row;
  rows.putSync('a', value);
  const stored = Buffer.from(raw.get('a')!);
  root.transactionSync(() => {
    for (let bit = 0; bit < 8 * stored.length; bit++) {
      const flipped = Buffer.from(stored);
      flipped[bit >>> 3]! ^= 1 << (bit & 7);
      raw.putSync('a', flipped);
      expect(() => rows.get('a')).toThrow(damaged);
      expect(() => [...rows.getRange()]).toThrow(damaged);
      expect(rows.check(undefined, 10).damaged).toEqual(['t a']);
    }
    raw.putSync('a', stored);
  });
  expect(rows.get('a')).toEqual(value);
});

test('a row with two flipped bits in its mark is not read as a row from an earlier version', () => {
  const root = database();
  const rows = openRows<Buffer, string>(root, 't', 'binary');
  const raw = root.openDB<Buffer, string>({ name: 't', encoding: 'binary' });
  rows.putSync('a', Buffer.from('value'));
  const stored = Buffer.from(raw.get('a')!);
  const mark = stored.length - 4;
  root.transactionSync(() => {
    for (let first = 0; first < 32; first++)
      for (let second = first + 1; second < 32; second++) {
        const flipped = Buffer.from(stored);
        for (const bit of [first, second]) flipped[mark + (bit >>> 3)]! ^= 1 << (bit & 7);
        raw.putSync('a', flipped);
        expect(() => rows.get('a')).toThrow(damaged);
        expect(rows.check(undefined, 10).damaged).toEqual(['t a']);
      }
  });
});

test('a row under the key of another row is damaged', () => {
  const root = database();
  const rows = openRows<true, [number, string]>(root, 't');
  const raw = root.openDB<Buffer, [number, string]>({ name: 't', encoding: 'binary' });
  rows.putSync([1, 'a'], true);
  raw.putSync([1, 'c'], raw.get([1, 'a'])!);
  expect(rows.get([1, 'a'])).toBe(true);
  expect(() => rows.get([1, 'c'])).toThrow(damaged);
});

test('rows from an earlier version are read, and get checksums when the table is checked', () => {
  const root = database();
  const old = root.openDB<unknown, number>({ name: 't' });
  for (let key = 0; key < 5; key++) old.putSync(key, { ...row, key });
  const rows = openRows<unknown, number>(root, 't');
  expect([...rows.getRange()].map(({ value }) => value)).toEqual([0, 1, 2, 3, 4].map((key) => ({ ...row, key })));
  expect(rows.check(undefined, 3)).toEqual({ rows: 3, damaged: [], next: 3 });
  expect(rows.check(3, 3)).toEqual({ rows: 2, damaged: [], next: undefined });
  const raw = root.openDB<Buffer, number>({ name: 't', encoding: 'binary' });
  for (let key = 0; key < 5; key++) {
    expect(rows.get(key)).toEqual({ ...row, key });
    const stored = Buffer.from(raw.get(key)!);
    stored[8]! ^= 1;
    raw.putSync(key, stored);
    expect(() => rows.get(key)).toThrow(damaged);
  }
});
