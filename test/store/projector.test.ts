import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { expect, onTestFinished, test, vi } from 'vitest';
import { newDetectors } from '../../src/detect/behaviour/detectors.ts';
import { BlockBuilder } from '../../src/events/format/block-builder.ts';
import { limits } from '../../src/limits.ts';
import type { Delta, FromProjector, ProjectorPort } from '../../src/projections/delta.ts';
import { openProjector } from '../../src/store/open-projector.ts';
import { projectorThread, type ThreadSettings } from '../../src/store/projector-thread.ts';
import { openReader } from '../../src/store/reader.ts';
import type { IngestBatch } from '../../src/store/store.ts';
import { noProjector } from '../../src/store/waiting-projector.ts';
import { openStore, type StoreOptions } from '../../src/store/writer.ts';
import { everything as wholeGraph } from '../topology/store/plain-graph.ts';
import { batchOf, everything, hour, start } from './opened.ts';
import { networkRecord } from './records.ts';

type Receive = (message: FromProjector) => void;

/** Answered connections to `count` home hosts from the number `first` on. */
function connections(first: number, count: number): IngestBatch {
  const blocks: ArrayBuffer[] = [];
  for (let at = first; at < first + count; at += limits.maxBlockRows) {
    const network = new BlockBuilder('network', start);
    for (let host = at; host < Math.min(at + limits.maxBlockRows, first + count); host++)
      network.add(
        networkRecord({
          timestamp: start,
          dst_ip: `10.${host >> 16}.${(host >> 8) & 255}.${host & 255}`,
          ...{ transport: 'tcp', state: 'closed', direction: 'inbound' },
        }),
      );
    blocks.push(network.finish());
  }
  return batchOf([], { blocks });
}

function folder(): string {
  const dataDir = mkdtempSync(join(tmpdir(), 'candor-projector-'));
  onTestFinished(() => rmSync(dataDir, { recursive: true, force: true }));
  return dataDir;
}

function openedStore(dataDir: string, projector?: NonNullable<StoreOptions['projector']>) {
  const store = openStore({
    dataDir,
    alertWindowMs: hour,
    home: ['10.0.0.0/8'],
    ...(projector === undefined ? {} : { projector }),
  });
  const reader = openReader(dataDir);
  onTestFinished(async () => {
    reader.close();
    await store.close();
  });
  const assets = () => reader.listAssets({ ...everything, per_page: 1 }).total;
  return { store, reader, assets };
}

const inThisThread = (settings: ThreadSettings, receive: Receive): ProjectorPort =>
  openProjector(settings, newDetectors, receive);

/** A projector whose messages wait until `release` is called. */
function held() {
  const messages: FromProjector[] = [];
  let deliver: Receive | undefined;
  let isHeld = true;
  const projector = (settings: ThreadSettings, receive: Receive): ProjectorPort => {
    deliver = receive;
    return inThisThread(settings, (message) => {
      if (isHeld) messages.push(message);
      else receive(message);
    });
  };
  const release = () => {
    isHeld = false;
    for (const message of messages.splice(0)) deliver!(message);
  };
  return { projector, release, messages };
}

const clocks = { now: start, believed: start };

/** A projector without a store, started at the first event. */
function projectorOf(dataDir: string) {
  const messages: FromProjector[] = [];
  const settings = { dataDir, home: ['10.0.0.0/8'], eventsPerDetectorState: 1e9 };
  const port = openProjector(settings, newDetectors, (message) => messages.push(message));
  onTestFinished(() => port.close());
  port.send({ kind: 'start', start: 1, from: { network: 1, dns: 1 }, skipped: [], suspects: [], clocks });
  return { port, messages };
}

const deltasIn = (messages: readonly FromProjector[]): Delta[] =>
  messages.flatMap((message) => (message.kind === 'delta' ? [message.delta] : []));

test('a commit is answered before its events are processed, and their results appear together with the processed position', async () => {
  const { projector, release, messages } = held();
  const { store, assets } = openedStore(folder(), projector);
  const { answer } = await store.commit(connections(0, 3));
  expect(answer.accepted).toBe(0);
  await vi.waitFor(() => expect(deltasIn(messages)).toHaveLength(1), 60_000);
  expect((await store.status()).uncounted_events).toBe(3);
  expect(assets()).toBe(0);
  release();
  await store.processed();
  expect((await store.status()).uncounted_events).toBe(0);
  expect(assets()).toBe(3);
});

