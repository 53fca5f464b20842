import {
  copyFileSync,
  existsSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { banner } from '../../src/ledger/banner.ts';
import { openDatabase } from '../../src/lmdb.ts';
import { codeOf, entries, entry, folder, open } from './fixture.ts';
import { checkAll } from './outside.ts';

/** A closed log of `size` entries. */
async function logOf(size: number): Promise<string> {
  const dataDir = folder();
  const ledger = await open(dataDir);
  if (size > 0) await ledger.append(entries(0, size));
  await ledger.close();
  return dataDir;
}

/** Opens a damaged log and checks what every degraded one must do. */
async function openDegraded(dataDir: string, fault: 'rollback' | 'corrupt' | 'lost') {
  const ledger = await open(dataDir);
  const status = await ledger.status();
  expect(status.health).toMatchObject({ state: 'degraded', fault });
  expect(await codeOf(ledger.append([entry(1000)]))).toBe('UNAVAILABLE');
  expect(banner(status)).toContain(`DEGRADED: ${fault}`);
  expect(banner(status)).toContain('advice');
  expect((await ledger.accessTokenKey()).kty).toBe('OKP'); // people can still sign in
  await ledger.tick();
  return ledger;
}

test.each([0, 1, 2, 255, 256, 257, 700])(
  'a log of %i entries is found whole again, and goes on',
  async (size) => {
    const dataDir = await logOf(size);
    const ledger = await open(dataDir);
    const before = size > 0 ? await ledger.head() : undefined;
    expect((await ledger.status()).health).toEqual({ state: 'ok' });
    await ledger.append([entry(size)]);
    const head = await checkAll(ledger, before);
    expect(head.tree_size).toBe(size + 1);
    expect(
      await ledger.leaf({ leaf_hash: (await ledger.leaf({ leaf_index: size })).leaf_hash }),
    ).toMatchObject({
      leaf_index: size,
    });
  },
);

test('the banner of a healthy log names size, root, time, key and fingerprint', async () => {
  const ledger = await open(await logOf(3));
  const status = await ledger.status();
  const text = banner(status);
  for (const part of [
    '3',
    status.head!.root_hash.slice(0, 16),
    status.sth_key_id,
    status.sth_key_fingerprint,
    'ok',
  ]) {
    expect(text).toContain(part);
  }
  expect(text).toContain(String(BigInt(status.head!.timestamp_ns)));
});

test('an older database under a newer anchor is a rollback; what it holds is still served', async () => {
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

test('a rollback of database and anchor together is recognised by the journal, and again at the next start', async () => {
  const dataDir = await logOf(5);
  for (const name of ['ledger.mdb', 'anchor.json'])
    copyFileSync(join(dataDir, name), join(dataDir, `old-${name}`));
  const newer = await open(dataDir);
  await newer.append(entries(5, 9));
  await newer.close();
  await (await open(dataDir)).close(); // the journal's line for this start has the head of 9
  for (const name of ['ledger.mdb', 'anchor.json'])
    copyFileSync(join(dataDir, `old-${name}`), join(dataDir, name));
  await (await openDegraded(dataDir, 'rollback')).close();
  await openDegraded(dataDir, 'rollback');
});

test('another log of the same or a larger size under the anchor is a rollback', async () => {
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
] as const)('a flipped bit in %s is recognised', async (_, table, key, at) => {
  const dataDir = await logOf(600);
  const root = openDatabase(join(dataDir, 'ledger.mdb'), { maxDbs: 8 });
  const db = root.openDB({ name: table, encoding: 'binary' });
  const place =
    key === undefined ? [...db.getKeys({ reverse: true, limit: 1 })][0]! : (key as number | number[]);
  const bytes = Buffer.from(db.getBinary(place)!);
  bytes[at]! ^= 4;
  root.transactionSync(() => db.putSync(place, bytes));
  await root.close();
  await openDegraded(dataDir, 'corrupt');
});

test('a missing last entry is recognised', async () => {
  const dataDir = await logOf(20);
  const root = openDatabase(join(dataDir, 'ledger.mdb'), { maxDbs: 8 });
  const db = root.openDB({ name: 'entries', encoding: 'binary' });
  root.transactionSync(() => db.removeSync(19));
  await root.close();
  await openDegraded(dataDir, 'corrupt');
});

test('damage in an old page is recognised when a proof is made of it, and never served', async () => {
  const dataDir = await logOf(600);
  const root = openDatabase(join(dataDir, 'ledger.mdb'), { maxDbs: 8 });
  const db = root.openDB({ name: 'pages', encoding: 'binary' });
  const bytes = Buffer.from(db.getBinary([0, 0])!);
  bytes[0]! ^= 1;
  root.transactionSync(() => db.putSync([0, 0], bytes));
  await root.close();
  const ledger = await open(dataDir);
  expect((await ledger.status()).health.state).toBe('ok');
  expect(await codeOf(ledger.inclusion({ leaf_index: 1 }))).toBe('UNAVAILABLE');
  expect((await ledger.status()).health).toMatchObject({ state: 'degraded', fault: 'corrupt' });
  expect(await codeOf(ledger.append([entry(1000)]))).toBe('UNAVAILABLE');
});

test.each(['anchor.json', 'journal.ndjson', 'keys', 'siem.mdb'])(
  'a folder with %s but no ledger has lost its log, and no new one is begun',
  async (trace) => {
    const dataDir = await logOf(3);
    writeFileSync(join(dataDir, 'siem.mdb'), 'x');
    for (const name of readdirSync(dataDir))
      if (name !== trace) rmSync(join(dataDir, name), { recursive: true });
    const ledger = await openDegraded(dataDir, 'lost');
    expect(await codeOf(ledger.head())).toBe('UNAVAILABLE');
    expect(await codeOf(ledger.inclusion({ leaf_index: 0 }))).toBe('UNAVAILABLE');
    expect((await ledger.status()).size).toBe(0);
    await ledger.close();
    expect(existsSync(join(dataDir, 'ledger.mdb'))).toBe(false);
    await openDegraded(dataDir, 'lost');
  },
);

test('an emptied database beside the keys is lost too', async () => {
  const dataDir = await logOf(3);
  truncateSync(join(dataDir, 'ledger.mdb'), 0);
  await openDegraded(dataDir, 'lost');
});

test('lost and damaged key files are recognised', async () => {
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
  expect((await ledger.keys()).length).toBeGreaterThanOrEqual(2); // the others are still served
  await ledger.close();
  const stolen = { ...JSON.parse(files[0]!.toString()), x: JSON.parse(files[1]!.toString()).x };
  writeFileSync(join(keys, names[0]!), JSON.stringify(stolen));
  await openDegraded(dataDir, 'corrupt');
});

test('a half-written anchor beside the whole one is ignored; one in its place is recognised', async () => {
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
  rmSync(join(dataDir, 'anchor.json')); // as after a crash before the first anchor
  expect((await (await open(dataDir)).status()).health.state).toBe('ok');
});

test('a journal line that a crash cut short harms nobody', async () => {
  const dataDir = await logOf(3);
  const path = join(dataDir, 'journal.ndjson');
  writeFileSync(path, `${readFileSync(path, 'utf8')}{"at":"2025-`);
  await (await open(dataDir)).close();
  const lines = readFileSync(path, 'utf8').split('\n');
  expect(lines[1]).toBe('{"at":"2025-');
  expect(JSON.parse(lines[2]!)).toMatchObject({ event: 'start', head: { tree_size: 3 } });
});

test.each([0.1, 0.3, 0.5, 0.7, 0.9, 0.97])(
  'a database cut to %f of its length is recognised',
  async (part) => {
    const dataDir = await logOf(1500);
    const path = join(dataDir, 'ledger.mdb');
    truncateSync(path, Math.floor(statSync(path).size * part));
    const ledger = await open(dataDir);
    const { health } = await ledger.status();
    if (health.state === 'ok') await checkAll(ledger);
    else expect(health).toMatchObject({ fault: expect.stringMatching(/corrupt|rollback/) });
  },
);

test('garbage where the database was is recognised', async () => {
  const dataDir = await logOf(3);
  writeFileSync(join(dataDir, 'ledger.mdb'), Buffer.alloc(65_536, 7));
  await openDegraded(dataDir, 'corrupt');
});
