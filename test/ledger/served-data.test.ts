import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { sha256 } from '../../src/crypto/sha256.ts';
import type { LogReader } from '../../src/ledger/ledger.ts';
import { SnapshotReader } from '../../src/ledger/reads/snapshot-reader.ts';
import { leafHash, nodeHash } from '../../src/tlog/tree.ts';
import { flipIn, flipInPlace, headRow, logOf, tamper } from './damaged-log.ts';
import { codeOf, entries, entry, folder, open } from './fixture.ts';

async function readerOf(dataDir: string): Promise<SnapshotReader> {
  const reader = await SnapshotReader.open({ dataDir });
  onTestFinished(() => reader.close());
  return reader;
}

const reads: readonly (readonly [string, (reader: LogReader) => Promise<unknown>])[] = [
  ['leaf', (reader) => reader.leaf('current', { leaf_index: 5 })],
  ['entries', (reader) => reader.entries('current', { from: 3, to: 8, page: 1, per_page: 10 })],
  ['entry bundle', (reader) => reader.entryBundle('current', 0, 256)],
  ['proof by id', (reader) => reader.inclusion('current', { entry_id: entry(5).id })],
];

test.each(reads)(
  'a %s with a flipped bit in the entry causes an error and a finding, while appends continue',
  async (_, read) => {
    const { dataDir, canonical } = await logOf(600);
    const ledger = await open(dataDir);
    const reader = await readerOf(dataDir);
    await read(reader);
    flipInPlace({ dataDir }, canonical[5]!, canonical[5]!.length - 3);
    await expect(read(reader)).rejects.toMatchObject({
      code: 'INTERNAL',
      message: expect.stringContaining('entry 5'),
      details: { reason: 'data_damaged' },
    });
    await ledger.reportReads(await reader.report());
    expect(await ledger.status()).toMatchObject({
      health: { state: 'ok' },
      findings: [{ code: 'data_damaged', message: expect.stringMatching(/entry 5 .*candor fsck.*candor rebuild/) }],
    });
    expect((await ledger.append([entry(600)]))[0]!.leaf_index).toBe(600);
    expect((await reader.leaf('current', { leaf_index: 6 })).leaf_index).toBe(6);
  },
);

test('the ledger itself serves no bundle of a damaged entry', async () => {
  const { dataDir, canonical } = await logOf(600);
  const ledger = await open(dataDir);
  flipInPlace({ dataDir }, canonical[5]!, canonical[5]!.length - 3);
  expect(await codeOf(ledger.bundle({ leaf_index: 5 }))).toBe('INTERNAL');
  expect(await codeOf(ledger.bundle({ leaf_index: 6 }))).toBe('none');
});

test('a damaged page is never used for a proof or a tile, for any damaged hash', async () => {
  const { dataDir } = await logOf(600);
  await open(dataDir);
  const wrong: string[] = [];
  for (let row = 0, columns = 256; row < 8; row++, columns /= 2) {
    const healthy = await readerOf(dataDir);
    const page = hashesOf(await healthy.tile('current', { level: 0, index: 0, width: 256 }));
    const wanted = rowOf(page, row)[columns >> 1]!;
    const repair = flipInPlace({ dataDir }, wanted, 7);
    const reader = await readerOf(dataDir);
    const index = (columns >> 1) * 2 ** row;
    const sibling = index ^ (2 ** row);
    if (row > 0 && (await codeOf(reader.inclusion('current', { leaf_index: index }))) !== 'INTERNAL')
      wrong.push(`path ${row}`);
    if ((await codeOf(reader.inclusion('current', { leaf_index: sibling }))) !== 'INTERNAL')
      wrong.push(`sibling ${row}`);
    if ((await codeOf(reader.tile('current', { level: 0, index: 0, width: 256 }))) !== 'INTERNAL')
      wrong.push(`tile ${row}`);
    repair();
    if ((await codeOf((await readerOf(dataDir)).inclusion('current', { leaf_index: sibling }))) !== 'none')
      wrong.push(`repaired ${row}`);
  }
  expect(wrong).toEqual([]);
});

test('a tile that was verified before is verified each time it is read', async () => {
  const { dataDir, canonical } = await logOf(600);
  await open(dataDir);
  const reader = await readerOf(dataDir);
  const read = (index: number) => reader.tile('current', { level: 0, index, width: 256 });
  const first = await read(0);
  await read(1); // the reader caches only the page read last
  const repair = flipInPlace({ dataDir }, leafHash(sha256, canonical[5]!), 7);
  await expect(read(0)).rejects.toMatchObject({ code: 'INTERNAL', details: { reason: 'data_damaged' } });
  repair();
  await read(1);
  expect(await read(0)).toEqual(first);
});

test('damage of the right edge or of the latest head stops appends', async () => {
  const log = await logOf(600);
  for (const [wanted, at] of [
    [log.heads[0]!.root, 3],
    [log.heads[0]!.signature, 60],
    [leafHash(sha256, log.canonical[590]!), 0],
  ] as const) {
    const ledger = await open(log.dataDir);
    const repair = flipInPlace(log, wanted, at);
    const reader = await readerOf(log.dataDir);
    expect(await codeOf(reader.inclusion('current', { leaf_index: 590 }))).toBe('INTERNAL');
    await ledger.reportReads(await reader.report());
    expect(await ledger.status()).toMatchObject({
      health: { state: 'degraded', fault: 'corrupt' },
      findings: [{ code: 'data_damaged' }],
    });
    expect(await codeOf(ledger.append([entry(1000)]))).toBe('UNAVAILABLE');
    await ledger.close();
    await reader.close();
    repair();
  }
});

