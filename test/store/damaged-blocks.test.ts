import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { zstdDecompressSync } from 'node:zlib';
import { ABORT } from 'lmdb';
import { afterAll, expect, test } from 'vitest';
import { connRecords, mulberry32 } from '../../bench/conn-records.ts';
import { openDatabase } from '../../src/database/lmdb.ts';
import { isDamage } from '../../src/database/rows.ts';
import { BlockBuilder } from '../../src/events/format/block-builder.ts';
import { columnIndex } from '../../src/events/format/columns.ts';
import { EventStore } from '../../src/events/store/event-store.ts';
import { StoreScrub } from '../../src/store/store-scrub.ts';
import { openTables } from '../../src/store/tables.ts';
import { mergeSmall } from '../events/store/merge-small.ts';
import { batchOf, opened } from './opened.ts';

const rowsPerBlock = 40;
const blocks = 6;
const folder = mkdtempSync(join(tmpdir(), 'candor-damaged-'));
const env = openDatabase(join(folder, 'siem.mdb'));
const headers = env.openDB<Buffer, number[]>({ name: 'event-headers', encoding: 'binary' });
const parts = env.openDB<Buffer, number[]>({ name: 'event-parts', encoding: 'binary' });
afterAll(async () => {
  await env.close();
  rmSync(folder, { recursive: true });
});

const writer = new EventStore(env);
const records = [...connRecords(rowsPerBlock * blocks)];
for (let i = 0; i < records.length; i += rowsPerBlock) {
  const builder = new BlockBuilder('network', Date.UTC(2026, 0, 1 + i / rowsPerBlock));
  for (const record of records.slice(i, i + rowsPerBlock)) builder.add(record);
  env.transactionSync(() => writer.append(builder.finish()));
}

/** Runs an action in a transaction that is then aborted. */
const undone = (action: () => void) =>
  env.transactionSync(() => {
    action();
    return ABORT;
  });

function flip(value: Buffer, bit: number): Buffer {
  const flipped = Buffer.from(value);
  flipped[bit >>> 3]! ^= 1 << (bit & 7);
  return flipped;
}

/** Appends a block of this many rows, all received on one day. */
function appendSmall(store: EventStore, rows: number): void {
  const builder = new BlockBuilder('network', Date.UTC(2026, 0, 20));
  for (const record of records.slice(0, rows)) builder.add(record);
  store.append(builder.finish());
}

interface Event {
  readonly id: string;
}

/** Returns all reads of events. */
function reads(events: EventStore): Record<string, () => unknown> {
  const all = { table: 'network', filter: { terms: [] }, order: 'asc', per_page: 1000, page: 1 } as const;
  const list = () => JSON.parse(Buffer.from(events.list(all).json).toString()) as Event[];
  return {
    list,
    export: () => Buffer.from(events.export({ ...all }).lines).toString(),
    histogram: () => events.histogram({ table: 'network', filter: { terms: [] }, buckets: 7, now: 0 }),
    values: () => events.valueCounts({ table: 'network', filter: { terms: [] }, by: 'dst_ip', limit: 9 }),
    replay: () => events.replay('network', 0, { terms: [] }, 1000).events.map(({ data }) => data),
    rows: () => [...events.rows('network', 1)].map(({ block, first, end }) => [block.firstSeq, first, end]),
  };
}

const whole = Object.entries(reads(new EventStore(env))).map(([name, read]) => [name, read()] as const);
/** Ids of the events in the order of their sequence. */
const ids = new EventStore(env).replay('network', 0, { terms: [] }, 1000).events.map(({ id }) => id);

/**
 * Checks all reads after a change: each result must be as before, or the damaged block is named and set
 * aside, and the other blocks are served.
 */
