import type { Topology } from '../../../src/contract/resources/topology.ts';
import type { TopologyQuery } from '../../../src/store/store.ts';

export const everything: TopologyQuery = { group_by: 'host', depth: 1, limit: 2000 };

/**
 * Returns the parts of a graph that must agree: all except order, groups, centrality and the time of the
 * response.
 */
export function comparable({ nodes, edges }: Topology): { nodes: string[]; edges: string[] } {
  const byText = (items: readonly object[]) =>
    items.map((item) => JSON.stringify(Object.entries(item).sort(([a], [b]) => (a < b ? -1 : 1)))).sort();
  return { nodes: byText(nodes.map(({ community, centrality, ...node }) => node)), edges: byText(edges) };
}
