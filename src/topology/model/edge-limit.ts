import { maxPorts, maxProtocols } from '../../contract/vocabulary.ts';
import { limits } from '../../limits.ts';
import { collapsed, everything } from './blocks.ts';
import { Edges } from './edges.ts';
import type { KnownGraph } from './known-graph.ts';
import type { Blocks, Nodes } from './nodes.ts';

/**
 * Limits the edges so that the graph has little more than `max` edges. Above `max`, new edges connect only home
 * networks and the block for all outside addresses. After a further limits.maxWidenedTopologyEdges edges, new
 * edges connect only blocks for all addresses. Returns `edges` itself if there is room for all edges.
 */
export function limitEdges(
  edges: Edges,
  known: KnownGraph,
  max: number,
  seed = 0,
): { readonly edges: Edges; readonly collapsed: boolean } {
  if (known.edges + edges.count <= max) return { edges, collapsed: false };
  const kept = new Edges(seed);
  let total = known.edges;
  let isCollapsed = false;
  const counted = new Edges(seed, kept.nodes);
  const place = (widen: (nodes: Nodes, from: Blocks, node: number) => number, row: number) =>
    [widen(kept.nodes, edges.nodes, edges.source[row]!), widen(kept.nodes, edges.nodes, edges.target[row]!)] as const;
  const asItIs = (nodes: Nodes, from: Blocks, node: number) => nodes.copy(from, node);
  for (let row = 0; row < edges.count; row++) {
    let [source, target] = [-1, -1];
    for (const [widen, room] of [
      [asItIs, max],
      [collapsed, max + limits.maxWidenedTopologyEdges],
      [everything, Number.POSITIVE_INFINITY],
    ] as const) {
      [source, target] = place(widen, row);
      if (counted.find(0, source, target) >= 0) break;
      if (known.hasEdge(kept.nodes, source, target)) {
        counted.row(0, source, target);
        break;
      }
      if (total < room) {
        counted.row(0, source, target);
        total++;
        break;
      }
      isCollapsed = true;
    }
    const to = kept.row(edges.bucket[row]!, source, target);
    copyRow(edges, row, kept, to);
  }
  return { edges: kept, collapsed: isCollapsed };
}

function copyRow(from: Edges, row: number, into: Edges, to: number): void {
  into.add(to, from.connections[row]!, from.bytes[row]!, from.first[row]!, from.last[row]!);
  for (let i = 0; i < from.portCount[row]!; i++) into.addPort(to, from.ports[row * maxPorts + i]!);
  for (let i = 0; i < from.protocolCount[row]!; i++)
    into.addProtocol(to, into.text(from.texts[from.protocols[row * maxProtocols + i]!]!));
}