function judge(change: () => void): boolean {
  let isFound = false;
  undone(() => {
    change();
    const after = reads(new EventStore(env));
    for (const [name, before] of whole) {
      if (name === 'rows') continue; // the read sets damaged blocks aside
      try {
        expect(after[name]!()).toEqual(before);
      } catch (error) {
        if (!isDamage(error)) throw error;
        const { block } = error.details as { readonly block: number };
        const store = new EventStore(env);
        isFound = store.check('network', block) || isFound;
        const [range] = store.damage('network');
        expect(range).toMatchObject({ firstSeq: block, rows: rowsPerBlock });
        const rest = reads(store).list!() as Event[];
        const gone = ids.slice(range!.firstSeq - 1, range!.firstSeq - 1 + range!.rows);
        expect(new Set(rest.map(({ id }) => id))).toEqual(new Set(ids.filter((id) => !gone.includes(id))));
        expect(() => store.get('network', gone[0]!)).toThrow(/is damaged/);
        expect(store.counts().network).toBe(ids.length - rowsPerBlock);
        return;
      }
    }
    // Not every read needs every part.
    for (let block = 0; block < blocks; block++)
      isFound = new EventStore(env).check('network', 1 + rowsPerBlock * block) || isFound;
  });
  return isFound;
}

const random = mulberry32(11);
const below = (n: number) => Math.floor(random() * n);

test.each([
  ['a header', headers],
  ['a part', parts],
] as const)('a flipped bit of %s is found, the block is set aside, and the other blocks are served', (_, table) => {
  const keys = [...table.getKeys()];
  let found = 0;
  for (let n = 0; n < 150; n++) {
    const key = keys[below(keys.length)]!;
    const value = Buffer.from(table.get(key)!);
    const bit = below(8 * value.length);
    if (judge(() => table.putSync(key, flip(value, bit)))) found++;
  }
  expect(found).toBe(150);
});

test('a missing header, and a header under another key, are found', () => {
  for (const key of [...headers.getKeys()]) {
    const value = Buffer.from(headers.get(key)!);
    expect(judge(() => headers.removeSync(key))).toBe(true);
    undone(() => {
      headers.removeSync(key);
      headers.putSync([key[0]!, key[1]! + 1], value);
      const store = new EventStore(env);
      const read = [...store.rows('network', 1)].map(({ block }) => block.firstSeq);
      expect(read).toHaveLength(blocks - 1);
      expect(store.damage('network').reduce((sum, { rows }) => sum + rows, 0)).toBe(rowsPerBlock);
    });
  }
});

test('visiting some columns sets a block aside only if one of these columns is damaged', () => {
  const times = columnIndex.network.get('timestamp')!;
  const unread = columnIndex.network.get('dst_port')!;
  /** Returns the visited rows by the first sequence of their block. */
  const visited = (store: EventStore, from: number, to: number) => {
    const rows = new Map<number, readonly number[]>();
    store.visit('network', from, to, (block, first, end) => {
      const read = Array.from({ length: end - first }, (_, n) => block.numbers('timestamp').at(first + n));
      rows.set(block.firstSeq, read);
    });
    return rows;
  };
  const sound = visited(new EventStore(env), 30, 130);
  expect([...sound].map(([seq, read]) => [seq, read.length])).toEqual([
    [1, 11],
    [41, 40],
    [81, 40],
    [121, 9],
  ]);
  const flipPart = (column: number) => {
    const key = [0, 81, 2 * column];
    parts.putSync(key, flip(Buffer.from(parts.get(key)!), 5));
  };
  undone(() => {
    flipPart(unread);
    const store = new EventStore(env);
    expect(visited(store, 30, 130)).toEqual(sound);
    expect(store.damage('network')).toEqual([]);
  });
  undone(() => {
    flipPart(times);
    const store = new EventStore(env);
    expect(visited(store, 30, 130)).toEqual(new Map([...sound].filter(([seq]) => seq !== 81)));
    expect(store.damage('network')).toMatchObject([{ firstSeq: 81, rows: rowsPerBlock }]);
  });
});

test('a merge sets a damaged block aside, and does not join the blocks around it', () => {
  undone(() => {
    const store = new EventStore(env);
    for (let n = 0; n < 13; n++) appendSmall(store, 7);
    const key = [0, 269, 2 * columnIndex.network.get('timestamp')!];
    parts.putSync(key, flip(Buffer.from(parts.get(key)!), 5));
    while (mergeSmall(store, 'network'));
    expect(store.damage('network')).toMatchObject([{ firstSeq: 269, rows: 7 }]);
    const left = [...store.rows('network', 241)].map(({ block }) => [block.firstSeq, block.rows]);
    expect(left).toEqual([
      [241, 28],
      [276, 56],
    ]);
  });
});

