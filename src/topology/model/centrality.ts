/** A link between two nodes, by index. */
export interface Link {
  readonly source: number;
  readonly target: number;
  readonly weight: number;
}

const damping = 0.85;
const rounds = 50;

/**
 * Returns the centrality of each node: PageRank (Page, Brin, Motwani, Winograd: The PageRank Citation Ranking,
 * 1998) over links in both directions. Both directions are used because a server is as central to its clients as
 * the clients are to the server. The largest value is 1. Values have three decimals.
 */
export function centrality(nodes: number, links: readonly Link[]): number[] {
  const out = new Float64Array(nodes);
  for (const { source, target, weight } of links) {
    out[source]! += weight;
    out[target]! += weight;
  }
  let rank = new Float64Array(nodes).fill(1 / nodes);
  for (let round = 0; round < rounds; round++) {
    const next = new Float64Array(nodes);
    let loose = 0;
    for (let node = 0; node < nodes; node++) if (out[node] === 0) loose += rank[node]!;
    next.fill((1 - damping + damping * loose) / nodes);
    for (const { source, target, weight } of links) {
      next[target]! += (damping * rank[source]! * weight) / out[source]!;
      next[source]! += (damping * rank[target]! * weight) / out[target]!;
    }
    rank = next;
  }
  const largest = rank.reduce((a, b) => Math.max(a, b), 0);
  return Array.from(rank, (value) => Math.round((1000 * value) / largest) / 1000);
}
