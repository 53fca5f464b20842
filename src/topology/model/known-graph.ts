import { finish } from '../../sketch/hash.ts';
import { subnetOf } from './blocks.ts';
import { type Blocks, hashBlock, Nodes } from './nodes.ts';
import { pairHash, SeenSet } from './seen-set.ts';
import type { Segment } from './segment.ts';

/** The part of a segment that was not in the graph before. */
export interface Fresh {
  /** For each row, bits of `freshEdge`. */
  readonly rows: Uint8Array<ArrayBuffer>;
  /** For each node, bits of `freshNode`. */
  readonly nodes: Uint8Array<ArrayBuffer>;
}

/** Bits of an edge: new in the graph of hosts, and new in the graph of subnets. */
export const freshEdge = { host: 1, subnet: 2 } as const;
/**
 * Bits of a node. `host`, `subnet`: the block or its network is new. `hostHome`, `subnetHome`: it is new as a home
 * network. `isHome`, `subnetIsHome`: it is a home network.
 */
export const freshNode = {
  host: 1,
  hostHome: 2,
  subnet: 4,
  subnetHome: 8,
  isHome: 16,
  subnetIsHome: 32,
} as const;

/** Kinds of items in the set, so that their hashes differ. */
const kinds = {
  host: { node: 1, home: 2, edge: 3 },
  subnet: { node: 4, home: 5, edge: 6 },
} as const;
type Kinds = (typeof kinds)[keyof typeof kinds];

/**
 * The nodes and edges of the whole graph, among hosts and among subnets, used to find and count new edges. A
 * million edges take up to 100 MB, and ten thousand edges a few hundred kilobytes.
 */
export class KnownGraph {
  /** Edges among hosts. */
  edges = 0;
  readonly #seen = new SeenSet();
  readonly #seeds: readonly [number, number];

  constructor(seed: number) {
    this.#seeds = [finish(seed ^ 0x5bd1e995), finish(seed ^ 0x1b873593)];
  }

  hasNode(blocks: Blocks, node: number): boolean {
    const [high, low] = this.#hashes(blocks, node);
    return this.#seen.has(pairHash(high, 0, kinds.host.node), pairHash(low, 0, kinds.host.node));
  }

  hasEdge(nodes: Nodes, source: number, target: number): boolean {
    const [sourceHigh, sourceLow] = this.#hashes(nodes, source);
    const [targetHigh, targetLow] = this.#hashes(nodes, target);
    return this.#seen.has(
      pairHash(sourceHigh, targetHigh, kinds.host.edge),
      pairHash(sourceLow, targetLow, kinds.host.edge),
    );
  }

  /** Adds a segment, and returns its new nodes and edges. */
  add(segment: Segment): Fresh {
    const { nodeCount } = segment;
    const nets = new Nodes();
    const netOf = Uint32Array.from({ length: nodeCount }, (_, node) => subnetOf(nets, segment, node));
    const own = this.#nodes(segment, nodeCount, kinds.host);
    const its = this.#nodes(nets, nets.count, kinds.subnet);
    const nodes = new Uint8Array(nodeCount);
    for (let node = 0; node < nodeCount; node++)
      nodes[node] =
        (own.fresh[node]! & 3) |
        ((its.fresh[netOf[node]!]! & 3) << 2) |
        (own.fresh[node]! & freshNode.isHome) |
        ((its.fresh[netOf[node]!]! & freshNode.isHome) << 1);
    const rows = new Uint8Array(segment.rows);
    let freshNets: Set<number> | undefined;
    let freshHosts: Set<number> | undefined;
    for (let row = 0; row < segment.rows; row++) {
      const source = segment.source[row]!;
      const target = segment.target[row]!;
      // An edge that is in several hours of the segment is new in all these hours.
      const pair = source * nodeCount + target;
      if (this.#pair(own, source, target, kinds.host.edge)) {
        this.edges++;
        freshHosts ??= new Set();
        freshHosts.add(pair);
      }
      const netSource = netOf[source]!;
      const netTarget = netOf[target]!;
      const netPair = netSource * nets.count + netTarget;
      if (this.#pair(its, netSource, netTarget, kinds.subnet.edge)) {
        freshNets ??= new Set();
        freshNets.add(netPair);
      }
      rows[row] = (freshHosts?.has(pair) ? freshEdge.host : 0) | (freshNets?.has(netPair) ? freshEdge.subnet : 0);
    }
    return { rows, nodes };
  }

  #pair(nodes: Hashed, source: number, target: number, kind: number): boolean {
    return this.#seen.add(
      pairHash(nodes.high[source]!, nodes.high[target]!, kind),
      pairHash(nodes.low[source]!, nodes.low[target]!, kind),
    );
  }

  #nodes(blocks: Blocks, count: number, kind: Kinds): Hashed {
    const high = new Uint32Array(count);
    const low = new Uint32Array(count);
    const fresh = new Uint8Array(count);
    for (let node = 0; node < count; node++) {
      const [h, l] = this.#hashes(blocks, node);
      high[node] = h;
      low[node] = l;
      const isNew = this.#seen.add(pairHash(h, 0, kind.node), pairHash(l, 0, kind.node));
      const homeKey = [pairHash(h, 0, kind.home), pairHash(l, 0, kind.home)] as const;
      const newHome = blocks.home[node] === 1 && this.#seen.add(...homeKey);
      const isHome = blocks.home[node] === 1 || this.#seen.has(...homeKey);
      fresh[node] = (isNew ? freshNode.host : 0) | (newHome ? freshNode.hostHome : 0) | (isHome ? freshNode.isHome : 0);
    }
    return { high, low, fresh };
  }

  #hashes(blocks: Blocks, node: number): [high: number, low: number] {
    const hash = (seed: number) =>
      hashBlock(blocks.w0[node]!, blocks.w1[node]!, blocks.w2[node]!, blocks.w3[node]!, blocks.prefix[node]!, seed);
    return [hash(this.#seeds[0]), hash(this.#seeds[1])];
  }
}

interface Hashed {
  readonly high: Uint32Array;
  readonly low: Uint32Array;
  readonly fresh: Uint8Array;
}
