import { expect, test } from 'vitest';
import {
  afterUpdates,
  type LiveGraph,
  maxFresh,
  maxWaiting,
  noneWaiting,
  withWaiting,
} from '../../../src/console/pages/topology/updates.ts';
import type { Topology, TopologyUpdate } from '../../../src/contract/resources/topology.ts';

const at = '2026-01-01T00:00:00.000Z';
const named = (id: string) => ({ id, label: id, ip: id, kind: 'asset' as const });
const graph: Topology = {
  seq: 10,
  nodes: [{ ...named('10.0.0.1'), degree: 0, bytes: 0 }],
  edges: [],
  truncated: false,
  generated_at: at,
};
const update = (seq: number, ...newNodes: string[]): TopologyUpdate => ({
  seq,
  nodes: newNodes.map((id) => ({ ...named(id), new: true })),
  edges: newNodes.map((target) => ({
    source: '10.0.0.1',
    target,
    ports: [],
    protocols: [],
    connections: 1,
    bytes: 5,
    first_seen: at,
    last_seen: at,
    new: true,
  })),
});
const opened: LiveGraph = { graph, fresh: new Set<string>() };

test('a burst of updates results in the same graph as applying the updates one by one', () => {
  const updates = Array.from({ length: 20 }, (_, i) => update(11 + i, `10.0.1.${i % 7}`));
  const oneByOne = updates.reduce((before, one) => afterUpdates(before, [one], 100), opened);
  expect(afterUpdates(opened, updates, 100)).toEqual(oneByOne);
  expect(oneByOne.graph.seq).toBe(30);
  expect(oneByOne.graph.nodes).toHaveLength(8);
});

test('updates that the snapshot includes change nothing', () => {
  expect(afterUpdates(opened, [update(9, '10.0.1.1'), update(10, '10.0.1.2')], 100)).toEqual(opened);
});

test('nodes beyond the limit are omitted, the graph is truncated, and its counts keep growing', () => {
  const { graph: next, fresh } = afterUpdates(opened, [update(11, '10.0.1.1', '10.0.1.2'), update(12)], 2);
  expect(next.nodes.map(({ id }) => id)).toEqual(['10.0.0.1', '10.0.1.1']);
  expect(next.edges.map(({ target }) => target)).toEqual(['10.0.1.1']);
  expect(next.nodes[0]).toMatchObject({ degree: 2, bytes: 10 });
  expect(next.truncated).toBe(true);
  expect([...fresh]).toEqual(['10.0.1.1', '10.0.0.1 10.0.1.1']);
});

test('a graph within its limit is not truncated', () => {
  expect(afterUpdates(opened, [update(11, '10.0.1.1')], 2).graph.truncated).toBe(false);
});

test('only the newest elements are marked as new', () => {
  const many = Array.from({ length: maxFresh }, (_, i) => `10.1.${i >> 8}.${i & 255}`);
  const { fresh } = afterUpdates(opened, [update(11, ...many), update(12, '10.9.9.9')], 1e6);
  expect(fresh.size).toBe(maxFresh);
  expect(fresh.has('10.9.9.9')).toBe(true);
});

test('waiting updates are kept up to a limit, then dropped until the next snapshot', () => {
  let waiting = noneWaiting;
  for (let seq = 0; seq < maxWaiting; seq++) waiting = withWaiting(waiting, update(seq));
  expect(waiting).toMatchObject({ kind: 'updates' });
  waiting = withWaiting(waiting, update(maxWaiting));
  expect(waiting).toEqual({ kind: 'dropped' });
  expect(withWaiting(waiting, update(maxWaiting + 1))).toEqual({ kind: 'dropped' });
});