test('an urgent change does not wait for the projector', async () => {
  const { projector, release } = held();
  const { store } = openedStore(folder(), projector);
  await store.commit(connections(0, 3));
  await store.addAudit([]);
  release();
});

test('at most two deltas are sent before one is committed; each ends early if it has many hosts', async () => {
  const dataDir = folder();
  const { store } = openedStore(dataDir, noProjector);
  const count = 4 * limits.maxBlockRows;
  await store.commit(connections(0, count));
  const { port, messages } = projectorOf(dataDir);
  const to = { network: count + 1, dns: 1 };
  port.send({ kind: 'advance', to, clocks, isBoundary: false, isAwaited: false });
  await vi.waitFor(() => expect(deltasIn(messages)).toHaveLength(2), 60_000);
  await setTimeout(50);
  expect(deltasIn(messages)).toHaveLength(2);
  while (deltasIn(messages).at(-1)!.to.network < to.network) {
    const before = deltasIn(messages).length;
    port.send({ kind: 'committed', costMs: 0 });
    await vi.waitFor(() => expect(deltasIn(messages).length).toBeGreaterThan(before), 60_000);
  }
  const deltas = deltasIn(messages);
  const [first, ...later] = deltas.map(({ from, to: end }) => end.network - from.network);
  expect(first).toBe(limits.maxBlockRows);
  expect(Math.max(...later)).toBeLessThan(limits.maxBlockRows / 2);
  expect(deltas.slice(1).map(({ from }) => from)).toEqual(deltas.slice(0, -1).map(({ to: end }) => end));
  expect(deltas.flatMap(({ passes }) => passes.flatMap(({ hosts }) => hosts))).toHaveLength(count);
  port.send({ kind: 'finish' });
  await vi.waitFor(() => expect(messages.at(-1)).toEqual({ kind: 'finished' }), 60_000);
  expect(
    deltasIn(messages)
      .at(-1)!
      .states.map(([detector]) => detector),
  ).toContain('port-scan');
});

test('a pass does not cross the end of a batch with sightings', async () => {
  const dataDir = folder();
  const { store } = openedStore(dataDir, noProjector);
  await store.commit(connections(0, 40));
  const { port, messages } = projectorOf(dataDir);
  for (const [network, isBoundary] of [
    [11, true],
    [21, false],
    [31, true],
    [41, false],
  ] as const)
    port.send({ kind: 'advance', to: { network, dns: 1 }, clocks, isBoundary, isAwaited: false });
  await vi.waitFor(() => expect(deltasIn(messages).at(-1)?.to.network).toBe(41), 60_000);
  const ends = deltasIn(messages).flatMap(({ passes }) => passes.map(({ to }) => to));
  expect(ends).toEqual([11, 31, 41]);
});

test('a stop while deltas wait neither loses events nor counts them twice', async () => {
  const dataDir = folder();
  const { projector, messages } = held();
  const first = openedStore(dataDir, (settings, receive) => {
    const port = projector(settings, receive);
    // The last delta and the end of the projector arrive, as if the store had not received the deltas before.
    return {
      ...port,
      send: (message) => (message.kind === 'finish' ? receive({ kind: 'finished' }) : port.send(message)),
    };
  });
  await first.store.commit(connections(0, 20));
  await vi.waitFor(() => expect(deltasIn(messages).length).toBeGreaterThan(0), 60_000);
  await first.store.close();
  const second = openedStore(dataDir);
  await second.store.processed();
  expect(second.assets()).toBe(20);
  const { edges } = second.reader.topology(wholeGraph);
  expect(edges.reduce((sum, { connections }) => sum + connections, 0)).toBe(20);
});

test('the projector runs in a thread of its own, and starts with the first event', async () => {
  const started = vi.fn(projectorThread);
  const { store, assets } = openedStore(folder(), started);
  await store.addAudit([]);
  expect(started).not.toHaveBeenCalled();
  for (let batch = 0; batch < 5; batch++) await store.commit(connections(10 * batch, 10));
  await store.processed();
  expect(started).toHaveBeenCalledOnce();
  expect(assets()).toBe(50);
  await store.close();
});
