import type { Link } from './centrality.ts';

/**
 * Finds groups of nodes with more links within the group than to other nodes, by Louvain's method (Blondel, Guillaume,
 * Lambiotte, Lefebvre: Fast unfolding of communities in large networks, 2008). Each node joins the neighbouring group
 * with the largest gain of modularity, until no move increases the modularity. Then the groups become nodes, and the
 * method repeats. Nodes are visited in order and ties go to the lower number, so the result is deterministic. Groups
 * are numbered by size; the largest is 0.
 */
export function communities(nodes: number, links: readonly Link[]): number[] {
  let group = Array.from({ length: nodes }, (_, node) => node);
  let size = nodes;
  let level = links;
  for (;;) {
    const joined = joinGroups(size, level);
    const count = Math.max(-1, ...joined) + 1;
    group = group.map((one) => joined[one]!);
    if (count === size) break;
    level = between(joined, level);
    size = count;
  }
  return bySize(group);
}

/** Maximum number of visits to each node. The method usually converges after a few visits. */
const maxRounds = 20;

function joinGroups(nodes: number, links: readonly Link[]): number[] {
  const neighbours: Map<number, number>[] = Array.from({ length: nodes }, () => new Map());
  const degree = new Float64Array(nodes);
  let total = 0;
  for (const { source, target, weight } of links) {
    total += 2 * weight;
    degree[source]! += weight;
    degree[target]! += weight;
    if (source === target) continue;
    neighbours[source]!.set(target, (neighbours[source]!.get(target) ?? 0) + weight);
    neighbours[target]!.set(source, (neighbours[target]!.get(source) ?? 0) + weight);
  }
  const group = Array.from({ length: nodes }, (_, node) => node);
  const sum = Float64Array.from(degree);
  let moved = total > 0;
  for (let round = 0; moved && round < maxRounds; round++) {
    moved = false;
    for (let node = 0; node < nodes; node++) {
      const own = group[node]!;
      sum[own]! -= degree[node]!;
      const toGroup = new Map<number, number>([[own, 0]]);
      for (const [other, weight] of neighbours[node]!)
        toGroup.set(group[other]!, (toGroup.get(group[other]!) ?? 0) + weight);
      const gain = (to: number) => toGroup.get(to)! - (sum[to]! * degree[node]!) / total;
      let best = own;
      // The margin prevents rounding errors from moving a node back and forth.
      for (const to of [...toGroup.keys()].sort((a, b) => a - b)) if (gain(to) > gain(best) + 1e-9) best = to;
      sum[best]! += degree[node]!;
      group[node] = best;
      if (best !== own) moved = true;
    }
  }
  const numbers = new Map<number, number>();
  return group.map((one) => {
    if (!numbers.has(one)) numbers.set(one, numbers.size);
    return numbers.get(one)!;
  });
}

function between(group: readonly number[], links: readonly Link[]): Link[] {
  const sums = new Map<number, Link>();
  for (const { source, target, weight } of links) {
    const a = Math.min(group[source]!, group[target]!);
    const b = Math.max(group[source]!, group[target]!);
    const key = a * group.length + b;
    sums.set(key, { source: a, target: b, weight: weight + (sums.get(key)?.weight ?? 0) });
  }
  return [...sums.values()];
}

function bySize(group: readonly number[]): number[] {
  const sizes = new Map<number, number>();
  for (const one of group) sizes.set(one, (sizes.get(one) ?? 0) + 1);
  const order = [...sizes].sort(([a, x], [b, y]) => y - x || a - b);
  const places = new Map(order.map(([one], place) => [one, place]));
  return group.map((one) => places.get(one)!);
}
