/** Retention in the store: removed and remaining events, log entries, and concurrent reads. */
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import type { Alert } from '../../../src/contract/resources/alert.ts';
import { entryData } from '../../../src/contract/resources/log-entry-data.ts';
import type { NetworkEvent } from '../../../src/contract/resources/network-event.ts';
import { validate } from '../../../src/contract/validate.ts';
import { newDetectors } from '../../../src/detect/behaviour/detectors.ts';
import { BlockBuilder } from '../../../src/events/format/block-builder.ts';
import type { NetworkRecord } from '../../../src/events/records.ts';
import { type KeptClock, RetentionClock } from '../../../src/events/store/retention-clock.ts';
import { limits } from '../../../src/limits.ts';
import { inspectStore } from '../../../src/store/inspect.ts';
import { openReader } from '../../../src/store/reader.ts';
import type { Store, StoreReader } from '../../../src/store/store.ts';
import type { Tables } from '../../../src/store/tables.ts';
import { openStore } from '../../../src/store/writer.ts';
import { EveryFifth } from '../../detect/store/behaviour/every-fifth.ts';
import { dnsRecord } from '../../rollups/store/dns-records.ts';
import { batchOf, everything, finding, hour, opened, resources, start } from '../../store/opened.ts';
import { networkRecord } from '../../store/records.ts';

const day = 24 * hour;
const patience = { timeout: 60_000, interval: 20 };
const maxAgeMs = 10 * day;
const withoutBytes = 2 ** 37;

function block(receivedAt: number, records: readonly Partial<NetworkRecord>[]): ArrayBuffer {
  const builder = new BlockBuilder('network', receivedAt);
  for (const record of records) builder.add(networkRecord({ timestamp: start, ...record }));
  return builder.finish();
}

function add(store: Store, receivedAt: number, records: readonly Partial<NetworkRecord>[]) {
  return store.commit(batchOf([], { blocks: [block(receivedAt, records)] }));
}

const query = { table: 'network', filter: { terms: [] }, order: 'asc', per_page: 1000, page: 1 } as const;
const ports = (reader: StoreReader) =>
  resources<NetworkEvent>(reader.listEvents(query)).map(({ attributes }) => attributes.src_port);
const id = (n: number) => `0190a7b0-0000-4000-8000-${String(n).padStart(12, '0')}`;

test('events expire by their time of receipt, regardless of their own time', async () => {
  const { store, reader, clock } = opened({ retention: { maxAgeMs, maxBytes: withoutBytes } });
  await add(store, start - 11 * day, [{ src_port: 1 }, { src_port: 2, timestamp: Date.UTC(2100, 0) }]);
  await add(store, start - 9 * day, [{ src_port: 3, timestamp: 0 }]);
  await add(store, start, [{ src_port: 4, timestamp: Date.UTC(2100, 0) }]);
  await vi.waitFor(() => expect(ports(reader)).toEqual([3, 4]), patience);
  clock.now += 2 * day;
  await vi.waitFor(() => expect(ports(reader)).toEqual([4]), patience);
  const { retention, events } = await store.status();
  expect(events).toEqual({ network: 1, dns: 0 });
  expect(retention).toMatchObject({
    max_age_ms: maxAgeMs,
    max_bytes: withoutBytes,
    oldest: { network: start },
    expired: [{ table: 'network', reason: 'age', events: 3 }],
  });
});

test('a clock jump, even before a start, expires no events immediately; elapsed time does', async () => {
  const steady = { now: 0 };
  const terms = { maxAgeMs, maxBytes: withoutBytes };
  const { store, reader, clock, dataDir } = opened({ retention: terms, steadyMs: () => steady.now });
  await add(store, start - 9 * day, [{ src_port: 1 }]);
  await add(store, start, [{ src_port: 2 }]);
  await setTimeout(2 * limits.retentionLookMs);
  clock.now += 90 * day;
  await add(store, clock.now, [{ src_port: 3 }]);
  await setTimeout(2 * limits.retentionLookMs);
  expect(ports(reader)).toEqual([1, 2, 3]);
  expect((await store.status()).retention.clock_behind_ms).toBe(90 * day);
  await store.close();

  const again = openStore({
    dataDir,
    alertWindowMs: hour,
    clock: () => clock.now,
    steadyMs: () => steady.now,
    retention: terms,
  });
  onTestFinished(() => again.close());
  await setTimeout(2 * limits.retentionLookMs);
  expect(ports(reader)).toEqual([1, 2, 3]);
  steady.now += hour;
  await setTimeout(2 * limits.retentionLookMs);
  expect(ports(reader)).toEqual([1, 2, 3]);
  steady.now += hour;
  await vi.waitFor(() => expect(ports(reader)).toEqual([2, 3]), patience);
  clock.now -= 90 * day;
  expect((await again.status()).retention.clock_behind_ms).toBe(0);
  steady.now += 100 * day;
  await setTimeout(2 * limits.retentionLookMs);
  expect(ports(reader)).toEqual([2, 3]);
});

