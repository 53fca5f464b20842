/** Sealed events: the rows that log entries cover, and the content and lifetime of proofs. */
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout } from 'node:timers/promises';
import { describe, expect, test, vi } from 'vitest';
import { entryData } from '../../../src/contract/resources/log-entry-data.ts';
import { validate } from '../../../src/contract/validate.ts';
import { sha256 } from '../../../src/crypto/sha256.ts';
import { openDatabase } from '../../../src/database/lmdb.ts';
import { ServiceError } from '../../../src/errors.ts';
import { columnNames, columns, tables } from '../../../src/events/format/columns.ts';
import type { Table } from '../../../src/events/records.ts';
import { BlockStore } from '../../../src/events/store/block-store.ts';
import { SealScheduler } from '../../../src/events/store/seal-scheduler.ts';
import { openReader } from '../../../src/store/reader.ts';
import type { Store, StoreReader } from '../../../src/store/store.ts';
import { databaseFile } from '../../../src/store/tables.ts';
import { openStore } from '../../../src/store/writer.ts';
import { hexToBytes } from '../../../src/tlog/hex.ts';
import { verifyInclusion } from '../../../src/tlog/proof.ts';
import { leafHash } from '../../../src/tlog/tree.ts';
import { batchOf, hour, opened, start } from '../../store/opened.ts';
import { blockOf, idAt, openSealer } from './sealing.ts';

const day = 24 * hour;

interface LoggedRange {
  readonly table: Table;
  readonly first_seq: number;
  readonly rows: number;
  readonly events_root: string;
}

const add = (store: Store, ...blocks: ArrayBuffer[]) => store.commit(batchOf([], { blocks }));

/** Returns the ranges that entries in the outbox cover, by entry id. */
async function logged(store: Store): Promise<Map<string, LoggedRange[]>> {
  const rows = (await store.outbox(100_000)).filter(({ kind }) => kind === 'events.sealed');
  for (const { data } of rows) validate(entryData['events.sealed'], data);
  return new Map(rows.map(({ id, data }) => [id, data.ranges as LoggedRange[]]));
}

/** Compares the proof of an event with the root in the outbox row of its entry. */
async function expectProven(store: Store, reader: StoreReader, table: Table, id: string): Promise<void> {
  const { attributes, seal } = reader.proveEvent(table, id)!;
  expect(attributes).toEqual(reader.getEvent(table, id));
  const range = (await logged(store))
    .get(seal.entry_id)!
    .find((one) => one.table === table && one.first_seq === seal.first_seq && one.rows === seal.rows);
  expect(Math.floor((seal.sequence - seal.first_seq) / 64)).toBe(seal.leaf_index);
  verifyInclusion(sha256, {
    leafIndex: seal.leaf_index,
    treeSize: seal.tree_size,
    leafHash: leafHash(sha256, Buffer.from(seal.piece, 'base64')),
    path: seal.audit_path.map((hash) => hexToBytes(hash, 32)),
    root: hexToBytes(range!.events_root, 32),
  });
}

const refusal = (reader: StoreReader, table: Table, id: string) => {
  try {
    reader.proveEvent(table, id);
  } catch (error) {
    const { code, details } = error as { code: string; details: { reason: string } };
    return `${code} ${details.reason}`;
  }
  return 'proven';
};

test('one entry covers the new events of both tables, and each event has a proof', async () => {
  const { store, reader } = opened();
  const sealer = await openSealer(store, reader);
  expect(await sealer.seal()).toBe(false);
  const explicit = '0190a7b0-0000-4000-8000-000000000001';
  await add(store, blockOf('network', 200, { records: [{ id: explicit }] }), blockOf('dns', 65));
  await add(store, blockOf('network', 70));
  expect(refusal(reader, 'network', explicit)).toBe('UNAVAILABLE not_sealed_yet');
  expect(await sealer.seal()).toBe(true);
  expect(await sealer.seal()).toBe(false);
  await add(store, blockOf('dns', 1));
  await sealer.seal();
  expect([...(await logged(store)).values()]).toMatchObject([
    [
      { table: 'network', first_seq: 1, rows: 270 },
      { table: 'dns', first_seq: 1, rows: 65 },
    ],
    [{ table: 'dns', first_seq: 66, rows: 1 }],
  ]);
  await expectProven(store, reader, 'network', explicit);
  for (const sequence of [2, 64, 65, 200, 201, 270])
    await expectProven(store, reader, 'network', idAt('network', sequence));
  for (const sequence of [1, 65, 66]) await expectProven(store, reader, 'dns', idAt('dns', sequence));
  expect(reader.proveEvent('network', idAt('network', 271))).toBeUndefined();
});