test('retention skips a block that was set aside, and removes the block together with the next block', () => {
  undone(() => {
    const [, , third] = [...headers.getKeys()];
    headers.putSync(third!, flip(Buffer.from(headers.get(third!)!), 77));
    const store = new EventStore(env);
    expect(store.check('network', third![1]!)).toBe(true);
    const left = [...store.rows('network', 1)].map(({ block }) => block.firstSeq);
    expect(left).toEqual([1, 41, 121, 161, 201]);
    for (let n = 0; n < 3; n++) store.dropOldest('network');
    expect([...store.rows('network', 1)].map(({ block }) => block.firstSeq)).toEqual([161, 201]);
    expect(store.damage('network')).toEqual([]);
    expect(store.counts().network).toBe(80);
    expect([...headers.getKeys()].map(([, seq]) => seq)).toEqual([161, 201]);
    expect([...parts.getKeys()].filter(([, seq]) => seq! < 161 && seq !== undefined)).toEqual([]);
  });
});

test('a block of an earlier version is read, and gets its checksums when it is checked', () => {
  undone(() => {
    const [key] = [...headers.getKeys()];
    const value = Buffer.from(headers.get(key!)!);
    const length = value.readUInt32LE(12);
    expect(value.length).toBeGreaterThan(length);
    headers.putSync(key!, value.subarray(0, length));
    const store = new EventStore(env);
    expect(reads(store).list!()).toEqual(whole[0]![1]);
    expect(store.check('network', 1)).toBe(false);
    expect(Buffer.from(headers.get(key!)!)).toEqual(value);
  });
});

test('the scrub finds nothing while blocks are merged and removed', () => {
  undone(() => {
    const store = new EventStore(env);
    const parts = { blocks: store.blockStore, tables: openTables(env), isWriter: true, now: () => 0 };
    const scrub = new StoreScrub({ ...parts, onSetAside: () => store.reload() });
    for (let steps = 0; steps < 5; steps++) scrub.step();
    for (let n = 0; n < 20; n++) {
      appendSmall(store, 7);
      scrub.step();
      if (n === 9) while (mergeSmall(store, 'network'));
      if (n === 12) store.dropOldest('network');
    }
    while (scrub.state.passEndedAt === undefined) scrub.step();
    expect(scrub.damage()).toMatchObject({ events: [], rows: [], scrub: { last_pass_damaged: 0 } });
    // The cursor is at the start of a block that is then merged into the preceding block.
    scrub.run();
    const heads = () => [...headers.getKeys()].map(([, seq]) => seq!);
    const before = heads();
    scrub.state = { ...scrub.state, passEndedAt: undefined, part: 0, next: before.at(-1) };
    for (let n = 0; n < 9; n++) appendSmall(store, 300);
    while (mergeSmall(store, 'network'));
    expect(heads()).not.toContain(before.at(-1));
    while (scrub.state.passEndedAt === undefined) scrub.step();
    expect(scrub.damage()).toMatchObject({ events: [], rows: [] });
  });
});

test('a running store finds a damaged block that no query reads', async () => {
  const { store, dataDir, clock } = opened();
  const builder = new BlockBuilder('network', clock.now);
  for (const record of records.slice(0, 10)) builder.add(record);
  await store.commit(batchOf([], { blocks: [builder.finish()] }));
  const root = openDatabase(join(dataDir, 'siem.mdb'));
  const stored = root.openDB<Buffer, number[]>({ name: 'event-parts', encoding: 'binary' });
  const [key] = [...stored.getKeys({ limit: 1 })];
  await stored.put(key!, flip(Buffer.from(stored.get(key!)!), 9));
  await root.close();
  const found = async () => (await store.status()).damage;
  await expect
    .poll(async () => (await found()).events, { timeout: 60_000 })
    .toMatchObject([{ table: 'network', firstSeq: 1, rows: 10 }]);
  expect((await found()).scrub.pass_began_at).toBe(clock.now);
});