describe('the retention clock', () => {
  const open = (newest: number | undefined, at = { host: start, steady: 0.25 }) => {
    let kept: KeptClock | undefined;
    const retentionState = { get: () => kept, putSync: (_key: string, value: KeptClock) => (kept = value) };
    const tables = { retentionState } as unknown as Pick<Tables, 'retentionState'>;
    const made = () =>
      new RetentionClock({ tables, now: () => at.host, steadyMs: () => at.steady, newest: () => newest });
    return { at, made, clock: made(), kept: () => kept };
  };
  const pass = (at: { host: number; steady: number }, ms: number) => {
    at.host += ms;
    at.steady += ms;
  };

  test('follows any host clock while there are no events', () => {
    const { at, clock } = open(undefined, { host: 0, steady: 0 });
    pass(at, 30_000);
    expect(clock.now()).toBe(30_000);
    at.host = start;
    expect([clock.now(), clock.behindMs]).toEqual([start, 0]);
  });

  test('continues from its previous time after the host’s clock was set back and corrected', () => {
    const { at, clock } = open(start - 1000);
    pass(at, hour);
    expect(clock.now()).toBe(start + hour);
    at.host = 0;
    pass(at, 60_000);
    expect(clock.now()).toBe(60_000);
    clock.write();
    at.host = start + hour + 60_000;
    expect([clock.now(), clock.behindMs]).toEqual([start + hour, 60_000]);
    pass(at, 10_000);
    expect(clock.behindMs).toBe(0);
  });

  test('accepts a lasting jump of any size, even across restarts', () => {
    const { at, clock, made, kept } = open(start);
    at.host += 10_000 * day;
    pass(at, day);
    expect(clock.behindMs).toBeGreaterThan(9900 * day);
    clock.write();
    expect(Object.values(kept()!).every(Number.isInteger)).toBe(true);
    const again = made();
    pass(at, limits.retentionLeapMs - day - hour);
    expect(again.behindMs).toBeGreaterThan(9800 * day);
    pass(at, hour);
    expect([again.now(), again.behindMs]).toEqual([at.host, 0]);
  });
});

test('events are kept if no bounds are set', async () => {
  const { store, reader } = opened();
  await add(store, 0, [{ src_port: 1 }]);
  await store.close();
  expect(ports(reader)).toEqual([1]);
});

test('an expired event is not found; its id stays in use if the service assigned it, and can be reused if the sender chose it', async () => {
  const { store, reader, clock, dataDir } = opened({ retention: { maxAgeMs, maxBytes: withoutBytes } });
  await add(store, start, [{ src_port: 1 }, { src_port: 2, id: id(2) }, { src_port: 3, id: id(3) }]);
  const [made] = resources(reader.listEvents(query));
  expect(reader.isPast('network', made!.id)).toBe(false);
  clock.now += 11 * day;
  await vi.waitFor(() => expect(ports(reader)).toEqual([]), patience);
  expect([made!.id, id(2)].map((one) => reader.getEvent('network', one))).toEqual([undefined, undefined]);
  expect([made!.id, id(2), id(9)].map((one) => reader.isPast('network', one))).toEqual([true, false, false]);
  expect(reader.isPast('dns', made!.id)).toBe(false);

  const again = [
    { src_port: 4, id: made!.id },
    { src_port: 5, id: id(2).toUpperCase() },
  ];
  const { answer } = await add(store, clock.now, again);
  expect(answer.duplicates).toBe(1);
  expect(reader.getEvent('network', id(2))).toMatchObject({ src_port: 5 });
  expect(reader.getEvent('network', made!.id)).toBeUndefined();
  expect((await add(store, clock.now, [{ src_port: 6, id: id(2) }])).answer.duplicates).toBe(1);
  await store.close();
  await inspectStore(dataDir, () => undefined);
});

test('an alert outlives its events', async () => {
  const { store, reader, clock } = opened({ retention: { maxAgeMs, maxBytes: withoutBytes } });
  const seen = finding({ severity: 'high', event: { block: 0, row: 0 } });
  const { alerts } = await store.commit(batchOf([seen], { blocks: [block(start, [{}])] }));
  const [eventId] = alerts[0]!.alert.event_ids;
  expect(reader.getEvent('network', eventId!)).toBeDefined();
  clock.now += 11 * day;
  await vi.waitFor(() => expect(reader.getEvent('network', eventId!)).toBeUndefined(), patience);
  expect(reader.isPast('network', eventId!)).toBe(true);
  expect(reader.getAlert(alerts[0]!.alert.id)).toMatchObject({ event_ids: [eventId] });
});

