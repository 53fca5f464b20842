import {
  appendFileSync,
  chmodSync,
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { type Database, openDatabase } from '../../src/database/lmdb.ts';
import { banner } from '../../src/ledger/banner.ts';
import type { LedgerFault } from '../../src/ledger/ledger.ts';
import { openLedger } from '../../src/ledger/open.ts';
import { cloneFolder } from '../files/copy-folder.ts';
import { codeOf, entries, entry, folder, open } from './fixture.ts';
import { checkAll } from './outside.ts';

const logs = mkdtempSync(join(tmpdir(), 'candor-startup-'));
afterAll(() => rmSync(logs, { recursive: true }));

/** Returns a folder with a closed log of `size` entries, copied from the log that the first call creates. */
async function logOf(size: number): Promise<string> {
  const log = join(logs, String(size));
  if (!existsSync(log)) {
    const ledger = await openLedger({ dataDir: log });
    if (size > 0) await ledger.append(entries(0, size));
    await ledger.close();
  }
  const dataDir = folder();
  cloneFolder(log, dataDir);
  return dataDir;
}

/** Opens a damaged log, and checks the behaviour that is required of every degraded log. */
async function openDegraded(dataDir: string, fault: LedgerFault) {
  const ledger = await open(dataDir);
  const status = await ledger.status();
  expect(status.health).toMatchObject({ state: 'degraded', fault });
  expect(await codeOf(ledger.append([entry(1000)]))).toBe('UNAVAILABLE');
  expect(banner(status)).toContain(`DEGRADED: ${fault}`);
  expect(banner(status)).toContain('advice');
  const { advice } = status.health as { advice: string };
  const [check, rebuild, restore] = ['fsck', 'rebuild', 'restore'].map((name) => advice.indexOf(`\`candor ${name}`));
  expect(check).toBeGreaterThan(0);
  if (restore! > 0) {
    expect(restore).toBeGreaterThan(Math.max(check!, rebuild!));
    expect(advice).toContain('loses every entry after the backup');
    expect(advice).toContain('new life under new keys, which every auditor sees');
  }
  expect((await ledger.accessTokenKeys()).current.kty).toBe('OKP'); // users can still sign in
  await ledger.tick();
  return ledger;
}

test.each([0, 1, 2, 255, 256, 257, 700])(
  'a log of %i entries is healthy after a restart, and accepts entries',
  async (size) => {
    const dataDir = await logOf(size);
    const ledger = await open(dataDir);
    const before = size > 0 ? await ledger.head() : undefined;
    expect((await ledger.status()).health).toEqual({ state: 'ok' });
    await ledger.append([entry(size)]);
    const head = await checkAll(ledger, before);
    expect(head.tree_size).toBe(size + 1);
    expect(await ledger.leaf({ leaf_hash: (await ledger.leaf({ leaf_index: size })).leaf_hash })).toMatchObject({
      leaf_index: size,
    });
  },
);

test('the banner of a healthy log names size, root, time, key and fingerprint', async () => {
  const ledger = await open(await logOf(3));
  const status = await ledger.status();
  const text = banner(status);
  for (const part of ['3', status.head!.root_hash.slice(0, 16), status.sth_key_id, status.sth_key_fingerprint, 'ok']) {
    expect(text).toContain(part);
  }
  expect(text).toContain(String(BigInt(status.head!.timestamp_ns)));
});

test('an older database under a newer anchor is a rollback, and its data is still served', async () => {
  const dataDir = await logOf(5);
  copyFileSync(join(dataDir, 'ledger.mdb'), join(dataDir, 'old.mdb'));
  const newer = await open(dataDir);
  await newer.append(entries(5, 9));
  await newer.close();
  copyFileSync(join(dataDir, 'old.mdb'), join(dataDir, 'ledger.mdb'));
  const ledger = await openDegraded(dataDir, 'rollback');
  expect((await checkAll(ledger)).tree_size).toBe(5);
  expect(JSON.parse(readFileSync(join(dataDir, 'anchor.json'), 'utf8')).tree_size).toBe(9); // not overwritten
});

test('a rollback of database and anchor together is detected by the journal, and again at the next start', async () => {
  const dataDir = await logOf(5);
  for (const name of ['ledger.mdb', 'anchor.json']) copyFileSync(join(dataDir, name), join(dataDir, `old-${name}`));
  const newer = await open(dataDir);
  await newer.append(entries(5, 9));
  await newer.close();
  await (await open(dataDir)).close(); // the journal's line for this start has the head of 9 leaves
  for (const name of ['ledger.mdb', 'anchor.json']) copyFileSync(join(dataDir, `old-${name}`), join(dataDir, name));
  await (await openDegraded(dataDir, 'rollback')).close();
  await openDegraded(dataDir, 'rollback');
});

test('a different, larger log under the anchor is a rollback', async () => {
  const [dataDir, other] = [await logOf(5), folder()];
  const forger = await open(other);
  await forger.append(entries(100, 107));
  await forger.close();
  rmSync(join(dataDir, 'journal.ndjson'));
  const anchor = readFileSync(join(dataDir, 'anchor.json'));
  copyFileSync(join(other, 'ledger.mdb'), join(dataDir, 'ledger.mdb'));
  for (const name of readdirSync(join(other, 'keys'))) {
    copyFileSync(join(other, 'keys', name), join(dataDir, 'keys', name));
  }
  await openDegraded(dataDir, 'rollback');
  expect(readFileSync(join(dataDir, 'anchor.json'))).toEqual(anchor);
});

test.each([
  ['a node of the growing page', 'pages', [0, 2], 40],
  ['a node in the page above', 'pages', [1, 0], 3],
  ['the last entry', 'entries', 599, 10],
  ['the signature of the last head', 'heads', undefined, 60],
  ['the root in the last head', 'heads', undefined, 20],
] as const)('a flipped bit in %s is detected', async (_, table, key, at) => {
  const dataDir = await logOf(600);
  const root = openDatabase(join(dataDir, 'ledger.mdb'), { maxDbs: 16 });
  const db = root.openDB({ name: table, encoding: 'binary' });
  const place = key === undefined ? [...db.getKeys({ reverse: true, limit: 1 })][0]! : (key as number | number[]);
  const bytes = Buffer.from(db.getBinary(place)!);
  bytes[at]! ^= 4;
  root.transactionSync(() => db.putSync(place, bytes));
  await root.close();
  await openDegraded(dataDir, 'corrupt');
});

test('a damaged old page is detected when a proof needs the page, and is never served', async () => {
  const dataDir = await logOf(600);
  const root = openDatabase(join(dataDir, 'ledger.mdb'), { maxDbs: 16 });
  const db = root.openDB({ name: 'pages', encoding: 'binary' });
  const bytes = Buffer.from(db.getBinary([0, 0])!);
  bytes[0]! ^= 1;
  root.transactionSync(() => db.putSync([0, 0], bytes));
  await root.close();
  const ledger = await open(dataDir);
  expect(await ledger.status()).toMatchObject({ health: { state: 'ok' }, findings: [] });
  expect(await codeOf(ledger.inclusion({ leaf_index: 1 }))).toBe('INTERNAL');
  expect(await ledger.status()).toMatchObject({
    health: { state: 'ok' },
    findings: [{ code: 'data_damaged' }],
  });
  expect(await codeOf(ledger.append([entry(1000)]))).toBe('none');
});

const traces = ['anchor.json', 'journal.ndjson', 'keys', 'siem.mdb'];
const combinations = Array.from({ length: 15 }, (_, n) => traces.filter((_, i) => (n + 1) & (1 << i)));

test.each(combinations.map((kept) => [kept.join(', '), kept] as const))(
  'a folder with %s but no ledger.mdb is reported as a lost log, and no new log is started',
  async (_, kept) => {
    const dataDir = await logOf(3);
    writeFileSync(join(dataDir, 'siem.mdb'), 'x');
    for (const name of readdirSync(dataDir)) if (!kept.includes(name)) rmSync(join(dataDir, name), { recursive: true });
    const ledger = await openDegraded(dataDir, 'lost');
    expect(await codeOf(ledger.head())).toBe('UNAVAILABLE');
    expect(await codeOf(ledger.inclusion({ leaf_index: 0 }))).toBe('UNAVAILABLE');
    const { size, health } = await ledger.status();
    expect(size).toBe(0);
    expect(health).toMatchObject({ advice: expect.stringContaining('candor rebuild --begin-anew') });
    await ledger.close();
    expect(existsSync(join(dataDir, 'ledger.mdb'))).toBe(false);
    await openDegraded(dataDir, 'lost');
  },
);

test('an anchor on another volume is enough to report a missing log as lost', async () => {
  const [dataDir, anchorPath] = [folder(), join(folder(), 'anchor.json')];
  const ledger = await open(dataDir, { anchorPath });
  await ledger.append(entries(0, 3));
  await ledger.close();
  rmSync(dataDir, { recursive: true });
  const { health } = await (await open(dataDir, { anchorPath })).status();
  expect(health).toMatchObject({ fault: 'lost', advice: expect.stringContaining('an anchor') });
});

test('an emptied database counts as lost if keys exist', async () => {
  const dataDir = await logOf(3);
  truncateSync(join(dataDir, 'ledger.mdb'), 0);
  await openDegraded(dataDir, 'lost');
});

test('lost and damaged key files are detected', async () => {
  const dataDir = await logOf(3);
  const keys = join(dataDir, 'keys');
  const names = readdirSync(keys);
  const files = names.map((name) => readFileSync(join(keys, name)));
  for (const name of names) rmSync(join(keys, name));
  await (await openDegraded(dataDir, 'lost')).close();
  names.forEach((name, i) => {
    writeFileSync(join(keys, name), files[i]!);
  });
  await (await open(dataDir)).close();
  writeFileSync(join(keys, names[0]!), files[0]!.subarray(0, 30));
  const ledger = await openDegraded(dataDir, 'corrupt');
  expect((await ledger.keys()).length).toBeGreaterThanOrEqual(2); // the other keys are still served
  await ledger.close();
  const stolen = { ...JSON.parse(files[0]!.toString()), x: JSON.parse(files[1]!.toString()).x };
  writeFileSync(join(keys, names[0]!), JSON.stringify(stolen));
  await openDegraded(dataDir, 'corrupt');
});

test('a half-written file next to the intact anchor is ignored; a half-written anchor is detected', async () => {
  const dataDir = await logOf(3);
  const anchor = readFileSync(join(dataDir, 'anchor.json'), 'utf8');
  writeFileSync(join(dataDir, 'anchor.json.new'), anchor.slice(0, 40));
  const ledger = await open(dataDir);
  expect((await ledger.status()).health.state).toBe('ok');
  await ledger.close();
  writeFileSync(join(dataDir, 'anchor.json'), anchor.slice(0, 40));
  await (await openDegraded(dataDir, 'corrupt')).close();
  writeFileSync(join(dataDir, 'anchor.json'), anchor.replace(/"signature":"../, '"signature":"00'));
  await (await openDegraded(dataDir, 'corrupt')).close();
  rmSync(join(dataDir, 'anchor.json')); // state after a crash before the first anchor
  expect((await (await open(dataDir)).status()).health.state).toBe('ok');
});

test('a truncated journal line is ignored', async () => {
  const dataDir = await logOf(3);
  const path = join(dataDir, 'journal.ndjson');
  writeFileSync(path, `${readFileSync(path, 'utf8')}{"at":"2025-`);
  await (await open(dataDir)).close();
  const lines = readFileSync(path, 'utf8').split('\n');
  expect(lines[1]).toBe('{"at":"2025-');
  expect(JSON.parse(lines[2]!)).toMatchObject({ event: 'start', head: { tree_size: 3 } });
});

test.each([0.1, 0.3, 0.5, 0.7, 0.9, 0.97])(
  'a database truncated to %f of its length is reported as half_written',
  async (part) => {
    const dataDir = await logOf(1500);
    const path = join(dataDir, 'ledger.mdb');
    truncateSync(path, Math.floor(statSync(path).size * part));
    const ledger = await openDegraded(dataDir, 'half_written');
    expect((await ledger.status()).health).toMatchObject({
      advice: expect.stringContaining('candor rebuild'),
    });
  },
);

test('a truncated database is reported as half_written at every start, even after LMDB has padded it', async () => {
  const dataDir = await logOf(1500);
  const path = join(dataDir, 'ledger.mdb');
  await moveToEnd(path);
  truncateSync(path, statSync(path).size - 2 * 4096);
  for (let start = 0; start < 3; start++) await (await openDegraded(dataDir, 'half_written')).close();
});

/**
 * Has LMDB rewrite entries from the middle of the log, which no start reads, at the end of the file. The
 * roots of tables and the list of free pages move to lower pages that became free.
 */
async function moveToEnd(path: string): Promise<void> {
  const root = openDatabase(path, { maxDbs: 16 });
  const table = root.openDB({ name: 'entries', encoding: 'binary' });
  const again = (from: number, to: number) =>
    root.transactionSync(() => {
      for (let index = from; index < to; index++) table.putSync(index, table.getBinary(index)!);
    });
  again(100, 1100);
  for (let from = 100; from < 1000; from += 150) again(from, from + 150);
  await root.close();
}

interface Case {
  readonly name: string;
  readonly fault: LedgerFault;
  /** Pattern that the advice must match. */
  readonly advice: RegExp;
  /** Whether heads and proofs are still served, at least the proofs that do not need a damaged page. */
  readonly reads: boolean | 'heads';
  damage(dataDir: string): unknown;
}

const file = (name: string, change: (bytes: Buffer) => Buffer) => (dataDir: string) =>
  writeFileSync(join(dataDir, name), change(readFileSync(join(dataDir, name))));
const zeroed = (from: number, to: number) => file('ledger.mdb', (bytes) => bytes.fill(0, from, to));
const rows = (name: string, change: (table: Database) => void) => async (dataDir: string) => {
  const root = openDatabase(join(dataDir, 'ledger.mdb'), { maxDbs: 16 });
  const table = root.openDB({ name, encoding: 'binary' });
  root.transactionSync(() => change(table));
  await root.close();
};
const folderFor = (name: string) => (dataDir: string) => {
  rmSync(join(dataDir, name));
  mkdirSync(join(dataDir, name));
};
const unsigned = (claimed: number) => (dataDir: string) => {
  const anchor = readFileSync(join(dataDir, 'anchor.json'), 'utf8').trim();
  const head = anchor.replace('"tree_size":600', `"tree_size":${claimed}`);
  appendFileSync(
    join(dataDir, 'journal.ndjson'),
    `{"at":"2025-11-21T00:00:00.000Z","event":"day","health":"ok","head":${head}}\n`,
  );
};
const rebuild = /candor rebuild/;

const cases: readonly Case[] = [
  {
    name: 'an entry beyond the last head',
    ...{ fault: 'half_written', advice: rebuild, reads: true },
    damage: rows('entries', (table) => void table.putSync(600, Buffer.from('{}'))),
  },
  {
    name: 'a head beyond the entries',
    ...{ fault: 'half_written', advice: rebuild, reads: true },
    damage: rows('entries', (table) => void table.removeSync(599)),
  },
  {
    name: 'nodes beyond the last head',
    ...{ fault: 'half_written', advice: rebuild, reads: 'heads' },
    damage: rows(
      'pages',
      (table) => void table.putSync([0, 2], Buffer.concat([table.getBinary([0, 2])!, Buffer.alloc(32)])),
    ),
  },
  {
    name: 'one torn meta page',
    fault: 'half_written',
    advice: rebuild,
    reads: false,
    damage: zeroed(0, 4096),
  },
  {
    name: 'the other meta page torn',
    fault: 'half_written',
    advice: rebuild,
    reads: false,
    damage: zeroed(4096, 8192),
  },
  { name: 'no meta page', fault: 'corrupt', advice: rebuild, reads: false, damage: zeroed(0, 8192) },
  {
    name: 'a file of zeros',
    fault: 'corrupt',
    advice: rebuild,
    reads: false,
    damage: file('ledger.mdb', (bytes) => bytes.fill(0)),
  },
  {
    name: 'a file that is not an LMDB file',
    ...{ fault: 'corrupt', advice: rebuild, reads: false },
    damage: file('ledger.mdb', () => Buffer.from('hello')),
  },
  {
    name: 'an empty anchor',
    fault: 'corrupt',
    advice: /candor fsck/,
    reads: true,
    damage: file('anchor.json', () => Buffer.alloc(0)),
  },
  {
    name: 'half an anchor',
    ...{ fault: 'corrupt', advice: /candor fsck/, reads: true },
    damage: file('anchor.json', (bytes) => bytes.subarray(0, 40)),
  },
  {
    name: 'a folder in place of the anchor',
    fault: 'corrupt',
    advice: /it is not a file/,
    reads: true,
    damage: folderFor('anchor.json'),
  },
  {
    name: 'the anchor of another log',
    ...{ fault: 'corrupt', advice: /another log/, reads: true },
    damage: async (dataDir) => copyFileSync(join(await logOf(900), 'anchor.json'), join(dataDir, 'anchor.json')),
  },
  {
    name: 'an anchor that was edited to claim more leaves',
    ...{ fault: 'corrupt', advice: /no valid signature/, reads: true },
    damage: file('anchor.json', (bytes) => Buffer.from(String(bytes).replace('"tree_size":600', '"tree_size":999'))),
  },
  {
    name: 'the database of another log, with its keys still elsewhere',
    ...{ fault: 'lost', advice: /key files back/, reads: true },
    damage: async (dataDir) => {
      const other = await logOf(700);
      const ledger = await open(other);
      await ledger.append([entry(700)]);
      await ledger.close();
      copyFileSync(join(other, 'ledger.mdb'), join(dataDir, 'ledger.mdb'));
    },
  },
  {
    name: 'missing keys',
    ...{ fault: 'lost', advice: /key files back/, reads: true },
    damage: (dataDir) => rmSync(join(dataDir, 'keys'), { recursive: true }),
  },
  {
    name: 'empty key files',
    ...{ fault: 'corrupt', advice: /Put|put/, reads: true },
    damage: (dataDir) => {
      for (const name of readdirSync(join(dataDir, 'keys'))) truncateSync(join(dataDir, 'keys', name), 0);
    },
  },
];

test.each(cases)('with $name, the log is degraded as $fault', async ({ fault, advice, reads, damage }) => {
  const dataDir = await logOf(600);
  await damage(dataDir);
  const ledger = await openDegraded(dataDir, fault);
  const { health } = await ledger.status();
  expect(health).toMatchObject({ advice: expect.stringMatching(advice) });
  expect(await codeOf(ledger.head())).toBe(reads ? 'none' : 'UNAVAILABLE');
  const refused = reads === 'heads' ? 'INTERNAL' : 'UNAVAILABLE';
  expect(await codeOf(ledger.inclusion({ leaf_index: 1 }))).toBe(reads === true ? 'none' : refused);
  await ledger.close();
  await openDegraded(dataDir, fault); // the damage is found again at the next start
});

test('the advice for damage names the last entry that a restore may lose', async () => {
  const dataDir = await logOf(600);
  await rows('entries', (table) => void table.removeSync(599))(dataDir);
  const { health } = await (await openDegraded(dataDir, 'half_written')).status();
  expect(health).toMatchObject({ advice: expect.stringContaining('up to entry 599') });
});

test('an unsigned journal line that claims no more leaves than the log has causes only a warning', async () => {
  const dataDir = await logOf(600);
  unsigned(599)(dataDir);
  const status = await (await open(dataDir)).status();
  expect(status.health).toEqual({ state: 'ok' });
  expect(status.warnings).toEqual([expect.stringMatching(/line 2 \(599 leaves\).*candor fsck/)]);
  expect(banner(status)).toContain('candor fsck');
});

test.each([
  ['event-signing', 'before its successor existed', undefined],
  ['event-signing', 'while its successor was pending', 'publish'],
  ['transparency-sth', 'before its successor existed', undefined],
  ['transparency-sth', 'while its successor was pending', 'publish'],
] as const)(
  'key files older than the replacement of a %s key, %s, do not let the old key sign after its end',
  async (purpose, _when, published) => {
    const dataDir = folder();
    const day = 86_400_000;
    const clock = { ms: Date.now() };
    const options = {
      clock: () => BigInt(clock.ms) * 1_000_000n,
      rotation: { periods: { [purpose]: 10 * day }, overlapMs: day },
    };
    const ledger = await open(dataDir, options);
    await ledger.append(entries(0, 5));
    if (published) {
      clock.ms += 9.5 * day;
      await ledger.tick();
    }
    cpSync(join(dataDir, 'keys'), join(dataDir, 'keys-of-before'), { recursive: true });
    await ledger.rotateKey(purpose, 'alice');
    await ledger.append(entries(5, 9, clock.ms));
    await ledger.close();
    rmSync(join(dataDir, 'keys'), { recursive: true });
    cpSync(join(dataDir, 'keys-of-before'), join(dataDir, 'keys'), { recursive: true });
    const { health } = await (await openDegraded(dataDir, 'lost')).status();
    expect(health).toMatchObject({ advice: expect.stringContaining('key files back') });
  },
);

test('a folder in place of ledger.mdb ends the start with a one-line error', async () => {
  const dataDir = await logOf(3);
  folderFor('ledger.mdb')(dataDir);
  await expect(open(dataDir)).rejects.toThrow(/ledger\.mdb cannot be read \(EISDIR\)/);
});

test('a file in place of the keys folder ends the start with a one-line error', async () => {
  const dataDir = await logOf(3);
  rmSync(join(dataDir, 'keys'), { recursive: true });
  writeFileSync(join(dataDir, 'keys'), '');
  await expect(open(dataDir)).rejects.toThrow(/the keys in .* cannot be read \(ENOTDIR\)/);
});

test.skipIf(process.getuid?.() === 0)(
  'a ledger.mdb without read permission ends the start with a one-line error',
  async () => {
    const dataDir = await logOf(3);
    chmodSync(join(dataDir, 'ledger.mdb'), 0);
    await expect(open(dataDir)).rejects.toThrow(/cannot be read \(EACCES\)/);
  },
);

test('garbage in place of the database is detected', async () => {
  const dataDir = await logOf(3);
  writeFileSync(join(dataDir, 'ledger.mdb'), Buffer.alloc(65_536, 7));
  await openDegraded(dataDir, 'corrupt');
});

test('an unsigned journal line that claims more leaves causes a finding, and does not stop a healthy log', async () => {
  const dataDir = await logOf(600);
  unsigned(601)(dataDir);
  const ledger = await open(dataDir);
  const { health, findings } = await ledger.status();
  expect(health).toEqual({ state: 'ok' });
  expect(findings).toMatchObject([{ code: 'journal_unsigned' }]);
  await ledger.append([entry(601)]);
});
