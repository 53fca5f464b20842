/** Notices of committed changes: when the store emits them, and what they contain. */
import { expect, test, vi } from 'vitest';
import { criticalEvent } from '../../src/contract/critical-events.ts';
import { BlockBuilder } from '../../src/events/format/block-builder.ts';
import type { Store } from '../../src/store/store.ts';
import { openStore } from '../../src/store/writer.ts';
import { EveryFifth } from '../detect/store/behaviour/every-fifth.ts';
import { alertsIn, analyst, batchOf, finding, hour, opened, start } from './opened.ts';
import { networkRecord } from './records.ts';

/** Returns a batch with a finding that refers to a missing event. Such a bug in a caller aborts the transaction. */
const bug = () => batchOf([finding({ event: { block: 7, row: 0 } })]);

const revoked = () => criticalEvent('token.revoked', 'jti', {}, 'system');

function flows(count: number) {
  const builder = new BlockBuilder('network', start);
  for (let n = 0; n < count; n++) builder.add(networkRecord({ timestamp: start + n }));
  return batchOf([], { blocks: [builder.finish()] });
}

async function withAlert(options: Parameters<typeof opened>[0] = {}) {
  const open = opened(options);
  const { alerts } = await open.store.commit(batchOf([finding()]));
  const before = open.notices.length;
  /** Returns the notices since the alert was raised. */
  const announced = () => open.notices.slice(before);
  return { ...open, id: alerts[0]!.alert.id, announced };
}

async function settleAll(store: Pick<Store, 'outbox' | 'settle'>): Promise<void> {
  const rows = await store.outbox(100);
  await store.settle(
    rows.map(({ id }, i) => ({ id, leaf_index: i, tree_size: rows.length, leaf_hash: '00'.repeat(32) })),
  );
}

test('a notice is emitted after the flush and before the call resolves', async () => {
  const order: string[] = [];
  const { store, reader } = opened({
    onCommitted({ alerts }) {
      for (const { alert } of alerts) order.push(`stored ${reader.getAlert(alert.id)?.rule_id}, announced`);
    },
  });
  await store.commit(batchOf([finding({ rule_id: 'a' })]));
  order.push('answered');
  expect(order).toEqual(['stored a, announced', 'answered']);
});

test('calls that share a transaction share a notice, which has their changes in order', async () => {
  const { store, id, announced } = await withAlert();
  await Promise.all([
    store.addNote(id, 'x', analyst),
    store.record(revoked()),
    store.changeAlert(id, { assignee: 'ana' }, analyst),
  ]);
  expect(announced()).toMatchObject([
    {
      alerts: [
        { seq: 2, alert: { id, note_count: 1 } },
        { seq: 3, alert: { id, assignee: 'ana' } },
      ],
      scans: [],
      heads: { alerts: 3, topology: 0 },
      outbox: 1,
    },
  ]);
});

test('a notice has the number of critical events that wait for the log', async () => {
  const { store, id, announced } = await withAlert();
  await store.record(revoked());
  await store.record(revoked());
  await settleAll(store);
  await store.addNote(id, 'x', analyst);
  expect(announced().map(({ alerts, outbox }) => [alerts.length, outbox])).toEqual([
    [0, 1],
    [0, 2],
    [1, 0],
  ]);
});

test('a notice has the sequence of the last change of the graph', async () => {
  const { store, reader, notices } = opened();
  for (const seq of [1, 2]) {
    const builder = new BlockBuilder('network', start);
    builder.add(networkRecord({ src_ip: '10.0.0.1', dst_ip: `203.0.113.${seq}`, direction: 'outbound' }));
    await store.commit(batchOf([], { blocks: [builder.finish()] }));
    await vi.waitFor(() => expect(notices.at(-1)?.heads.topology).toBe(seq), 60_000);
    expect(reader.head('topology')).toBe(seq);
  }
});

test('alerts that the store raises after a commit are announced without another call', async () => {
  const { store, notices } = opened({ detectors: () => [new EveryFifth()] });
  await store.commit(flows(6));
  await vi.waitFor(
    () => expect(alertsIn(notices)).toMatchObject([{ seq: 1, alert: { rule_source: 'behaviour' } }]),
    60_000,
  );
});

test('a rejected call emits no notice', async () => {
  const { store, id, announced } = await withAlert();
  await expect(store.addNote('unknown', 'x', analyst)).rejects.toMatchObject({ code: 'NOT_FOUND' });
  const results = await Promise.allSettled([
    store.changeAlert(id, { status: 'archived' }, analyst),
    store.addNote(id, 'x', analyst),
  ]);
  expect(results.map(({ status }) => status)).toEqual(['rejected', 'fulfilled']);
  expect(announced()).toMatchObject([{ alerts: [{ seq: 2, alert: { status: 'new', note_count: 1 } }] }]);
});

test('a call that is rejected because the disk is full emits no notice', async () => {
  let free = 2 ** 40;
  const { store, id, announced } = await withAlert({ freeBytes: () => free });
  free = 0;
  await expect(store.addNote(id, 'x', analyst)).rejects.toMatchObject({
    code: 'UNAVAILABLE',
    details: { reason: 'disk_full' },
  });
  expect(announced()).toEqual([]);
  free = 2 ** 40;
});

test('an aborted transaction emits no notice', async () => {
  const { store, announced } = await withAlert();
  await expect(store.commit(bug())).rejects.toThrow();
  expect(announced()).toEqual([]);
});

test('calls that are applied again after an aborted transaction are announced once', async () => {
  const { store, id, announced } = await withAlert();
  const results = await Promise.allSettled([
    store.addNote(id, 'x', analyst),
    store.record(revoked()),
    store.commit(bug()),
    store.changeAlert(id, { assignee: 'ana' }, analyst),
  ]);
  expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected', 'fulfilled']);
  expect(announced()).toMatchObject([
    {
      alerts: [
        { seq: 2, alert: { id, note_count: 1 } },
        { seq: 3, alert: { id, assignee: 'ana' } },
      ],
      heads: { alerts: 3 },
      outbox: 1,
    },
  ]);
});

test('a critical event is announced after an aborted transaction, even if the outbox was empty', async () => {
  const { store, announced } = await withAlert();
  await store.record(revoked());
  await settleAll(store);
  await expect(store.commit(bug())).rejects.toThrow();
  await store.record(revoked());
  expect(announced().map(({ outbox }) => outbox)).toEqual([1, 1]);
});

test('a store that is opened emits the heads of the stored changes', async () => {
  const { dataDir, store, reader, notices, id } = await withAlert();
  const processed = { network: 1, dns: 1 };
  expect(notices[0]).toEqual({ alerts: [], scans: [], heads: { alerts: 0, topology: 0 }, processed, outbox: 0 });
  await store.changeAlert(id, { severity: 'high' }, analyst);
  reader.close();
  await store.close();
  const again: unknown[] = [];
  const reopened = openStore({
    dataDir,
    alertWindowMs: hour,
    clock: () => start,
    onCommitted: (notice) => again.push(notice),
  });
  expect(again[0]).toEqual({ alerts: [], scans: [], heads: { alerts: 2, topology: 0 }, processed, outbox: 1 });
  await reopened.close();
});
