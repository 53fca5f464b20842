import type { Topology } from '../../../src/contract/resources/topology.ts';
import type { TopologyQuery } from '../../../src/store/store.ts';

export const everything: TopologyQuery = { group_by: 'host', depth: 1, limit: 2000 };

/** What must agree of two graphs: all but order, groups, centrality and the time of the answer. */
export function comparable({ nodes, edges }: Topology): { nodes: string[]; edges: string[] } {
  const byText = (items: readonly object[]) =>
    items.map((item) => JSON.stringify(Object.entries(item).sort(([a], [b]) => (a < b ? -1 : 1)))).sort();
  return { nodes: byText(nodes.map(({ community, centrality, ...node }) => node)), edges: byText(edges) };
}