test('a range of several tasks and batches has one root, and merged blocks keep the proofs', async () => {
  const { store, reader } = opened();
  const sealer = await openSealer(store, reader);
  const rows = 8160;
  for (let i = 0; i < 13; i++) await add(store, blockOf('network', rows));
  await sealer.seal();
  expect([...(await logged(store)).values()]).toMatchObject([[{ first_seq: 1, rows: 13 * rows }]]);
  const sequences = [1, 8192, 8193, 98_304, 98_305, 13 * rows];
  for (const sequence of sequences) await expectProven(store, reader, 'network', idAt('network', sequence));
  for (let i = 0; i < 20; i++) await add(store, blockOf('network', 50));
  await sealer.seal();
  await vi.waitFor(async () => expect((await store.status()).blocks).toBeLessThan(13 + 20), 60_000);
  for (const sequence of [13 * rows + 1, 13 * rows + 1000])
    await expectProven(store, reader, 'network', idAt('network', sequence));
});

test('rows stored while sealing was disabled stay without a seal', async () => {
  const { store, reader } = opened();
  await add(store, blockOf('network', 10));
  const sealer = await openSealer(store, reader);
  await add(store, blockOf('network', 10));
  await sealer.close();
  await store.switchSealing(false);
  await add(store, blockOf('network', 10));
  expect(refusal(reader, 'network', idAt('network', 25))).toBe('NOT_FOUND not_sealed');
  const again = await openSealer(store, reader);
  await add(store, blockOf('network', 10));
  await again.seal();
  const ranges = [...(await logged(store)).values()].flat().map(({ first_seq, rows }) => [first_seq, rows]);
  expect(ranges).toEqual([
    [11, 10],
    [31, 10],
  ]);
  for (const sequence of [1, 25])
    expect(refusal(reader, 'network', idAt('network', sequence))).toBe('NOT_FOUND not_sealed');
  for (const sequence of [11, 31]) await expectProven(store, reader, 'network', idAt('network', sequence));
});

test('rows are not sealed while the outbox is full, and are sealed once afterwards', async () => {
  const { store, reader } = opened({ maxOutboxRows: 1 });
  const sealer = await openSealer(store, reader);
  await add(store, blockOf('network', 10));
  expect(await sealer.seal()).toBe(true);
  await add(store, blockOf('network', 10));
  expect(await sealer.seal()).toBe(false);
  const [row] = await store.outbox(1);
  await store.settle([{ id: row!.id, leaf_index: 0, leaf_hash: '00'.repeat(32) } as never]);
  expect(await sealer.seal()).toBe(true);
  expect([...(await logged(store)).values()].flat()).toMatchObject([{ first_seq: 11, rows: 10 }]);
  const [again] = await store.outbox(1);
  await store.settle([{ id: again!.id, leaf_index: 1, leaf_hash: '11'.repeat(32) } as never]);
  const sealed = reader.digestEvents('network', 1, 64)!;
  await expect(store.sealEvents([sealed])).rejects.toMatchObject({ code: 'CONFLICT' });
});

test('sealing that fails for ten intervals is reported as a finding and logged, until it succeeds', async () => {
  const { store, reader } = opened();
  const trouble: unknown[] = [];
  const conflict = new ServiceError('CONFLICT', 'not what follows');
  let fails = true;
  const sealer = (await SealScheduler.open(true, {
    store,
    reader,
    digest: async ({ table, from, maxRows }) => {
      if (fails) throw conflict;
      return reader.digestEvents(table, from, maxRows);
    },
    onTrouble: (error) => trouble.push(error),
    intervalMs: 5,
  }))!;
  await add(store, blockOf('network', 10));
  // Before the first attempt ends, the finding has no cause yet.
  const finding = { code: 'sealing_stopped', message: expect.stringContaining(conflict.message) };
  await vi.waitFor(() => expect(sealer.findings()).toMatchObject([finding]), 60_000);
  expect(trouble).toContain(conflict);
  const { sealed_at } = sealer.status();
  fails = false;
  await vi.waitFor(() => expect(sealer.status().sealed_at > sealed_at).toBe(true), 60_000);
  await sealer.close();
  expect(sealer.findings()).toEqual([]);
  expect(reader.sealedUpTo('network')).toBe(11);
});

test('an unreadable event head is reported, and sealing continues when the head is readable again', async () => {
  const { store, reader } = opened();
  const trouble: unknown[] = [];
  let fails = true;
  const head: typeof reader.head = (stream) => {
    if (fails) throw new Error('the state of the events is damaged');
    return reader.head(stream);
  };
  const sealer = (await SealScheduler.open(true, {
    store,
    reader: { ...reader, head },
    digest: async ({ table, from, maxRows }) => reader.digestEvents(table, from, maxRows),
    onTrouble: (error) => trouble.push(error),
    intervalMs: 5,
  }))!;
  await add(store, blockOf('network', 10));
  await vi.waitFor(() => expect(trouble).toContainEqual(new Error('the state of the events is damaged')), 60_000);
  fails = false;
  await vi.waitFor(() => expect(reader.sealedUpTo('network')).toBe(11), 60_000);
  await sealer.close();
});