test('a head of the history without a valid signature is not served, and the latest head is still served', async () => {
  const log = await logOf(300, 600);
  await open(log.dataDir);
  const reader = await readerOf(log.dataDir);
  flipInPlace(log, log.heads[0]!.signature, 60);
  expect(await codeOf(reader.heads('current', { page: 1, per_page: 10 }))).toBe('INTERNAL');
  expect(await codeOf(reader.head('current', 300))).toBe('INTERNAL');
  expect((await reader.head('current')).tree_size).toBe(600);
});

test('a latest head with a damaged key id is not served, by the ledger or a reader', async () => {
  for (const sizes of [[60], [50, 60]]) {
    const log = await logOf(...sizes);
    flipIn(log, headRow(log.heads.at(-1)!), headRow(log.heads.at(-1)!).length - 1);
    const ledger = await open(log.dataDir);
    const reader = await readerOf(log.dataDir);
    const read = () => reader.head('current');
    for (const readHead of [() => ledger.head(), read, read])
      await expect(readHead()).rejects.toMatchObject({ details: { reason: 'data_damaged' } });
    expect((await ledger.status()).health.state).toBe('degraded');
  }
});

test('heads of a lost key are served if an earlier tree-head key is active again', async () => {
  const log = await logOf(50);
  const keys = join(log.dataDir, 'keys');
  const before = Object.fromEntries(readdirSync(keys).map((name) => [name, readFileSync(join(keys, name))]));
  const ledger = await open(log.dataDir);
  await ledger.rotateKey('transparency-sth', 'admin');
  await ledger.append([entry(50)]);
  await ledger.append([entry(51)]);
  const head = await ledger.head();
  await ledger.close();
  for (const name of readdirSync(keys)) rmSync(join(keys, name));
  for (const [name, text] of Object.entries(before)) writeFileSync(join(keys, name), text);
  const degraded = await open(log.dataDir);
  expect((await degraded.status()).health).toMatchObject({ fault: 'lost' });
  expect(await degraded.head()).toEqual(head);
  expect(await (await readerOf(log.dataDir)).head('current')).toEqual(head);
});

test('an index of ids that names the wrong entry is detected', async () => {
  const { dataDir } = await logOf(600);
  await open(dataDir);
  const id = Buffer.from(entry(5).id.replaceAll('-', ''), 'hex');
  flipInPlace({ dataDir }, id, 16 + 7); // the last byte of the index that follows the id
  const reader = await readerOf(dataDir);
  expect(await codeOf(reader.inclusion('current', { entry_id: entry(5).id }))).toBe('INTERNAL');
  expect(await codeOf(reader.inclusion('current', { leaf_index: 5 }))).toBe('none');
});

test('an index of kinds that names the wrong entry is detected', async () => {
  const log = await logOf(50);
  const ledger = await open(log.dataDir);
  await ledger.rotateKey('transparency-sth', 'admin');
  const reader = await readerOf(log.dataDir);
  const read = (...kinds: string[]) => codeOf(reader.entries('current', { kinds, page: 1, per_page: 100 }));
  expect(await read('key.rotated')).toBe('none');
  const row = Buffer.alloc(6);
  row.writeUIntBE(20, 0, 6);
  await tamper(log, 'kinds', (table) => table.putSync(['key.rotated', 0], row));
  expect(await read('key.rotated')).toBe('INTERNAL');
  expect(await read('key.rotated', 'alert.raised')).toBe('INTERNAL');
  expect(await read('alert.raised')).toBe('none');
});

test('a reader sees each append as soon as the append resolves', async () => {
  const dataDir = folder();
  const ledger = await open(dataDir);
  const reader = await readerOf(dataDir);
  expect(await codeOf(reader.head('current'))).toBe('LOG_EMPTY');
  for (let size = 0; size < 600; size += 50) {
    const appended = await ledger.append(entries(size, size + 50));
    const last = appended.at(-1)!;
    expect((await reader.head('current')).tree_size).toBe(size + 50);
    for (const query of [{ entry_id: last.id }, { leaf_hash: last.leaf_hash }])
      expect((await reader.inclusion('current', query)).leaf_index).toBe(size + 49);
    expect((await reader.entries('current', { kinds: ['alert.raised'], page: 1, per_page: 1 })).total).toBe(size + 50);
    expect((await reader.heads('current', { page: 1, per_page: 1 })).total).toBe(size / 50 + 1);
  }
});

test('a head signed by a key that is new to the reader is verified with that key', async () => {
  const dataDir = folder();
  const ledger = await open(dataDir);
  await ledger.append(entries(0, 3));
  const reader = await readerOf(dataDir);
  await reader.head('current');
  await ledger.rotateKey('transparency-sth', 'admin');
  const head = await ledger.head();
  expect(await reader.head('current')).toEqual(head);
  await ledger.rotateKey('transparency-sth', 'admin');
  expect(await reader.head('current')).toEqual(await ledger.head());
});

function hashesOf(tile: Uint8Array): Uint8Array[] {
  return Array.from({ length: tile.length / 32 }, (_, i) => tile.slice(32 * i, 32 * i + 32));
}

function rowOf(hashes: readonly Uint8Array[], row: number): Uint8Array[] {
  let nodes = [...hashes];
  for (let i = 0; i < row; i++)
    nodes = nodes.filter((_, n) => n % 2 === 0).map((left, n) => nodeHash(sha256, left, nodes[2 * n + 1]!));
  return nodes;
}
