import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { replayTopology } from '../../../src/analytics/topology.ts';
import type { TopologyUpdate } from '../../../src/contract/resources/topology.ts';
import { openDatabase } from '../../../src/database/lmdb.ts';
import { openReader } from '../../../src/store/reader.ts';
import { databaseFile, openTables } from '../../../src/store/tables.ts';
import { EdgeFold } from '../../../src/topology/model/edge-fold.ts';
import { encodeSegments } from '../../../src/topology/model/segment.ts';
import { copySegments, graphState } from '../../../src/topology/store/segments.ts';
import { Topology, type TopologyOptions } from '../../../src/topology/store/topology.ts';
import { factOf } from '../rows.ts';
import { comparable, everything } from './plain-graph.ts';

const hour = 3_600_000;
const start = Date.UTC(2026, 0, 1);

function opened(most: NonNullable<TopologyOptions['most']> = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'candor-topology-'));
  const root = openDatabase(join(folder, databaseFile));
  const tables = openTables(root);
  const transaction = (write: () => void) => root.transactionSync(write);
  const open = () => new Topology({ tables, seed: 5, transaction, most });
  const topology = open();
  const reader = openReader(folder);
  onTestFinished(async () => {
    reader.close();
    await root.close();
    rmSync(folder, { recursive: true });
  });
  const fold = new EdgeFold(() => start + 1e12);
  const flow = (src: string, dst: string, at = start) =>
    fold.flow(
      factOf({
        src,
        dst,
        srcHome: true,
        dstHome: dst.startsWith('10.'),
        answered: true,
        port: 22,
        app: 'ssh',
        connections: 1,
        bytes: 10,
        first: at,
        last: at,
      }),
    );
  const write = (into = topology) => {
    into.take({ edges: encodeSegments(fold.edges) });
    fold.clear();
    into.write();
  };
  const commit = (into = topology) => transaction(() => write(into));
  const connections = (query = {}) =>
    reader.topology({ ...everything, ...query }).edges.reduce((sum, edge) => sum + edge.connections, 0);
  return { topology, tables, transaction, open, reader, flow, write, commit, connections };
}

it('above the row limit the oldest hours are removed: requests for these hours return days, and state the wider range', () => {
  const { topology, reader, flow, commit, connections } = opened({ hourRows: 100 });
  for (let at = 0; at < 24 * 20; at++) {
    flow('10.0.0.1', '10.0.0.2', start + at * hour);
    commit();
    while (topology.mergeSome());
  }
  expect(connections()).toBe(480);
  const old = { ...everything, from: start + 5 * hour, to: start + 6 * hour };
  expect(reader.topology(old)).toMatchObject({
    from: new Date(start).toISOString(),
    to: new Date(start + 24 * hour).toISOString(),
    edges: [{ connections: 24 }],
  });
  expect(connections({ from: start + 478 * hour, to: start + 479 * hour })).toBe(1);
  expect(connections({ from: start + 5 * hour, to: start + 478 * hour })).toBe(478);
  expect(topology.reached).toEqual({ maxTopologyHourRows: expect.any(Number) });
});

it('above the row limit days are removed as well: requests for older ranges return the whole graph', () => {
  const { topology, reader, flow, commit } = opened({ hourRows: 20, dayRows: 20 });
  for (let day = 0; day < 300; day++) {
    flow('10.0.0.1', '10.0.0.2', start + day * 24 * hour);
    commit();
    while (topology.mergeSome());
  }
  const graph = reader.topology({ ...everything, from: start, to: start + hour });
  expect(graph.edges).toMatchObject([{ connections: 300 }]);
  expect(graph).not.toHaveProperty('from');
  const late = reader.topology({ ...everything, from: start + 295 * 24 * hour });
  expect(late.edges).toMatchObject([{ connections: 5 }]);
  expect(Object.keys(topology.reached).sort()).toEqual(['maxTopologyDayRows', 'maxTopologyHourRows']);
});

/**
 * Adds the edges of `count` hosts in one transaction. After enough steps (writes), the store adds the edges to the
 * runs.
 */
function addedToRuns({ transaction, flow, write }: ReturnType<typeof opened>, count: number, steps: number): void {
  transaction(() => {
    for (let step = 0; step < steps; step++) {
      for (let n = step === 0 ? 0 : count - 1; n < count; n++) flow('10.0.0.1', `10.1.${n >> 8}.${n & 255}`);
      write();
    }
  });
}

it('unmerged rows of one hour do not cause the removal of the hour', () => {
  const graph = opened({ hourRows: 40_000, dayRows: 40_000 });
  const { topology, reader, connections } = graph;
  for (let times = 0; times < 30; times++) {
    addedToRuns(graph, 1500, 128);
    topology.mergeSome();
  }
  expect(topology.reached).toEqual({});
  const range = { from: start, to: start + hour };
  expect(reader.topology({ ...everything, ...range })).toMatchObject({ to: new Date(range.to).toISOString() });
  expect(connections(range)).toBe(30 * 1627);
});

it('without background merging, each write merges some runs, so that there are few runs', () => {
  const graph = opened({ edges: 1000, hourRows: 1000, dayRows: 1000 });
  const { tables, connections } = graph;
  for (let times = 0; times < 30; times++) {
    const { nextId } = graphState(tables);
    addedToRuns(graph, 500, 512);
    const { runs, nextId: next } = graphState(tables);
    for (const level of Object.values(runs)) expect(level.length).toBeLessThanOrEqual(3);
    // Each write adds one segment per level, and the results of its merges.
    expect(next - nextId).toBeLessThanOrEqual(9);
  }
  expect(connections({ from: start, to: start + hour })).toBe(30 * 1011);
});

