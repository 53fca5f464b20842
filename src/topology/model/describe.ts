import { appProtocols } from '../../contract/app-protocols.ts';
import type { Topology } from '../../contract/resources/topology.ts';
import { maxPorts, maxProtocols } from '../../contract/vocabulary.ts';
import { linkBytes } from '../../events/plausible-bytes.ts';
import type { Edges } from './edges.ts';
import { type Blocks, isGroup, printBlock } from './nodes.ts';

type Node = Topology['nodes'][number];
export type DescribedNode = Pick<Node, 'id' | 'kind' | 'ip'>;
export type DescribedEdge = Topology['edges'][number];

/**
 * Describes a block in the form of the API contract. Groups (multicast, broadcast) are part of the network, not
 * external.
 */
export function describeNode(blocks: Blocks, node: number, isHome: boolean): DescribedNode {
  const id = printBlock(blocks, node);
  const isHost = blocks.prefix[node] === 128;
  if (isGroup(blocks, node)) return { id, kind: 'subnet', ...(isHost ? { ip: id } : {}) };
  if (!isHome) return { id, kind: 'external', ...(isHost ? { ip: id } : {}) };
  return isHost ? { id, kind: 'asset', ip: id } : { id, kind: 'subnet' };
}

/**
 * Maximum bytes that an edge or node can carry from `first` to `last`. The bytes may include data from the hour before
 * `first`.
 */
export const mostIn = (first: number, last: number): number => linkBytes(last - first + 3_600_000);

export function describeEdge(edges: Edges, row: number): DescribedEdge {
  const ports = edges.ports.subarray(row * maxPorts, row * maxPorts + edges.portCount[row]!);
  const protocols = edges.protocols.subarray(row * maxProtocols, row * maxProtocols + edges.protocolCount[row]!);
  return {
    source: printBlock(edges.nodes, edges.source[row]!),
    target: printBlock(edges.nodes, edges.target[row]!),
    ports: Array.from(ports),
    // Segments of earlier versions contain the sensor's list of protocols as one text.
    protocols: [...new Set(Array.from(protocols, (text) => appProtocols(edges.texts[text]!)).flat())]
      .sort()
      .slice(0, maxProtocols),
    connections: edges.connections[row]!,
    bytes: Math.min(edges.bytes[row]!, mostIn(edges.first[row]!, edges.last[row]!)),
    first_seen: new Date(edges.first[row]!).toISOString(),
    last_seen: new Date(edges.last[row]!).toISOString(),
  };
}
