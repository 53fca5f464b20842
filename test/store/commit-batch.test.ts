import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { openDatabase } from '../../src/database/lmdb.ts';
import { packDerived } from '../../src/events/derived-data.ts';
import { BlockBuilder } from '../../src/events/format/block-builder.ts';
import type { NetworkRecord } from '../../src/events/records.ts';
import { limits } from '../../src/limits.ts';
import type { EventListQuery } from '../../src/store/store.ts';
import { openStore } from '../../src/store/writer.ts';
import { alertsIn, analyst, batchOf, everything, finding, hour, opened, resources, start } from './opened.ts';
import { networkRecord } from './records.ts';

const allEvents: EventListQuery = {
  table: 'network',
  filter: { terms: [] },
  order: 'asc',
  per_page: 1000,
  page: 1,
};

function block(records: readonly NetworkRecord[]): ArrayBuffer {
  const builder = new BlockBuilder('network', start);
  for (const record of records) builder.add(record);
  return builder.finish();
}

const answer = (accepted: number) => ({ accepted, rejected: 0, ignored: 0, duplicates: 0, errors: [] });

describe('a batch', () => {
  test('is rejected while the volume has only its reserve; small changes and known keys are still accepted', async () => {
    let free = limits.minFreeDiskBytes;
    const { store, reader } = opened({ freeBytes: () => free });
    const known = { blocks: [block([networkRecord()])], ...packDerived({ findings: [finding()] }), answer: answer(2) };
    const idempotency = { key: 'k', digest: 'd' };
    const { alerts } = await store.commit({ ...known, idempotency });
    free--;
    const more = { blocks: [block([networkRecord()])], answer: answer(1) };
    await expect(store.commit(more)).rejects.toMatchObject({
      code: 'UNAVAILABLE',
      details: { reason: 'disk_full' },
    });
    expect(reader.listEvents(allEvents).total).toBe(1);
    await store.addNote(alerts[0]!.alert.id, 'out of space', analyst);
    expect(await store.commit({ ...known, idempotency })).toMatchObject({ replayed: true });
    free++;
    const again = { blocks: [block([networkRecord()])], answer: answer(1) };
    expect(await store.commit(again)).toMatchObject({ answer: answer(1) });
  });

  test('commits events, alerts with their sample, outbox rows and the response together', async () => {
    const { store, reader, notices } = opened();
    const findings = [finding({ severity: 'high', event: { block: 1, row: 1 } })];
    const committed = await store.commit({
      blocks: [block([networkRecord()]), block([networkRecord(), networkRecord()])],
      ...packDerived({ findings }),
      answer: answer(3),
    });
    expect(committed).toMatchObject({
      answer: answer(3),
      replayed: false,
      blocks: [
        { table: 'network', first_seq: 1, rows: 1 },
        { table: 'network', first_seq: 2, rows: 2 },
      ],
    });
    expect(notices).toContainEqual(expect.objectContaining({ alerts: committed.alerts, outbox: 1 }));
    const { event_ids } = committed.alerts[0]!.alert;
    expect(event_ids).toHaveLength(1);
    expect(reader.getEvent('network', event_ids[0]!)).toMatchObject({ src_ip: '192.0.2.1' });
    expect(reader.listEvents(allEvents).total).toBe(3);
    expect(reader.head('events.network')).toBe(3);
    expect(await store.status()).toMatchObject({
      events: { network: 3, dns: 0 },
      blocks: 2,
      alerts: 1,
      outbox: 1,
    });
  });

  test('counts events with known ids, and their findings, as duplicates', async () => {
    const { store, reader } = opened();
    const id = '01900000-0000-7000-8000-000000000001';
    const other = '01900000-0000-7000-8000-000000000002';
    const first = await store.commit({
      blocks: [block([networkRecord({ id })])],
      ...packDerived({ findings: [finding({ event: { block: 0, row: 0 } })] }),
      answer: answer(1),
    });
    expect(first.alerts[0]?.alert.event_ids).toEqual([id]);
    const second = await store.commit({
      blocks: [block([networkRecord({ id }), networkRecord({ id: other }), networkRecord({ id })])],
      ...packDerived({ findings: [0, 1, 2].map((row) => finding({ event: { block: 0, row } })) }),
      answer: answer(3),
    });
    expect(second.answer).toEqual({ ...answer(1), duplicates: 2 });
    expect(first).not.toHaveProperty('refused');
    expect(second.refused).toEqual([{ block: 0, kept: Uint32Array.of(1) }]);
    expect(second.alerts).toMatchObject([{ alert: { count: 2, event_ids: [id, other] } }]);
    expect(reader.listEvents(allEvents).total).toBe(2);
  });

  test('that has only duplicates does not publish a block', async () => {
    const { store } = opened();
    const again = () =>
      store.commit({
        blocks: [block([networkRecord({ id: '01900000-0000-7000-8000-000000000001' })])],
        answer: answer(1),
      });
    await again();
    expect(await again()).toMatchObject({ blocks: [], answer: { accepted: 0, duplicates: 1 } });
  });

  test('gives an alert a bounded sample: the first events and the latest', async () => {
    const { store } = opened();
    const rows = limits.maxAlertEventIds * 3;
    const findings = Array.from({ length: rows }, (_, row) =>
      finding({ timestamp: start + row, event: { block: 0, row } }),
    );
    const committed = await store.commit({
      blocks: [block(Array.from({ length: rows }, (_, i) => networkRecord({ timestamp: start + i })))],
      ...packDerived({ findings }),
      answer: answer(rows),
    });
    const { event_ids, count } = committed.alerts[0]!.alert;
    expect(count).toBe(rows);
    expect(event_ids).toHaveLength(limits.maxAlertEventIds);
    const times = event_ids.map((id) => Number.parseInt(id.replace('-', '').slice(0, 12), 16) - start);
    const half = limits.maxAlertEventIds / 2;
    expect(times).toEqual([
      ...Array.from({ length: half }, (_, i) => i),
      ...Array.from({ length: half }, (_, i) => rows - half + i),
    ]);
  });

  test('that is invalid fails without affecting other batches', async () => {
    const { store, reader } = opened();
    const good = () => store.commit({ blocks: [block([networkRecord()])], answer: answer(1) });
    const results = await Promise.allSettled([
      good(),
      store.commit(batchOf([finding()], { blocks: [new ArrayBuffer(3)] })),
      good(),
    ]);
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect(reader.listEvents(allEvents).total).toBe(2);
    expect(reader.listAlerts(everything).total).toBe(0);
    expect(reader.head('events.network')).toBe(2);
  });

  test('shares flushes with concurrent batches, and gets a separate result', async () => {
    const { store, reader, notices, dataDir } = opened();
    const transactions = () => {
      root.resetReadTxn();
      return (root.getStats() as { lastTxnId: number }).lastTxnId;
    };
    const root = openDatabase(join(dataDir, 'siem.mdb'), { readOnly: true });
    onTestFinished(() => root.close());
    const before = transactions();
    const committed = await Promise.all(
      Array.from({ length: 200 }, (_, i) =>
        store.commit({
          blocks: [block([networkRecord({ src_port: i })])],
          ...packDerived({ findings: [finding({ rule_id: `1:${i}`, event: { block: 0, row: 0 } })] }),
          answer: answer(1),
        }),
      ),
    );
    // The batches take one transaction; background merges of their blocks may take further transactions.
    expect(transactions() - before).toBeLessThanOrEqual(10);
    expect(committed.map(({ blocks }) => blocks[0]?.first_seq)).toEqual(Array.from({ length: 200 }, (_, i) => i + 1));
    const alerts = alertsIn(notices);
    expect(alerts.map(({ seq }) => seq)).toEqual(Array.from({ length: 200 }, (_, i) => i + 1));
    for (const [i, { alert }] of alerts.entries())
      expect(reader.getEvent('network', alert.event_ids[0]!)).toMatchObject({ src_port: i });
  });

  test('shares a transaction with few other batches if its explicit ids may change many pages', async () => {
    const { store, reader } = opened();
    const commit = (rows: number) => {
      const records = Array.from({ length: rows }, () => networkRecord({ id: randomUUID() }));
      return store.commitOnly({ blocks: [block(records)], answer: answer(rows) });
    };
    await commit(limits.maxBlockRows);
    await commit(limits.maxBlockRows);
    const before = reader.head('events.network');
    // The ids of each batch may change most of the pages of the index, which has about 1 MB.
    const commits = Array.from({ length: 60 }, () => commit(500));
    await commits[0];
    expect(reader.head('events.network') - before).toBeLessThan(60 * 500);
    await Promise.all(commits);
    expect(reader.head('events.network') - before).toBe(60 * 500);
  });
});

