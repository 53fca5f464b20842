import { freed, grown } from '../../sketch/grown.ts';
import { hostNode, subnetOf } from './blocks.ts';
import { Busiest } from './busiest.ts';
import { centrality } from './centrality.ts';
import { communities } from './communities.ts';
import { type DescribedEdge, type DescribedNode, describeEdge, describeNode, mostIn } from './describe.ts';
import { Edges } from './edges.ts';
import { compareBlocks, Nodes } from './nodes.ts';
import { PairTotals } from './pair-totals.ts';
import type { Segment } from './segment.ts';

export interface GraphQuery {
  readonly groupBy: 'host' | 'subnet';
  /** Only nodes up to `depth` edges away from these addresses are shown; absent to show all nodes. */
  readonly focus?: readonly string[];
  readonly depth: number;
  /** Maximum number of nodes shown. */
  readonly limit: number;
  /** Maximum number of edges shown. */
  readonly maxEdges: number;
}

/** A half-open range of rows of a segment. */
export interface GraphPart {
  readonly segment: Segment;
  readonly from: number;
  readonly to: number;
}

interface GraphNode extends DescribedNode {
  /** Number of edges of the node, including edges to nodes that are not shown. */
  readonly degree: number;
  /** IP bytes on these edges. */
  readonly bytes: number;
  /** Number of the node's group; 0 for the largest group. */
  readonly community: number;
  /** Centrality; the most central node has 1. */
  readonly centrality: number;
}

interface Graph {
  /** The shown nodes, the busiest first: by bytes, then connections, then address. */
  readonly nodes: readonly GraphNode[];
  /** Edges between the shown nodes, the busiest first. */
  readonly edges: readonly DescribedEdge[];
  readonly truncated: boolean;
}

/**
 * Builds the graph from several segments. The first pass reads the totals of all edges; the second pass reads the
 * ports, protocols and names of the shown part. A million edges take less than a second, and 120 MB, which are
 * released afterwards.
 *
 * @param parts - iterated twice, with one segment in memory at a time
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

/** All nodes by number, and the totals between them. `release` must be called afterwards. */
class Whole {
  readonly nodes = new Nodes();
  readonly bytes: Float64Array<ArrayBuffer>;
  readonly degree: Uint32Array<ArrayBuffer>;
  readonly #connections: Float64Array<ArrayBuffer>;
  readonly #parts: Iterable<GraphPart>;
  readonly #totals = new PairTotals();
  /** Nodes of the addresses in `focus`. */
  readonly #focus = new Set<number>();
  /** Maximum bytes of a node. */
  readonly #most: number;
  /**
   * For each node of each segment, its number in `nodes`. The nodes of a segment are adjacent, in the order of
   * segments.
   */
  #places = new Uint32Array(4096);
  #placed = 0;

  constructor(parts: Iterable<GraphPart>, { groupBy, focus = [] }: GraphQuery) {
    this.#parts = parts;
    const wanted = new Nodes();
    for (const address of focus) hostNode(wanted, address);
    const totals = this.#totals;
    let first = Number.POSITIVE_INFINITY;
    let last = Number.NEGATIVE_INFINITY;
    for (const { segment, from, to } of parts) {
      const start = this.#place(segment, groupBy, wanted);
      const places = this.#places;
      for (let row = from; row < to; row++) {
        totals.add(
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
    const { a: sources, b: targets, length } = totals.pairs;
    for (let pair = 0; pair < length; pair++) {
      const source = sources[pair]!;
      const target = targets[pair]!;
      this.#count(source, pair);
      if (target !== source) this.#count(target, pair);
    }
  }

  release(): void {
    this.nodes.release();
    this.#totals.release();
    for (const array of [this.bytes, this.degree, this.#connections, this.#places]) freed(array);
  }

  /**
   * Returns, for each node, the length of the shortest path to the focus plus 1; 0 for nodes more than `depth` edges
   * away. Edges count in both directions.
   */
  near(depth: number): Uint8Array {
    const away = new Uint8Array(this.nodes.count);
    for (const node of this.#focus) away[node] = 1;
    const { a: sources, b: targets, length } = this.#totals.pairs;
    for (let step = 1; step <= depth; step++)
      for (let pair = 0; pair < length; pair++) {
        const a = sources[pair]!;
        const b = targets[pair]!;
        if (away[a] === step && away[b] === 0) away[b] = step + 1;
        else if (away[b] === step && away[a] === 0) away[a] = step + 1;
      }
    return away;
  }

  /** Returns the busiest nodes near the focus, always including the focus. */
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

  /** Returns the busiest edges between the given nodes, in order. */
  between(shown: readonly number[], max: number) {
    const isShown = new Uint8Array(this.nodes.count);
    for (const node of shown) isShown[node] = 1;
    const { nodes } = this;
    const { pairs, bytes, connections } = this.#totals;
    const { a: source, b: target, length } = pairs;
    const best = new Busiest(
      max,
      (a, b) =>
        bytes[b]! - bytes[a]! ||
        connections[b]! - connections[a]! ||
        compareBlocks(nodes, source[a]!, nodes, source[b]!) ||
        compareBlocks(nodes, target[a]!, nodes, target[b]!),
    );
    let found = 0;
    for (let pair = 0; pair < length; pair++)
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

  /** Adds the data of all segments to the rows of shown edges. */
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

  /** Returns the start of a segment's nodes in `#places`. */
  #place(segment: Segment, groupBy: GraphQuery['groupBy'], wanted: Nodes): number {
    const start = this.#placed;
    this.#placed += segment.nodeCount;
    if (this.#placed > this.#places.length) this.#places = grown(this.#places, 2 * this.#placed);
    for (let node = 0; node < segment.nodeCount; node++) {
      const place = groupBy === 'host' ? this.nodes.copy(segment, node) : subnetOf(this.nodes, segment, node);
      this.#places[start + node] = place;
      if (wanted.count > 0 && wanted.has(segment, node)) this.#focus.add(place);
    }
    return start;
  }

  #count(node: number, pair: number): void {
    this.bytes[node] = Math.min(this.#most, this.bytes[node]! + this.#totals.bytes[pair]!);
    this.#connections[node]! += this.#totals.connections[pair]!;
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