test('a list continues after removed events, and a replay reports their number', async () => {
  const { store, reader, clock } = opened({ retention: { maxAgeMs, maxBytes: withoutBytes } });
  for (const [n, ago] of [9, 9, 5, 5].entries()) {
    const records = Array.from({ length: 10 }, (_, i) => ({
      src_port: 10 * n + i,
      timestamp: start + 10 * n + i,
    }));
    await add(store, start - ago * day, records);
  }
  const pageOf = (order: 'asc' | 'desc', cursor?: string) => {
    const { json, ...page } = reader.listEvents({
      ...query,
      order,
      per_page: 15,
      ...(cursor === undefined ? {} : { cursor }),
    });
    return { ...page, ports: resources<NetworkEvent>({ json }).map(({ attributes }) => attributes.src_port) };
  };
  const first = { asc: pageOf('asc'), desc: pageOf('desc') };
  const count = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => from + i);
  clock.now += 2 * day;
  await vi.waitFor(() => expect(ports(reader)).toEqual(count(20, 40)), patience);

  const second = pageOf('asc', first.asc.next_cursor!);
  expect(second).toMatchObject({ ports: count(20, 35), total: 40, page: 2 });
  const third = pageOf('asc', second.next_cursor!);
  expect(third.ports).toEqual(count(35, 40));
  expect(third.next_cursor).toBeUndefined();
  const back = pageOf('desc', first.desc.next_cursor!);
  expect(back.ports).toEqual(count(20, 25).toReversed());
  expect(back.next_cursor).toBeUndefined();

  const replay = (since: number) => reader.replayEvents('network', since, { terms: [] }, 3);
  expect(replay(5)).toMatchObject({ lost: 15, head: 40, events: [{ seq: 21 }, { seq: 22 }, { seq: 23 }] });
  expect(replay(20)).toMatchObject({ lost: 0, events: [{ seq: 21 }, { seq: 22 }, { seq: 23 }] });
  clock.now += 10 * day;
  await vi.waitFor(() => expect(ports(reader)).toEqual([]), patience);
  expect(replay(5)).toMatchObject({ lost: 35, head: 40, next: 40, events: [] });
});

test('the oldest events are removed above the bound in bytes; a flood of one table leaves the other table its share', async () => {
  const maxBytes = 2 ** 20;
  const { store, reader, dataDir } = opened({ retention: { maxAgeMs: 0, maxBytes } });
  const dns = new BlockBuilder('dns', start - day);
  dns.add(dnsRecord({ query: 'example.org' }));
  await store.commit(batchOf([], { blocks: [dns.finish()] }));
  let sent = 0;
  for (let n = 0; n < 60; n++) {
    const text = `${n}-${'x'.repeat(40)}`;
    await add(
      store,
      start + n,
      Array.from({ length: 1000 }, (_, i) => ({ src_port: n, connection_id: `${text}${i * 7919}` })),
    );
    sent += 1000;
  }
  await vi.waitFor(async () => {
    const { retention } = await store.status();
    expect(retention.event_bytes).toBeLessThanOrEqual(maxBytes);
    expect(retention.expired).toHaveLength(1);
  }, patience);
  const { events, retention } = await store.status();
  expect(events.dns).toBe(1);
  expect(events.network).toBeGreaterThan(1000);
  expect(retention.event_bytes).toBeGreaterThan(maxBytes / 2);
  expect(retention.expired).toMatchObject([{ table: 'network', reason: 'bytes', events: sent - events.network }]);
  const left = resources<NetworkEvent>(reader.listEvents({ ...query, order: 'desc', per_page: 1 }));
  expect(left[0]!.attributes.src_port).toBe(59);
  await store.close();
  expect((await inspectStore(dataDir, () => undefined)).events).toEqual(events);
});

