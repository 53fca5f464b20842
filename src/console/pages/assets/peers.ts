import type { CallResult } from '../../../client/client.ts';

export type Topology = CallResult<'getTopology'>['data']['attributes'];
type Node = Topology['nodes'][number];

/** Whom an asset talks to. */
export interface Peer {
  /** An address, or a network outside. */
  readonly id: string;
  readonly node: Node | undefined;
  /** What passed, both ways. */
  readonly bytes: number;
  readonly connections: number;
  /** … of these the asset opened. */
  readonly opened: number;
  /** Ports of the peer that the asset uses, and of the asset that the peer uses. Ascending. */
  readonly usedPorts: readonly number[];
  readonly offeredPorts: readonly number[];
  readonly protocols: readonly string[];
  readonly firstSeen: string;
  readonly lastSeen: string;
}

/**
 * The peers of an asset, those with most bytes first: its edges in a graph around it, put together by whom they lead to.
 *
 * @param ips - addresses that it has, for nodes that do not say whose they are
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
// All times are written alike, in UTC with milliseconds.
const earlier = (a: string | undefined, b: string): string => (a !== undefined && a < b ? a : b);
const later = (a: string | undefined, b: string): string => (a !== undefined && a > b ? a : b);
