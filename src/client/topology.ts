import type { Topology, TopologyUpdate } from '../contract/resources/topology.ts';
import { maxPorts, maxProtocols } from '../contract/vocabulary.ts';
import { limits } from '../limits.ts';

type Node = Topology['nodes'][number];
type Edge = Topology['edges'][number];

/**
 * The graph after an update of the channel `topology`: subscribe with `since` the `seq` of a snapshot, without `from` and
 * `to` and with the same `group_by`, and apply what comes, in order. The result is the snapshot that the service would
 * give then, but for groups, centrality and the order of nodes and edges; after `lagged`, a new one must be taken.
 *
 * Of a snapshot that is truncated, has a focus, or is held against filtered updates, nodes that it left out stay left
 * out; those that it has go on being right, their edges to others counted. The snapshot given stays as it is. An update
 * that the snapshot has already changes nothing.
 */
export function applyTopologyUpdate(snapshot: Topology, update: TopologyUpdate): Topology {
  return applyTopologyUpdates(snapshot, [update]);
}

/**
 * The graph after several updates, in order, at the cost of one.
 *
 * @param maxNodes - nodes that would make it larger are left out, and it is truncated then
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

/** Whether some were left out. */
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
    if (known !== undefined) edges.set(key, together(known, added));
    else if (isNew) edges.set(key, added);
  }
}

const keyOf = ({ source, target }: Pick<Edge, 'source' | 'target'>): string => `${source} ${target}`;

const sum = (a: number, b: number): number => Math.min(limits.maxSummedBytes, a + b);

/** A node under other names; what is counted stays. */
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

function together(a: Edge, b: Edge): Edge {
  return {
    source: a.source,
    target: a.target,
    ports: union(a.ports, b.ports, (x, y) => x - y).slice(0, maxPorts),
    protocols: union(a.protocols, b.protocols, (x, y) => (x < y ? -1 : x > y ? 1 : 0)).slice(0, maxProtocols),
    connections: sum(a.connections, b.connections),
    bytes: sum(a.bytes, b.bytes),
    // ISO 8601 in UTC, all of one length: they compare as texts.
    first_seen: a.first_seen < b.first_seen ? a.first_seen : b.first_seen,
    last_seen: a.last_seen > b.last_seen ? a.last_seen : b.last_seen,
  };
}

function union<T>(a: readonly T[], b: readonly T[], compare: (x: T, y: T) => number): T[] {
  return [...new Set([...a, ...b])].sort(compare);
}