test('small blocks are merged in the background, and lists stay the same', async () => {
  const { store, reader } = opened();
  for (let i = 0; i < 40; i++)
    await store.commit({
      blocks: [block([networkRecord({ src_port: i })])],
      answer: answer(1),
    });
  const before = resources(reader.listEvents(allEvents));
  await vi.waitFor(async () => expect((await store.status()).blocks).toBeLessThan(10), 60_000);
  expect(resources(reader.listEvents(allEvents))).toEqual(before);
  expect(await store.status()).toMatchObject({ events: { network: 40 } });
});

describe('an Idempotency-Key', () => {
  const idempotency = { key: 'sensor-1 abc', digest: 'd1' };
  const batch = (more = {}) => ({
    blocks: [block([networkRecord()])],
    ...packDerived({ findings: [finding()] }),
    answer: answer(1),
    idempotency,
    ...more,
  });

  test('that was used before gets the first response, and the events are stored once', async () => {
    const { store, reader } = opened();
    const first = await store.commit(batch());
    const second = await store.commit(batch({ answer: answer(99) }));
    expect(second).toEqual({ answer: first.answer, replayed: true, blocks: [], alerts: [] });
    expect(reader.listEvents(allEvents).total).toBe(1);
  });

  test('that is sent twice at the same time stores the events once', async () => {
    const { store, reader } = opened();
    const both = await Promise.all([store.commit(batch()), store.commit(batch())]);
    expect(both.map(({ replayed }) => replayed)).toEqual([false, true]);
    expect(reader.listEvents(allEvents).total).toBe(1);
  });

  test('that is sent with another body is a CONFLICT', async () => {
    const { store } = opened();
    await store.commit(batch());
    await expect(store.commit(batch({ idempotency: { ...idempotency, digest: 'd2' } }))).rejects.toMatchObject({
      code: 'CONFLICT',
    });
  });

  test('is valid across a restart, for a day', async () => {
    const { store, reader, clock, dataDir } = opened();
    await store.commit(batch());
    reader.close();
    await store.close();
    const now = () => clock.now;
    const again = openStore({ dataDir, alertWindowMs: hour, clock: now, steadyMs: now });
    clock.now += limits.idempotencyTtlMs - 1;
    expect(await again.commit(batch())).toMatchObject({ replayed: true });
    clock.now += 1;
    expect(await again.commit(batch({ idempotency: { ...idempotency, digest: 'd2' } }))).toMatchObject({
      replayed: false,
    });
    expect(await again.commit(batch({ idempotency: { ...idempotency, digest: 'd2' } }))).toMatchObject({
      replayed: true,
    });
    await again.close();
  });

  test('may have any length and content', async () => {
    const { store } = opened();
    const key = '\u0000\ud800'.repeat(5000);
    const call = () => store.commit(batchOf([], { idempotency: { key, digest: 'd' } }));
    expect([(await call()).replayed, (await call()).replayed]).toEqual([false, true]);
  });
});
