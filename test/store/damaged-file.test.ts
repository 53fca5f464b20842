import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { damageMessage } from '../../src/database/damage.ts';
import { openDatabase } from '../../src/database/lmdb.ts';
import { DatabaseFile } from '../../src/ledger/check/database-file.ts';
import { childOf } from '../../src/ledger/check/database-page.ts';
import { RowCursor } from '../../src/ledger/check/row-cursor.ts';
import { requireSoundTree, treeDamage } from '../../src/ledger/check/tree-damage.ts';
import { openStore } from '../../src/store/writer.ts';

/** The advice names `candor fsck` before a restore, and what a restore loses. */
const advice = 'candor fsck.*candor restore --replace.*loses every entry after the backup';

test.each([
  ['is not a database', Buffer.alloc(5000, 'x')],
  ['is truncated', Buffer.alloc(10)],
])('a file that %s is rejected with a one-line error that names the file and what a restore loses', (_, bytes) => {
  const dataDir = mkdtempSync(join(tmpdir(), 'candor-store-'));
  onTestFinished(() => rmSync(dataDir, { recursive: true }));
  const file = join(dataDir, 'siem.mdb');
  writeFileSync(file, bytes);
  expect(() => openStore({ dataDir, alertWindowMs: 1000 })).toThrow(new RegExp(`^${file} is damaged \\(.*${advice}`));
});

test.each([
  ['a folder', (path: string) => mkdirSync(path)],
  ['a broken link', (path: string) => symlinkSync(`${path}-nowhere`, path)],
])('a lock file that is %s is rejected without ending the process', (kind, make) => {
  const dataDir = mkdtempSync(join(tmpdir(), 'candor-store-'));
  onTestFinished(() => rmSync(dataDir, { recursive: true }));
  const lock = join(dataDir, 'siem.mdb-lock');
  make(lock);
  expect(() => openStore({ dataDir, alertWindowMs: 1000 })).toThrow(`${lock} is ${kind}, and must be a file`);
});

test('the message about damaged rows advises fsck before a restore, and states what a restore loses', () => {
  expect(damageMessage({ events: [], rows: ['alerts 7'] })).toMatch(new RegExp(advice));
});