test('removals are logged immediately, then in at most one entry an hour, even across a restart', async () => {
  const open = opened({ retention: { maxAgeMs, maxBytes: withoutBytes } });
  const { dataDir, reader, clock } = open;
  let store: Store = open.store;
  const expired = async () =>
    (await store.outbox(100)).filter(({ kind }) => kind === 'events.expired').map(({ data }) => data);
  const old = () => clock.now - 11 * day;
  await add(store, old(), [{}, {}]);
  await vi.waitFor(async () => expect(await expired()).toHaveLength(1), patience);
  const received = new Date(start - 11 * day).toISOString();
  const first = { table: 'network', reason: 'age', from_seq: 1, to_seq: 3, count: 2 };
  const [told] = await expired();
  expect(told).toMatchObject({ ...first, oldest: received, newest: received });
  expect(told).toEqual(validate(entryData['events.expired'], told));
  expect((await store.outbox(1))[0]).toMatchObject({
    actor: 'system',
    subject: { type: 'event_table', id: 'network' },
  });

  for (let n = 0; n < 3; n++) {
    clock.now += 1000;
    await add(store, old(), [{}]);
    await vi.waitFor(() => expect(ports(reader)).toEqual([]), patience);
  }
  expect(await expired()).toHaveLength(1);
  await store.close();
  clock.now += hour;
  store = openStore({
    ...{ dataDir, alertWindowMs: hour, clock: () => clock.now },
    retention: { maxAgeMs, maxBytes: withoutBytes },
  });
  await vi.waitFor(async () => expect(await expired()).toHaveLength(2), patience);
  expect((await expired())[1]).toMatchObject({
    ...{ from_seq: 3, to_seq: 6, count: 3 },
    oldest: new Date(start + 1000 - 11 * day).toISOString(),
    newest: new Date(start + 3000 - 11 * day).toISOString(),
  });
  await store.close();
});

test('while the log does not accept entries, events are removed, and their counts are reported later', async () => {
  const { store, reader } = opened({ maxOutboxRows: 1, retention: { maxAgeMs, maxBytes: withoutBytes } });
  await store.commit(batchOf([finding({ severity: 'high' })]));
  const [waiting] = await store.outbox(10);
  await add(store, start - 11 * day, [{}]);
  await vi.waitFor(() => expect(ports(reader)).toEqual([]), patience);
  expect(await store.outbox(10)).toEqual([waiting]);
  await store.settle([{ id: waiting!.id, leaf_index: 0, tree_size: 1, leaf_hash: 'ab'.repeat(32) }]);
  await vi.waitFor(async () => expect(await store.outbox(10)).toMatchObject([{ kind: 'events.expired' }]), patience);
});

test('a start that replays events to detectors replays the remaining events', async () => {
  const terms = {
    detectors: () => [new EveryFifth(), ...newDetectors()],
    eventsPerDetectorState: 10 ** 9,
    retention: { maxAgeMs, maxBytes: withoutBytes },
  };
  const { store, reader, clock } = opened(terms);
  const flows = (from: number, to: number) =>
    Array.from({ length: to - from }, (_, i) => ({ src_port: from + i, connection_id: `C${from + i}` }));
  await add(store, start - 9 * day, flows(0, 700));
  await add(store, start, flows(700, 702));
  clock.now += 2 * day;
  await vi.waitFor(async () => expect((await store.status()).events.network).toBe(2), patience);
  expect(reader.listAlerts(everything).total).toBeGreaterThan(0);
  // The copy is as after a crash: no detector has written its state.
  const copy = mkdtempSync(join(tmpdir(), 'candor-retention-'));
  onTestFinished(() => rmSync(copy, { recursive: true }));
  await store.copyTo(copy);

  const again = openStore({ dataDir: copy, alertWindowMs: hour, clock: () => clock.now, ...terms });
  const copied = openReader(copy);
  const counts = () =>
    resources<Alert>(copied.listAlerts(everything))
      .filter(({ attributes }) => attributes.title === 'Every fifth')
      .map(({ attributes }) => attributes.count);
  const before = counts();
  await add(again, clock.now, flows(702, 705));
  await vi.waitFor(() => expect(counts()).not.toEqual(before), patience);
  expect((await again.status()).events.network).toBe(5);
  copied.close();
  await again.close();
  await inspectStore(copy, () => undefined);
});

test('only as many events as needed are removed, even if their ids take much of the space', async () => {
  const { store, dataDir } = opened({ retention: { maxAgeMs: 0, maxBytes: withoutBytes } });
  const blocks = 24;
  const rows = 2000;
  for (let n = 0; n < blocks; n++) {
    const records = Array.from({ length: rows }, (_, row) => ({ src_port: row, id: randomUUID() }));
    await add(store, start + n * day, records);
  }
  const { retention } = await store.status();
  await store.close();
  const bound = Math.floor(retention.event_bytes * 0.6);
  const bounded = openStore({ dataDir, alertWindowMs: hour, retention: { maxAgeMs: 0, maxBytes: bound } });
  onTestFinished(() => bounded.close());
  const bytes = async () => (await bounded.status()).retention.event_bytes;
  await vi.waitFor(async () => expect(await bytes()).toBeLessThanOrEqual(bound), patience);
  expect(await bytes()).toBeGreaterThan(bound - (4 * retention.event_bytes) / blocks);
});