test('a changed wall clock neither hides stopped sealing nor reports working sealing as stopped', async () => {
  const { store, reader } = opened();
  let elapsed = 0;
  let fails = false;
  const sealer = (await SealScheduler.open(true, {
    store,
    reader,
    digest: async ({ table, from, maxRows }) => {
      if (fails) throw new ServiceError('CONFLICT', 'not what follows');
      return reader.digestEvents(table, from, maxRows);
    },
    onTrouble: () => undefined,
    intervalMs: 3_600_000,
    elapsed: () => elapsed,
  }))!;
  const clock = vi.spyOn(Date, 'now');
  try {
    clock.mockReturnValue(Date.now() + 365 * 86_400_000);
    expect(sealer.findings()).toEqual([]);
    fails = true;
    await add(store, blockOf('network', 10));
    elapsed = 11 * 3_600_000;
    clock.mockReturnValue(start - 365 * 86_400_000);
    expect(sealer.findings()).toMatchObject([{ code: 'sealing_stopped' }]);
    expect(sealer.status().lag_s).toBe(11 * 3600);
  } finally {
    clock.mockRestore();
  }
  fails = false;
  await sealer.close();
  expect(sealer.findings()).toEqual([]);
});

test('a range whose entry the log has lost gets another entry, and its proofs stay the same', async () => {
  const { store, reader } = opened();
  const sealer = await openSealer(store, reader);
  await add(store, blockOf('network', 100));
  await sealer.seal();
  const [[entryId]] = [...(await logged(store))] as [[string, LoggedRange[]]];
  expect(await store.lastPositions('events', 10)).toEqual([]);
  await store.settle([{ id: entryId, leaf_index: 0, leaf_hash: '00'.repeat(32) } as never]);
  const places = await store.lastPositions('events', 10);
  expect(places).toEqual([{ kind: 'events', place: 1, entry_id: entryId }]);
  await store.logAgain(places);
  expect([...(await logged(store)).keys()]).not.toContain(entryId);
  await expectProven(store, reader, 'network', idAt('network', 100));
});

test('a proof becomes unavailable when retention removes a part of its batch, and a range is removed with its last event', async () => {
  const { store, reader, clock } = opened({ retention: { maxAgeMs: 10 * day, maxBytes: 2 ** 37 } });
  const sealer = await openSealer(store, reader);
  clock.now = start - 5 * day;
  // Blocks of different days are not merged.
  for (const [age, rows] of [
    [11, 100],
    [9, 8000],
    [8, 300],
  ] as const)
    await add(store, blockOf('network', rows, { receivedAt: start - age * day }));
  await sealer.seal();
  const proven = [1, 101, 8193, 8400].map((sequence) => idAt('network', sequence));
  for (const id of proven) await expectProven(store, reader, 'network', id);
  clock.now = start;
  await vi.waitFor(() => expect(reader.getEvent('network', proven[0]!)).toBeUndefined(), 60_000);
  expect(reader.proveEvent('network', proven[0]!)).toBeUndefined();
  expect(refusal(reader, 'network', proven[1]!)).toBe('NOT_FOUND seal_incomplete');
  for (const id of proven.slice(2)) await expectProven(store, reader, 'network', id);
  clock.now = start + 30 * day;
  await vi.waitFor(async () => expect((await store.status()).events.network).toBe(0), 60_000);
  await add(store, blockOf('network', 5, { receivedAt: clock.now }));
  await sealer.seal();
  const entries = [...(await logged(store)).keys()];
  await store.settle(entries.map((id, i) => ({ id, leaf_index: i, leaf_hash: '00'.repeat(32) }) as never));
  expect(await store.lastPositions('events', 10)).toEqual([{ kind: 'events', place: 2, entry_id: entries[1] }]);
});

/** Changes the blocks of a closed store, and updates the checksums. */
async function change(dataDir: string, work: (blocks: BlockStore) => void): Promise<void> {
  const root = openDatabase(join(dataDir, databaseFile));
  const blocks = new BlockStore(root);
  blocks.transaction(() => work(blocks));
  await root.close();
}

/** Creates and closes a store with sealed events, so that its file can be changed. */
async function sealedFolder(blocks: readonly ArrayBuffer[]): Promise<string> {
  const dataDir = mkdtempSync(join(tmpdir(), 'candor-seals-'));
  const store = openStore({ dataDir, alertWindowMs: hour, scrub: 'by hand' });
  const reader = openReader(dataDir);
  const sealer = await openSealer(store, reader);
  for (const block of blocks) await add(store, block);
  await sealer.close();
  reader.close();
  await store.close();
  return dataDir;
}

