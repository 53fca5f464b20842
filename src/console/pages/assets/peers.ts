import type { CallResult } from '../../../client/client.ts';

export type Topology = CallResult<'getTopology'>['data']['attributes'];
type Node = Topology['nodes'][number];

/** A host or network that an asset communicates with. */
export interface Peer {
  /** An address or an external network. */
  readonly id: string;
  readonly node: Node | undefined;
  /** Bytes in both directions. */
  readonly bytes: number;
  readonly connections: number;
  /** Connections that the asset opened. */
  readonly opened: number;
  /** Ports of the peer used by the asset, ascending. */
  readonly usedPorts: readonly number[];
  /** Ports of the asset used by the peer, ascending. */
  readonly offeredPorts: readonly number[];
  readonly protocols: readonly string[];
  readonly firstSeen: string;
  readonly lastSeen: string;
}

/**
 * Returns the peers of an asset, most bytes first, by merging its edges in the topology around it.
 *
 * @param ips - the asset's addresses, for nodes without an asset id
 */
export function peersOf(topology: Topology, assetId: string, ips: readonly string[]): Peer[] {
  const nodes = new Map(topology.nodes.map((node) => [node.id, node]));
  const isOwn = (id: string) => nodes.get(id)?.asset_id === assetId || ips.includes(id);
  const peers = new Map<string, Peer>();
  for (const edge of topology.edges) {
    const opens = isOwn(edge.source);
    if (opens === isOwn(edge.target)) continue;
    const id = opens ? edge.target : edge.source;
    const before = peers.get(id);
    peers.set(id, {
      id,
      node: nodes.get(id),
      bytes: edge.bytes + (before?.bytes ?? 0),
      connections: edge.connections + (before?.connections ?? 0),
      opened: (opens ? edge.connections : 0) + (before?.opened ?? 0),
      usedPorts: union(before?.usedPorts, opens ? edge.ports : []),
      offeredPorts: union(before?.offeredPorts, opens ? [] : edge.ports),
      protocols: [...new Set([...(before?.protocols ?? []), ...edge.protocols])].sort(),
      firstSeen: earlier(before?.firstSeen, edge.first_seen),
      lastSeen: later(before?.lastSeen, edge.last_seen),
    });
  }
  return [...peers.values()].sort((a, b) => b.bytes - a.bytes || b.connections - a.connections);
}

const union = (a: readonly number[] = [], b: readonly number[] = []): number[] =>
  [...new Set([...a, ...b])].sort((x, y) => x - y);
// Returns the earlier time. All times have the same format (UTC with milliseconds), so they are compared as texts.
const earlier = (a: string | undefined, b: string): string => (a !== undefined && a < b ? a : b);
const later = (a: string | undefined, b: string): string => (a !== undefined && a > b ? a : b);
