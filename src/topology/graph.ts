import { PairIndex } from '../inventory/pair-index.ts';
import { hostNode, subnetOf } from './blocks.ts';
import { centrality } from './centrality.ts';
import { communities } from './communities.ts';
import { type DescribedEdge, type DescribedNode, describeEdge, describeNode } from './describe.ts';
import { Edges, most } from './edges.ts';
import { compareBlocks, Nodes } from './nodes.ts';
import type { Segment } from './segment.ts';

export interface GraphQuery {
  readonly groupBy: 'host' | 'subnet';
  /** Addresses to begin at; nodes up to `depth` edges away are shown. Absent: all nodes. */
  readonly focus?: readonly string[];
  readonly depth: number;
  /** Nodes shown. */
  readonly limit: number;
  /** Edges shown. */
  readonly maxEdges: number;
}

/** Rows of a segment, half-open, that are to be in the graph. */
export interface GraphPart {
  readonly segment: Segment;
  readonly from: number;
  readonly to: number;
}

export interface GraphNode extends DescribedNode {
  /** Edges that it has, and IP bytes on them, those to nodes that are not shown included. */
  readonly degree: number;
  readonly bytes: number;
  /** Number of the group of nodes that it belongs to, 0 the largest. */
  readonly community: number;
  /** How central it is, the most central 1. */
  readonly centrality: number;
}

export interface Graph {
  /** The busiest first: by bytes, connections, address. */
  readonly nodes: readonly GraphNode[];
  /** The busiest first, between these nodes. */
  readonly edges: readonly DescribedEdge[];
  readonly truncated: boolean;
}

/**
 * The graph of what some segments have. First the whole of it in numbers, then ports, protocols and names of what is
 * shown: a million edges take less than a second, whatever of them is shown.
 */
export function buildGraph(parts: readonly GraphPart[], query: GraphQuery): Graph {
  const whole = new Whole(parts, query.groupBy);
  const focus = whole.focus(query.focus ?? []);
  const near = query.focus === undefined ? undefined : whole.near(focus, query.depth);
  const { nodes: shown, truncated } = whole.busiest(query.limit, focus, near);
  const { edges, cut } = whole.between(shown, query.maxEdges);
  const place = new Map(Array.from(shown, (node, i) => [node, i]));
  const links = Array.from(edges.rows, (row) => ({
    source: place.get(edges.table.source[row]!)!,
    target: place.get(edges.table.target[row]!)!,
    weight: 1 + Math.log2(1 + edges.table.connections[row]!),
  }));
  const groups = communities(shown.length, links);
  const ranks = centrality(shown.length, links);
  return {
    nodes: Array.from(shown, (node, i) => ({
      ...describeNode(whole.nodes, node, whole.nodes.home[node] === 1),
      degree: whole.degree[node]!,
      bytes: whole.bytes[node]!,
      community: groups[i]!,
      centrality: ranks[i]!,
    })),
    edges: Array.from(edges.rows, (row) => describeEdge(edges.table, row)),
    truncated: truncated || cut,
  };
}

/** All nodes, with their numbers, and which of them are joined. */
class Whole {
  readonly nodes = new Nodes();
  readonly bytes: Float64Array;
  readonly degree: Uint32Array;
  readonly #connections: Float64Array;
  readonly #parts: readonly (GraphPart & { readonly places: Uint32Array })[];
  readonly #pairs = new PairIndex();