describe('the page tree', () => {
  const folder = mkdtempSync(join(tmpdir(), 'candor-tree-'));
  const path = join(folder, 'siem.mdb');
  const pageBytes = 4096;
  const onDamage = (damage: unknown) => expect(damage).toBeUndefined();
  let whole: Buffer;
  afterAll(() => rmSync(folder, { recursive: true }));
  beforeAll(async () => {
    const root = openDatabase(path);
    const tables = ['small', 'large', 'deleted'].map((name) => root.openDB({ name, encoding: 'binary' }));
    for (let round = 0; round < 3; round++)
      root.transactionSync(() => {
        for (let key = 0; key < 400; key++) tables[0]!.putSync(key, Buffer.alloc(100, round));
        for (let key = 0; key < 2; key++) tables[1]!.putSync(key, Buffer.alloc(1_300_000 - 9000 * key));
        for (let key = 0; key < 400; key++) tables[2]!.putSync(key, Buffer.alloc(100, key));
      });
    root.transactionSync(() => tables[2]!.clearSync());
    await root.close();
    whole = readFileSync(path);
  });

  /** Returns the error for a copy with these changes. */
  function damageOf(change: (bytes: Buffer) => Buffer | undefined): string | undefined {
    const bytes = Buffer.from(whole);
    writeFileSync(path, change(bytes) ?? bytes);
    try {
      requireSoundTree(path);
      return undefined;
    } catch (error) {
      return (error as Error).message;
    }
  }
  const inFile = <T>(read: (file: DatabaseFile) => T): T => {
    writeFileSync(path, whole);
    const file = new DatabaseFile(path);
    try {
      return read(file);
    } finally {
      file.close();
    }
  };
  const roots = () =>
    inFile((file) => [file.freeList, ...file.tables(onDamage).values()].flatMap(({ root }) => root ?? []));
  /** Returns the position of the newer meta page. */
  const metaAt = (bytes: Buffer) =>
    bytes.readBigUInt64LE(152) > bytes.readBigUInt64LE(pageBytes + 152) ? 0 : pageBytes;

  test('of an intact file is accepted, with values of megabytes and of zeros', () => {
    expect(damageOf(() => undefined)).toBeUndefined();
  });

  test('with a page of zeros in place of any root is rejected; the error names the file, the page, the commands and what a restore loses', () => {
    expect(roots().length).toBeGreaterThan(2);
    for (const page of roots())
      expect(damageOf((bytes) => bytes.fill(0, page * pageBytes, (page + 1) * pageBytes))).toMatch(
        new RegExp(`^${path} is damaged \\(page ${page}, .*${advice}`),
      );
  });

  test('of a truncated file is rejected at every length that lacks a page in use', () => {
    const last = Math.max(...roots());
    for (let pages = 2; pages <= last; pages += Math.ceil(last / 40))
      expect(damageOf((bytes) => bytes.subarray(0, pages * pageBytes + 100))).toContain('is damaged');
  });

  test('of a large file is checked without the content of leaves; missing leaves are found', () => {
    const large = () => treeDamage(path, { unread: new Set(['small', 'large', 'deleted']) });
    const page = inFile((file) => file.tables(onDamage).get('small')!.root);
    expect(large()).toEqual([]);
    damageOf((bytes) => bytes.fill(0, page! * pageBytes, (page! + 1) * pageBytes));
    expect(large()).toEqual([expect.stringContaining(`page ${page}, `)]);
    damageOf((bytes) => bytes.subarray(0, (Math.max(...roots()) - 10) * pageBytes));
    expect(large()[0]).toContain('beyond the end of the file');
  });

  test('of a file of more than 1 GB is checked with its leaves, except the leaves of the event tables', () => {
    const root = inFile((file) => file.tables(onDamage).get('small')!.root!);
    const leaf = childOf(whole.subarray(root * pageBytes), 0);
    const bytes = Buffer.from(whole).fill(0, leaf * pageBytes, (leaf + 1) * pageBytes);
    writeFileSync(path, bytes);
    truncateSync(path, 2 ** 30 + pageBytes);
    expect(treeDamage(path, { unread: new Set(['small']) })).toEqual([]);
    expect(() => requireSoundTree(path)).toThrow(`page ${leaf}, in the table small`);
  });

  test('of an older transaction that was marked as newer is rejected', () => {
    const older = (bytes: Buffer) => pageBytes - metaAt(bytes);
    expect(damageOf((bytes) => bytes.fill(1, older(bytes) + 157, older(bytes) + 158))).toContain(
      'do not belong to two consecutive transactions',
    );
  });

  test.each([0, 1])('with a torn meta page %i is repaired from the other page', async (torn) => {
    const tear = (bytes: Buffer) => bytes.fill(0, torn * pageBytes, (torn + 1) * pageBytes);
    writeFileSync(path, tear(Buffer.from(whole)));
    expect(treeDamage(path)).toEqual([`meta page ${torn} is damaged`]);
    expect(requireSoundTree(path)).toEqual([expect.stringContaining(`meta page ${torn} of ${path}`)]);
    expect(treeDamage(path)).toEqual([]);
    const root = openDatabase(path);
    const small = root.openDB({ name: 'small', encoding: 'binary' });
    expect(small.getKeysCount()).toBe(400);
    for (let key = 0; key < 3; key++) root.transactionSync(() => small.putSync(key, Buffer.alloc(9)));
    await root.close();
    expect(requireSoundTree(path)).toEqual([]);
  });

  test('with a torn meta page is rejected if the other page has no transaction, because the file would appear empty', () => {
    expect(
      damageOf((bytes) => {
        bytes.fill(0, pageBytes, 2 * pageBytes);
        bytes.writeBigUInt64LE(0n, 152);
      }),
    ).toContain('meta page 1 is damaged');
  });

  test('with a value that claims more bytes than its pages hold is rejected', () => {
    const size = Buffer.alloc(4);
    size.writeUInt32LE(1_300_000);
    expect(
      damageOf((bytes) => {
        for (let at = bytes.indexOf(size); at >= 0; at = bytes.indexOf(size, at + 1)) bytes[at + 3] = 0x7f;
      }),
    ).toContain('its length is invalid');
  });

  test('whose free list names a page in use, or a page outside the file, is rejected', () => {
    const [used] = roots().slice(-1);
    const record = inFile((file) => {
      const cursor = new RowCursor(file, file.freeList, onDamage);
      expect(cursor.next()).toBe(true);
      return Buffer.from(cursor.value());
    });
    const at = whole.indexOf(record);
    expect(at).toBeGreaterThan(0);
    const naming = (page: number) => (bytes: Buffer) => {
      bytes.writeBigUInt64LE(1n, at);
      bytes.writeBigInt64LE(BigInt(page), at + 8);
      return bytes;
    };
    expect(damageOf(naming(used!))).toContain(`page ${used} is used twice`);
    expect(damageOf(naming(1e9))).toContain('there are no pages 1000000000');
  });
});
