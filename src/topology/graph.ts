import { hostNode, subnetOf } from './blocks.ts';
import { Busiest } from './busiest.ts';
import { centrality } from './centrality.ts';
import { communities } from './communities.ts';
import { type DescribedEdge, type DescribedNode, describeEdge, describeNode, mostIn } from './describe.ts';
import { Edges } from './edges.ts';
import { compareBlocks, Nodes } from './nodes.ts';
import { freed, moved, PairTotals } from './pair-totals.ts';
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

interface GraphNode extends DescribedNode {
  /** Edges that it has, and IP bytes on them, those to nodes that are not shown included. */
  readonly degree: number;
  readonly bytes: number;
  /** Number of the group of nodes that it belongs to, 0 the largest. */
  readonly community: number;
  /** How central it is, the most central 1. */
  readonly centrality: number;
}

interface Graph {
  /** The busiest first: by bytes, connections, address. */
  readonly nodes: readonly GraphNode[];
  /** The busiest first, between these nodes. */
  readonly edges: readonly DescribedEdge[];
  readonly truncated: boolean;
}

/**
 * The graph of what some segments have. First the whole of it in numbers, then ports, protocols and names of what is
 * shown: a million edges take less than a second and 120 MB, which are given back, whatever of them is shown.
 *
 * @param parts - are gone through twice, one segment in memory at a time
 */
export function buildGraph(parts: Iterable<GraphPart>, query: GraphQuery): Graph {
  const whole = new Whole(parts, query);
  try {
    return shownOf(whole, query);
  } finally {
    whole.release();
  }
}

function shownOf(whole: Whole, query: GraphQuery): Graph {
  const near = query.focus === undefined ? undefined : whole.near(query.depth);
  const { nodes: shown, truncated } = whole.busiest(query.limit, near);
  const { edges, cut } = whole.between(shown, query.maxEdges);
  const place = new Map(Array.from(shown, (node, i) => [node, i]));
  const rows = Array.from({ length: edges.count }, (_, row) => row);
  const links = rows.map((row) => ({
    source: place.get(edges.source[row]!)!,
    target: place.get(edges.target[row]!)!,
    weight: 1 + Math.log2(1 + edges.connections[row]!),
  }));
  const groups = communities(shown.length, links);
  const ranks = centrality(shown.length, links);
  return {
    nodes: shown.map((node, i) => ({
      ...describeNode(whole.nodes, node, whole.nodes.home[node] === 1),
      degree: whole.degree[node]!,
      bytes: whole.bytes[node]!,
      community: groups[i]!,
      centrality: ranks[i]!,
    })),
    edges: rows.map((row) => describeEdge(edges, row)),
    truncated: truncated || cut,
  };
}

/** All nodes, with their numbers, and what goes between them. Its memory is to be released. */
class Whole {
  readonly nodes = new Nodes();
  readonly bytes: Float64Array;
  readonly degree: Uint32Array;
  readonly #connections: Float64Array;
  readonly #parts: Iterable<GraphPart>;
  readonly #pairs = new PairTotals();
  /** The nodes that stand for the addresses to begin at. */
  readonly #focus = new Set<number>();
  /** Where bytes of a node stop. */
  readonly #most: number;
  /** Which node stands for each of a segment's, segment after segment. */
  #places = new Uint32Array(4096);
  #placed = 0;

  constructor(parts: Iterable<GraphPart>, { groupBy, focus = [] }: GraphQuery) {
    this.#parts = parts;
    const wanted = new Nodes();
    for (const address of focus) hostNode(wanted, address);
    const pairs = this.#pairs;
    let first = Number.POSITIVE_INFINITY;
    let last = Number.NEGATIVE_INFINITY;
    for (const { segment, from, to } of parts) {
      const start = this.#place(segment, groupBy, wanted);
      const places = this.#places;
      for (let row = from; row < to; row++) {
        pairs.add(
          places[start + segment.source[row]!]!,
          places[start + segment.target[row]!]!,
          segment.bytes[row]!,
          segment.connections[row]!,
        );
        if (segment.first[row]! < first) first = segment.first[row]!;
        if (segment.last[row]! > last) last = segment.last[row]!;
      }
    }
    this.#most = mostIn(first, last);
    const { count } = this.nodes;
    this.bytes = new Float64Array(count);
    this.degree = new Uint32Array(count);
    this.#connections = new Float64Array(count);
    for (let pair = 0; pair < pairs.count; pair++) {
      const source = pairs.source[pair]!;
      const target = pairs.target[pair]!;
      this.#count(source, pair);
      if (target !== source) this.#count(target, pair);
    }
  }

