import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { connRecords } from '../../../bench/conn-records.ts';
import { openDatabase } from '../../../src/database/lmdb.ts';
import { BlockBuilder } from '../../../src/events/format/block-builder.ts';
import { tables } from '../../../src/events/format/columns.ts';
import type { Table } from '../../../src/events/records.ts';
import { writeEventJson } from '../../../src/events/resource.ts';
import { EventStore } from '../../../src/events/store/event-store.ts';
import { limits } from '../../../src/limits.ts';
import { inspectStore } from '../../../src/store/inspect.ts';
import type { StoreReader } from '../../../src/store/store.ts';
import { openTables } from '../../../src/store/tables.ts';
import { type EventStoreUnderTest, eventStoreConformance, receivedAt } from './event-store.conformance.ts';
import { mergeSmall } from './merge-small.ts';

function open() {
  const folder = mkdtempSync(join(tmpdir(), 'candor-events-'));
  const env = openDatabase(join(folder, 'siem.mdb'));
  // Two instances, as in the writer and a reader: the caches of one instance must not affect the other.
  const writer = new EventStore(env);
  const events = new EventStore(env);
  const append = (table: Table, records: Iterable<Parameters<BlockBuilder<Table>['add']>[0]>) => {
    const builder = new BlockBuilder(table, receivedAt);
    for (const record of records) builder.add(record);
    return env.transactionSync(() => writer.append(builder.finish()));
  };
  const close = async () => {
    await env.close();
    rmSync(folder, { recursive: true });
  };
  return { env, folder, writer, events, append, close };
}

async function create(): Promise<EventStoreUnderTest> {
  const { writer, events, append, close } = open();
  return {
    reader: {
      listEvents: (query) => events.list(query),
      eventHistogram: (query) => events.histogram(query),
      getEvent: ((table: Table, id: string) => events.get(table, id)) as StoreReader['getEvent'],
      replayEvents: (table, since, filter, limit) => events.replay(table, since, filter, limit),
      head: (channel) => events.head(channel === 'events.dns' ? 'dns' : 'network'),
    },
    async append(table, records) {
      const { committed, duplicates } = append(table, records);
      return { firstSeq: committed.first_seq, rows: committed.rows, duplicates };
    },
    async settle() {
      while (tables.some((table) => mergeSmall(writer, table)));
    },
    close,
  };
}

eventStoreConformance('EventStore', create);