  constructor(parts: readonly GraphPart[], groupBy: GraphQuery['groupBy']) {
    this.#parts = parts.map((part) => ({ ...part, places: this.#placesOf(part, groupBy) }));
    const { count } = this.nodes;
    this.bytes = new Float64Array(count);
    this.degree = new Uint32Array(count);
    this.#connections = new Float64Array(count);
    for (const { segment, from, to, places } of this.#parts)
      for (let row = from; row < to; row++) {
        const source = places[segment.source[row]!]!;
        const target = places[segment.target[row]!]!;
        const known = this.#pairs.length;
        const isNew = this.#pairs.of(source, target) === known;
        this.#count(source, segment, row, isNew);
        if (target !== source) this.#count(target, segment, row, isNew);
      }
  }

  /** The nodes that stand for these addresses. */
  focus(addresses: readonly string[]): Set<number> {
    const found = new Set<number>();
    const wanted = new Nodes();
    const isWanted = new Set<number>();
    for (const address of addresses) {
      const node = hostNode(wanted, address);
      if (node !== undefined) isWanted.add(node);
    }
    for (const { segment, places } of this.#parts)
      for (let node = 0; node < segment.nodeCount; node++)
        if (segment.prefix[node] === 128 && isWanted.has(wanted.copy(segment, node)))
          found.add(places[node]!);
    return found;
  }

  /** Nodes at most `depth` edges away, whichever way the edges point. */
  near(focus: ReadonlySet<number>, depth: number): Uint8Array {
    const away = new Uint8Array(this.nodes.count);
    for (const node of focus) away[node] = 1;
    const { a: sources, b: targets, length } = this.#pairs;
    for (let step = 1; step <= depth; step++)
      for (let pair = 0; pair < length; pair++) {
        const a = sources[pair]!;
        const b = targets[pair]!;
        if (away[a] === step && away[b] === 0) away[b] = step + 1;
        else if (away[b] === step && away[a] === 0) away[a] = step + 1;
      }
    return away;
  }

  /** The busiest of those that are near, the focus always among them. */
  busiest(limit: number, focus: ReadonlySet<number>, near: Uint8Array | undefined) {
    const compare = (a: number, b: number) =>
      Number(focus.has(b)) - Number(focus.has(a)) || this.#compare(a, b);
    let best: number[] = [];
    let left = 0;
    const { count } = this.nodes;
    const degree = this.degree;
    let least = Number.NEGATIVE_INFINITY;
    for (let node = 0; node < count; node++) {
      if (degree[node] === 0 || near?.[node] === 0) continue;
      left++;
      if (this.bytes[node]! < least && !focus.has(node)) continue;
      best.push(node);
      if (best.length < 4 * limit + 4096) continue;
      best = best.sort(compare).slice(0, limit);
      least = this.bytes[best.at(-1)!]!;
    }
    const nodes = best.sort(compare).slice(0, Math.max(limit, focus.size));
    return { nodes: nodes.sort((a, b) => this.#compare(a, b)), truncated: left > nodes.length };
  }

  /** The edges between these nodes, the busiest first. */
  between(shown: readonly number[], max: number) {
    const isShown = new Uint8Array(this.nodes.count);
    for (const node of shown) isShown[node] = 1;
    const table = new Edges(0, this.nodes);
    for (const { segment, from, to, places } of this.#parts) {
      const texts = segment.textsIn(table);
      for (let row = from; row < to; row++) {
        const source = places[segment.source[row]!]!;
        const target = places[segment.target[row]!]!;
        if (isShown[source] === 1 && isShown[target] === 1)
          segment.addTo(table, table.row(0, source, target), row, texts);
      }
    }
    const { nodes } = this;
    const rows = Uint32Array.from({ length: table.count }, (_, row) => row).sort(
      (a, b) =>
        table.bytes[b]! - table.bytes[a]! ||
        table.connections[b]! - table.connections[a]! ||
        compareBlocks(nodes, table.source[a]!, nodes, table.source[b]!) ||
        compareBlocks(nodes, table.target[a]!, nodes, table.target[b]!),
    );
    return { edges: { table, rows: rows.subarray(0, max) }, cut: rows.length > max };
  }

  #placesOf({ segment }: GraphPart, groupBy: GraphQuery['groupBy']): Uint32Array {
    return Uint32Array.from({ length: segment.nodeCount }, (_, node) =>
      groupBy === 'host' ? this.nodes.copy(segment, node) : subnetOf(this.nodes, segment, node),
    );
  }

  #count(node: number, segment: Segment, row: number, isNew: boolean): void {
    this.bytes[node] = Math.min(most, this.bytes[node]! + segment.bytes[row]!);
    this.#connections[node]! += segment.connections[row]!;
    if (isNew) this.degree[node]!++;
  }

  #compare(a: number, b: number): number {
    return (
      this.bytes[b]! - this.bytes[a]! ||
      this.#connections[b]! - this.#connections[a]! ||
      compareBlocks(this.nodes, a, this.nodes, b)
    );
  }
}