  release(): void {
    this.nodes.release();
    this.#pairs.release();
    for (const array of [this.bytes, this.degree, this.#connections, this.#places]) freed(array);
  }

  /** Nodes at most `depth` edges away from the focus, whichever way the edges point. */
  near(depth: number): Uint8Array {
    const away = new Uint8Array(this.nodes.count);
    for (const node of this.#focus) away[node] = 1;
    const { source: sources, target: targets, count } = this.#pairs;
    for (let step = 1; step <= depth; step++)
      for (let pair = 0; pair < count; pair++) {
        const a = sources[pair]!;
        const b = targets[pair]!;
        if (away[a] === step && away[b] === 0) away[b] = step + 1;
        else if (away[b] === step && away[a] === 0) away[a] = step + 1;
      }
    return away;
  }

  /** The busiest of those that are near, the focus always among them. */
  busiest(limit: number, near: Uint8Array | undefined) {
    const focus = this.#focus;
    const byUse = (a: number, b: number) => this.#compare(a, b);
    const best = new Busiest(
      Math.max(limit, focus.size),
      focus.size === 0 ? byUse : (a, b) => Number(focus.has(b)) - Number(focus.has(a)) || byUse(a, b),
    );
    let left = 0;
    const { count } = this.nodes;
    const { degree } = this;
    for (let node = 0; node < count; node++) {
      if (degree[node] === 0 || near?.[node] === 0) continue;
      left++;
      best.offer(node);
    }
    const nodes = best.sorted();
    return { nodes: nodes.sort(byUse), truncated: left > nodes.length };
  }

  /** The busiest edges between these nodes, the rows in their order. */
  between(shown: readonly number[], max: number) {
    const isShown = new Uint8Array(this.nodes.count);
    for (const node of shown) isShown[node] = 1;
    const { nodes } = this;
    const { source, target, bytes, connections, count } = this.#pairs;
    const best = new Busiest(
      max,
      (a, b) =>
        bytes[b]! - bytes[a]! ||
        connections[b]! - connections[a]! ||
        compareBlocks(nodes, source[a]!, nodes, source[b]!) ||
        compareBlocks(nodes, target[a]!, nodes, target[b]!),
    );
    let found = 0;
    for (let pair = 0; pair < count; pair++)
      if (isShown[source[pair]!] === 1 && isShown[target[pair]!] === 1) {
        found++;
        best.offer(pair);
      }
    const chosen = best.sorted();
    const edges = new Edges(0, nodes, chosen.length);
    for (const pair of chosen) edges.row(0, source[pair]!, target[pair]!);
    if (chosen.length > 0) this.#fill(edges, isShown);
    freed(isShown);
    return { edges, cut: found > chosen.length };
  }

  /** Adds what all segments have of the rows that are there. */
  #fill(edges: Edges, isShown: Uint8Array): void {
    const places = this.#places;
    let start = 0;
    for (const { segment, from, to } of this.#parts) {
      const texts = segment.textsIn(edges);
      for (let row = from; row < to; row++) {
        const source = places[start + segment.source[row]!]!;
        const target = places[start + segment.target[row]!]!;
        if (isShown[source] === 0 || isShown[target] === 0) continue;
        const found = edges.find(0, source, target);
        if (found >= 0) segment.addTo(edges, found, row, texts);
      }
      start += segment.nodeCount;
    }
  }

  /** Where the places of a segment's nodes begin. */
  #place(segment: Segment, groupBy: GraphQuery['groupBy'], wanted: Nodes): number {
    const start = this.#placed;
    this.#placed += segment.nodeCount;
    if (this.#placed > this.#places.length)
      this.#places = moved(this.#places, new Uint32Array(2 * this.#placed));
    for (let node = 0; node < segment.nodeCount; node++) {
      const place = groupBy === 'host' ? this.nodes.copy(segment, node) : subnetOf(this.nodes, segment, node);
      this.#places[start + node] = place;
      if (wanted.count > 0 && wanted.has(segment, node)) this.#focus.add(place);
    }
    return start;
  }

  #count(node: number, pair: number): void {
    this.bytes[node] = Math.min(this.#most, this.bytes[node]! + this.#pairs.bytes[pair]!);
    this.#connections[node]! += this.#pairs.connections[pair]!;
    this.degree[node]!++;
  }

  #compare(a: number, b: number): number {
    return (
      this.bytes[b]! - this.bytes[a]! ||
      this.#connections[b]! - this.#connections[a]! ||
      compareBlocks(this.nodes, a, this.nodes, b)
    );
  }
}