test('the scrub adds checksums to all rows and blocks of an earlier version', async () => {
  const path = join(folder, 'older.mdb');
  writeFileSync(path, zstdDecompressSync(readFileSync(join(import.meta.dirname, 'before-sensor-ids.mdb.zst'))));
  const root = openDatabase(path);
  const store = new EventStore(root);
  const raw = (name: string) => root.openDB<Buffer, Buffer>({ name, encoding: 'binary', keyEncoding: 'binary' });
  /** Returns the tables with rows that do not end with the mark of a checksum (src/database/rows.ts). */
  const unmarked = () =>
    [...root.getKeys()].map(String).filter((name) => {
      const ends = [...raw(name).getRange()].map(({ value }) => value.subarray(-4).toString('hex'));
      return ends.some((end) => end !== 'c9a1e7b5');
    });
  const headersWithout = () =>
    [...raw('event-headers').getRange()].filter(({ value }) => value.length === value.readUInt32LE(12)).length;
  expect(unmarked()).toEqual(expect.arrayContaining(['alerts', 'assets', 'outbox', 'principal-names']));
  expect(headersWithout()).toBe(2);
  const scrub = new StoreScrub({
    ...{ blocks: store.blockStore, tables: openTables(root), isWriter: true, now: () => 0 },
    onSetAside: () => store.reload(),
  });
  root.transactionSync(() => scrub.run());
  expect(scrub.damage()).toMatchObject({ events: [], rows: [] });
  // Checksums of events are in their headers; each commit rewrites the state.
  expect(unmarked()).toEqual(['event-headers', 'event-ids', 'event-parts', 'event-state']);
  expect(headersWithout()).toBe(0);
  await root.close();
});

test.each([
  ['has another key', (key: Buffer) => flip(key, 100), (value: Buffer) => value],
  ['has another place', (key: Buffer) => key, (value: Buffer) => flip(value, 52)],
])('the scrub finds an index entry of an id that %s, and the id leads to its event again', (_, keyOf, placeOf) => {
  const id = '0199aa00-0000-4000-8000-000000000001';
  const index = env.openDB<Buffer, Buffer>({
    name: 'event-ids',
    encoding: 'binary',
    keyEncoding: 'binary',
  });
  undone(() => {
    const store = new EventStore(env);
    const builder = new BlockBuilder('network', Date.UTC(2026, 1, 1));
    builder.add({ ...records[0]!, id });
    store.append(builder.finish());
    const [entry] = [...index.getRange()].map(({ key, value }) => ({ key, value: Buffer.from(value) }));
    index.removeSync(entry!.key);
    index.putSync(keyOf(entry!.key), placeOf(entry!.value));
    const parts = { blocks: store.blockStore, tables: openTables(env), isWriter: true, now: () => 0 };
    const scrub = new StoreScrub({ ...parts, onSetAside: () => store.reload() });
    scrub.run();
    expect(scrub.damage()).toMatchObject({ events: [], rows: [`event-ids network ${id}`] });
    expect(new EventStore(env).get('network', id)).toMatchObject({ src_ip: expect.any(String) });
    scrub.run();
    expect(scrub.damage().rows).toEqual([]);
  });
});

test('an id whose index entry points to another event is an error, and does not return the other event', () => {
  const given = ['0199aa00-0000-4000-8000-000000000001', '0199aa00-0000-4000-8000-000000000002'] as const;
  const index = env.openDB<Buffer, Buffer>({ name: 'event-ids', encoding: 'binary', keyEncoding: 'binary' });
  undone(() => {
    const builder = new BlockBuilder('network', Date.UTC(2026, 1, 1));
    for (const [n, id] of given.entries()) builder.add({ ...records[n]!, id });
    const store = new EventStore(env);
    store.append(builder.finish());
    for (const id of given) expect(store.get('network', id)).toMatchObject({ src_ip: expect.any(String) });
    const places = [...index.getRange()].map(({ key, value }) => ({ key, value: Buffer.from(value) }));
    expect(places).toHaveLength(2);
    index.putSync(places[0]!.key, places[1]!.value);
    expect(() => store.get('network', given[0])).toThrow(/index entry.*1; see \/health/);
    expect(() => store.resource(given[0])).toThrow(/index entry/);
    expect(store.get('network', given[1])).toMatchObject({ src_ip: expect.any(String) });
  });
});