it('new edges above the limit are collapsed without loss of traffic, and the graph is marked as truncated', () => {
  const { topology, reader, flow, commit, connections } = opened({ edges: 50 });
  for (let i = 0; i < 200; i++) {
    flow(`10.0.0.${i}`, `203.0.${i}.1`);
    if (i % 10 === 9) commit();
  }
  while (topology.mergeSome());
  expect(connections()).toBe(200);
  const graph = reader.topology(everything);
  expect(graph.truncated).toBe(true);
  expect(graph.edges.length).toBe(51);
  expect(graph.edges.find(({ source }) => source === '10.0.0.0/24')).toMatchObject({
    target: '0.0.0.0/0',
    connections: 150,
  });
  expect(topology.reached).toEqual({ maxTopologyEdges: 15 });
});

it('a flow of an aborted transaction is not counted, and is counted once when written again', () => {
  const { topology, reader, transaction, flow, write, commit } = opened();
  flow('10.0.0.1', '10.0.0.2');
  commit();
  flow('10.0.0.1', '10.0.0.3');
  expect(() =>
    transaction(() => {
      write();
      throw new Error('undone');
    }),
  ).toThrow('undone');
  topology.forget();
  expect(reader.topology(everything).edges.length).toBe(1);
  flow('10.0.0.1', '10.0.0.3');
  commit();
  const [, second] = reader.topologySteps(0, 10);
  expect(second).toMatchObject({ seq: 2 });
  expect([...second!.step!.fresh.rows]).toEqual([3 & 1]);
  expect(reader.topology(everything).nodes.find(({ id }) => id === '10.0.0.1')!.degree).toBe(2);
});

it('steps are stored temporarily: late subscribers receive the number of missed steps', () => {
  const { topology, reader, flow, commit } = opened({ steps: 10 });
  for (let i = 1; i <= 300; i++) {
    flow('10.0.0.1', `10.0.${i >> 8}.${i & 255}`);
    commit();
    topology.mergeSome();
  }
  const [oldest] = reader.topologySteps(0, 1);
  expect(oldest!.seq).toBeGreaterThan(100);
  const filter = { terms: [] };
  expect(replayTopology(reader, { since: 0, filter, limit: 5 })).toEqual({
    messages: [],
    next: oldest!.seq - 1,
    lost: oldest!.seq - 1,
  });
  const part = replayTopology(reader, { since: 295, filter, limit: 3 });
  expect(part.messages.map(({ seq }) => seq)).toEqual([296, 297, 298]);
  expect(replayTopology(reader, { since: 300, filter, limit: 3 })).toEqual({
    messages: [],
    next: 300,
    lost: 0,
  });
});

it('a change above the size limit of subscriptions is reported to subscribers as a gap', () => {
  const { reader, flow, commit } = opened({ updateRows: 3 });
  for (const edges of [1, 9, 9, 2]) {
    for (let i = 0; i < edges; i++) flow('10.0.0.1', `10.0.${edges}.${i}`);
    commit();
  }
  const filter = { terms: [] };
  const parts = [0, 1, 3].map((since) => replayTopology(reader, { since, filter, limit: 9 }));
  expect(parts.map(({ messages, next, lost }) => [messages.map(({ seq }) => seq), next, lost])).toEqual([
    [[1], 1, 0],
    [[], 3, 2],
    [[4], 4, 0],
  ]);
});

it('edges of many hours are sent as their sum', () => {
  const { reader, flow, commit } = opened({ updateRows: 3 });
  for (let at = 0; at < 100; at++)
    for (const dst of ['10.0.0.2', '10.0.0.3', '203.0.113.5']) flow('10.0.0.1', dst, start + at * hour);
  commit();
  const { messages, lost } = replayTopology(reader, { since: 0, filter: { terms: [] }, limit: 9 });
  expect(lost).toBe(0);
  const { attributes } = JSON.parse(messages[0]!.json) as { attributes: TopologyUpdate };
  expect(attributes.edges.map(({ connections }) => connections)).toEqual([100, 100, 100]);
});

it('an interrupted merge leaves the graph unchanged, and does not leave rows behind', () => {
  const { topology, tables, open, reader, flow, commit } = opened();
  for (let i = 0; i < 33; i++) {
    for (let k = 0; k < 1000; k++) flow(`10.0.${i}.${k % 256}`, `10.1.${k % 250}.${i}`);
    commit();
    if (i % 16 === 0) topology.mergeSome();
  }
  const before = comparable(reader.topology(everything));
  for (let steps = 0; steps < 6; steps++) topology.mergeSome();
  const again = open();
  expect(comparable(reader.topology(everything))).toEqual(before);
  while (again.mergeSome());
  expect(comparable(reader.topology(everything))).toEqual(before);
  const { runs } = tables.topologyState.get('graph')!;
  const used = Object.values(runs).flatMap((level) => level.flat().map(({ id }) => id));
  expect([...tables.topologySegments.getKeys()].sort()).toEqual(used.sort());
  flow('10.0.0.1', '10.1.0.0');
  commit(again);
  const [step] = reader.topologySteps(33, 1);
  expect([...step!.step!.fresh.rows].every((bits) => (bits & 2) === 0)).toBe(true);
});

it('a copied segment has only its own bytes, not the whole read buffer', () => {
  const { topology, tables, flow, commit } = opened();
  for (let i = 0; i < 200; i++) {
    flow('10.0.0.1', `10.0.0.${i}`);
    commit();
  }
  while (topology.mergeSome());
  const run = graphState(tables).runs.ever[0]!;
  const [segment] = copySegments(tables, run);
  const checksumBytes = 8; // length of the checksum after each stored value
  expect(segment!.connections.buffer.byteLength).toBe(run[0]!.bytes + checksumBytes);
});
