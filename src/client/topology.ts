import type { Topology, TopologyUpdate } from '../contract/resources/topology.ts';
import { maxPorts, maxProtocols } from '../contract/vocabulary.ts';
import { limits } from '../limits.ts';

type Node = Topology['nodes'][number];
type Edge = Topology['edges'][number];

/**
 * Applies an update of channel `topology` to a snapshot. Subscribe with `since` set to the `seq` of the
 * snapshot, without `from` and `to` and with the same `group_by`, and apply updates in order. The result
 * equals a new snapshot of the service, except for groups, centrality and the order of nodes and edges. After
 * `lagged`, fetch a new snapshot.
 *
 * If the snapshot is truncated, has a focus, or the updates are filtered, nodes missing from the snapshot
 * stay missing; its own nodes stay correct, including their edges to missing nodes. The snapshot is not
 * modified. An update that the snapshot already includes has no effect.
 */
export function applyTopologyUpdate(snapshot: Topology, update: TopologyUpdate): Topology {
  return applyTopologyUpdates(snapshot, [update]);
}

/**
 * Applies several updates in order, at the cost of one update.
 *
 * @param maxNodes - maximum nodes: further new nodes are omitted, and the result is truncated
 */
export function applyTopologyUpdates(
  snapshot: Topology,
  updates: readonly TopologyUpdate[],
  maxNodes = Number.POSITIVE_INFINITY,
): Topology {
  if (updates.every(({ seq }) => seq <= snapshot.seq)) return snapshot;
  const nodes = new Map<string, Node>(snapshot.nodes.map((node) => [node.id, node]));
  const edges = new Map<string, Edge>(snapshot.edges.map((edge) => [keyOf(edge), edge]));
  let { seq, truncated } = snapshot;
  for (const update of updates) {
    if (update.seq <= seq) continue;
    seq = update.seq;
    truncated = addNodes(nodes, update, maxNodes) || truncated;
    addEdges(nodes, edges, update);
  }
  return { ...snapshot, seq, truncated, nodes: [...nodes.values()], edges: [...edges.values()] };
}

/** Adds new nodes and updates the names of known nodes. Returns whether nodes were omitted. */
function addNodes(nodes: Map<string, Node>, update: TopologyUpdate, maxNodes: number): boolean {
  let isFull = false;
  for (const { new: isNew, ...names } of update.nodes) {
    const known = nodes.get(names.id);
    if (known !== undefined) nodes.set(names.id, renamed(known, names));
    else if (isNew && nodes.size >= maxNodes) isFull = true;
    else if (isNew) nodes.set(names.id, { ...names, degree: 0, bytes: 0 });
  }
  return isFull;
}

function addEdges(nodes: Map<string, Node>, edges: Map<string, Edge>, update: TopologyUpdate): void {
  for (const { new: isNew, ...added } of update.edges) {
    const source = nodes.get(added.source);
    const target = nodes.get(added.target);
    for (const end of new Set([source, target]))
      if (end !== undefined)
        nodes.set(end.id, {
          ...end,
          degree: end.degree + (isNew ? 1 : 0),
          bytes: sum(end.bytes, added.bytes),
        });
    if (source === undefined || target === undefined) continue;
    const key = keyOf(added);
    const known = edges.get(key);
    if (known !== undefined) edges.set(key, merged(known, added));
    else if (isNew) edges.set(key, added);
  }
}

const keyOf = ({ source, target }: Pick<Edge, 'source' | 'target'>): string => `${source} ${target}`;

const sum = (a: number, b: number): number => Math.min(limits.maxSummedBytes, a + b);

/** Returns the node with new names and unchanged counters. */
function renamed(node: Node, names: Omit<TopologyUpdate['nodes'][number], 'new'>): Node {
  const { degree, bytes, community, centrality } = node;
  return {
    ...names,
    degree,
    bytes,
    ...(community === undefined ? {} : { community }),
    ...(centrality === undefined ? {} : { centrality }),
  };
}

function merged(a: Edge, b: Edge): Edge {
  return {
    source: a.source,
    target: a.target,
    ports: union(a.ports, b.ports, (x, y) => x - y).slice(0, maxPorts),
    protocols: union(a.protocols, b.protocols, (x, y) => (x < y ? -1 : x > y ? 1 : 0)).slice(0, maxProtocols),
    connections: sum(a.connections, b.connections),
    bytes: sum(a.bytes, b.bytes),
    // ISO 8601 in UTC with equal lengths, so string comparison is chronological.
    first_seen: a.first_seen < b.first_seen ? a.first_seen : b.first_seen,
    last_seen: a.last_seen > b.last_seen ? a.last_seen : b.last_seen,
  };
}

function union<T>(a: readonly T[], b: readonly T[], compare: (x: T, y: T) => number): T[] {
  return [...new Set([...a, ...b])].sort(compare);
}