describe('EventStore', () => {
  it('merges small blocks into few blocks with the same number of rows and fewer bytes', async () => {
    const { writer, events, append, close } = open();
    const records = [...connRecords(12_000)];
    for (let i = 0; i < records.length; i += 40) append('network', records.slice(i, i + 40));
    expect(events.blocks()).toBe(300);
    const bytes = events.bytes();
    let steps = 0;
    while (mergeSmall(writer, 'network')) expect(++steps).toBeLessThan(100);
    expect(events.blocks()).toBeLessThan(12);
    expect(events.bytes()).toBeLessThan(bytes);
    expect(events.counts()).toEqual({ network: 12_000, dns: 0 });
    await close();
  });

  it('merges the blocks of bodies of 10,000 lines into nearly full blocks, each row at most twice', async () => {
    const { env, folder, writer, events, append, close } = open();
    const bodies = 8;
    const records = [...connRecords(10_000)];
    const digest = () => {
      const digest = createHash('sha256');
      for (const { block } of events.rows('network', 1))
        for (let row = 0; row < block.rows; row++) digest.update(writeEventJson(block, row));
      return digest.digest('hex');
    };
    for (let body = 0; body < bodies; body++) {
      append('network', records.slice(0, limits.maxBlockRows));
      append('network', records.slice(limits.maxBlockRows));
    }
    const filter = { terms: [{ field: 'dst_port', values: [443] }] };
    const found = () => events.list({ table: 'network', filter, order: 'desc', page: 1, per_page: 9 });
    const before = digest();
    const listed = found();
    expect(listed.total).toBeGreaterThan(0);
    const rewritten = new Uint8Array(1 + bodies * records.length);
    while (mergeSmall(writer, 'network')) {
      const [first, end] = events.blockStore.state('network').replaced!.at(-1) as [number, number];
      expect(end - first).toBeLessThanOrEqual(2 * limits.maxBlockRows);
      for (let seq = first; seq < end; seq++) rewritten[seq]!++;
      expect(found()).toEqual(listed);
    }
    expect(rewritten.reduce((a, b) => Math.max(a, b))).toBe(2);
    expect(bodies * records.length).toBeGreaterThan(7000 * events.blocks());
    expect(digest()).toBe(before);
    openTables(env);
    expect((await inspectStore(folder, () => undefined)).events.network).toBe(bodies * records.length);
    await close();
  });

  it('yields each row once if blocks are merged in between', async () => {
    const { writer, append, close } = open();
    const records = [...connRecords(10)];
    for (let block = 0; block < 40; block++) append('network', records);
    const seqs: number[] = [];
    for (const { block, first, end } of writer.rows('network', 3, 399)) {
      for (let row = first; row < end; row++) seqs.push(block.firstSeq + row);
      mergeSmall(writer, 'network');
    }
    expect(seqs).toEqual(Array.from({ length: 396 }, (_, i) => 3 + i));
    await close();
  });

  it('returns which rows were stored if some rows are duplicates', async () => {
    const { append, close } = open();
    const id = (n: number) => `0190a7b0-0000-7000-8000-00000000000${n}`;
    const [plain] = [...connRecords(1)];
    append('network', [{ ...plain!, id: id(1) }]);
    const { committed, kept, duplicates } = append('network', [
      plain!,
      { ...plain!, id: id(1) },
      { ...plain!, id: id(2) },
      { ...plain!, id: id(2) },
      plain!,
    ]);
    expect({ rows: committed.rows, kept: [...kept!], duplicates }).toEqual({
      rows: 3,
      kept: [0, 2, 4],
      duplicates: 2,
    });
    await close();
  });

  it('replays one part of the store at a time if few events match, without missing events', async () => {
    const { events, append, close } = open();
    const records = [...connRecords(60)];
    for (let n = 0; n < 60; n += 10) append('network', records.slice(n, n + 10));
    const wanted = records[57]!.connection_id!;
    const filter = { terms: [{ field: 'connection_id', values: [wanted] }] };
    const steps: number[] = [];
    const found: number[] = [];
    for (let since = 0; since < 60; ) {
      const part = events.replay('network', since, filter, 10, 20);
      found.push(...part.events.map(({ seq }) => seq));
      since = part.next;
      steps.push(since);
    }
    expect(steps).toEqual([20, 40, 60]);
    expect(found).toEqual([58]);
    await close();
  });

  it('ends a cancelled query between two blocks', async () => {
    const { env, append, close } = open();
    append('network', connRecords(10));
    append('network', connRecords(10));
    let asked = 0;
    const reading = new EventStore(env, () => ++asked > 1);
    const query = { table: 'network', order: 'desc', page: 1, per_page: 10 } as const;
    const filter = { terms: [{ field: 'src_port', values: [1] }] };
    expect(() => reading.list({ ...query, filter })).toThrow(expect.objectContaining({ code: 'CANCELLED' }));
    expect(asked).toBe(2);
    await close();
  });

  it('forgets the blocks of an aborted transaction', async () => {
    const { env, writer, events, append, close } = open();
    const records = [...connRecords(5)];
    append('network', records);
    const id = '0190a7b0-0000-7000-8000-000000000001';
    expect(() =>
      env.transactionSync(() => {
        const builder = new BlockBuilder('network', receivedAt);
        builder.add({ ...records[0]!, id });
        writer.append(builder.finish());
        throw new Error('undone');
      }),
    ).toThrow('undone');
    writer.reload();
    expect(events.counts().network).toBe(5);
    expect(events.get('network', id)).toBeUndefined();
    expect(append('network', [{ ...records[0]!, id }])).toMatchObject({
      duplicates: 0,
      committed: { first_seq: 6 },
    });
    await close();
  });
});