describe('an altered value', () => {
  const others: Readonly<Record<string, unknown>> = {
    id: '0190a7b0-0000-4000-8000-000000000009',
    timestamp: start + 1,
    src_ip: '192.0.2.99',
    dst_ip: '2001:db8::99',
    state: 'reset',
    direction: 'inbound',
    kind: 'query',
    source: 'zeek',
    severity: 'critical',
    answers: '[{"data":"10.0.0.9"}]',
  };

  test.each(tables)('of any column of %s events is found, despite valid checksums', async (table) => {
    const dataDir = await sealedFolder([blockOf(table, 100)]);
    const altered: string[] = [];
    const plain = { rows: 100, at: 50 };
    for (const name of columnNames[table]) {
      await change(dataDir, (store) => {
        const records: object[] = [];
        const isTold = name !== 'received_at' && name !== 'sensor_id';
        if (isTold) records[plain.at] = { [name]: others[name] ?? (isText(table, name) ? 'other' : 1) };
        const block = isTold
          ? blockOf(table, plain.rows, { records })
          : blockOf(table, plain.rows, name === 'received_at' ? { receivedAt: start + 1 } : { sensorId: 'other' });
        store.remove(1, store.verify(table, 1).header);
        store.put(1, block);
      });
      const reader = openReader(dataDir);
      if (refusal(reader, table, idAt(table, 1)) === 'INTERNAL events_altered') altered.push(name);
      reader.close();
    }
    expect(altered).toEqual(columnNames[table]);
    rmSync(dataDir, { recursive: true });
  });
});

const isText = (table: Table, name: string) =>
  ['text', 'unique'].includes((columns[table] as Record<string, { kind: string }>)[name]!.kind);

test('damaged blocks are left out of ranges, and make the proofs of their batch unavailable', async () => {
  const dataDir = await sealedFolder([]);
  const open = async () => {
    const store = openStore({ dataDir, alertWindowMs: hour, scrub: 'by hand' });
    const reader = openReader(dataDir);
    const sealer = await openSealer(store, reader);
    const close = async () => {
      await sealer.close();
      reader.close();
      await store.close();
    };
    return { store, reader, close };
  };
  const before = openStore({ dataDir, alertWindowMs: hour, scrub: 'by hand' });
  for (let i = 0; i < 4; i++) await add(before, blockOf('network', 100));
  await before.close();
  await change(dataDir, (blocks) => blocks.setAside('network', 101, 'for this test'));
  await (await open()).close();
  const sealed = await open();
  expect([...(await logged(sealed.store)).values()].flat()).toMatchObject([
    { first_seq: 1, rows: 100 },
    { first_seq: 201, rows: 200 },
  ]);
  for (const sequence of [100, 201, 400])
    await expectProven(sealed.store, sealed.reader, 'network', idAt('network', sequence));
  await sealed.close();
  await change(dataDir, (blocks) => blocks.setAside('network', 301, 'for this test'));
  const { store, reader, close } = await open();
  await expectProven(store, reader, 'network', idAt('network', 100));
  expect(refusal(reader, 'network', idAt('network', 201))).toBe('NOT_FOUND seal_incomplete');
  expect(refusal(reader, 'network', idAt('network', 301))).toBe('INTERNAL data_damaged');
  await close();
  rmSync(dataDir, { recursive: true });
});

test('kill -9 at random moments: every stored event is in one range', async () => {
  const child = new URL('event-seals-crash-child.ts', import.meta.url).pathname;
  const dataDir = mkdtempSync(join(tmpdir(), 'candor-seals-'));
  let given = 0;
  for (let round = 0; round < 2; round++) {
    const writer = spawn(process.execPath, [child, dataDir], { stdio: ['ignore', 'pipe', 'inherit'] });
    const done = new Promise((resolve) => writer.once('close', resolve));
    let lines = 0;
    for await (const line of createInterface({ input: writer.stdout })) {
      given += Number(line);
      if (++lines === 20) void setTimeout(Math.random() * 20).then(() => writer.kill('SIGKILL'));
    }
    await done;
  }
  const store = openStore({ dataDir, alertWindowMs: hour });
  const reader = openReader(dataDir);
  const sealer = await openSealer(store, reader);
  await sealer.close();
  const ranges = [...(await logged(store)).values()].flat();
  let next = 1;
  for (const { first_seq, rows } of ranges) {
    expect(first_seq).toBe(next);
    next += rows;
  }
  expect(next - 1).toBe(reader.head('events.network'));
  expect(next - 1).toBeGreaterThanOrEqual(given);
  for (const { first_seq } of ranges) await expectProven(store, reader, 'network', idAt('network', first_seq));
  reader.close();
  await store.close();
  rmSync(dataDir, { recursive: true });
});
