import { applyTopologyUpdates } from '../../../client/client.ts';
import type { Topology, TopologyUpdate } from '../../../contract/resources/topology.ts';
import { edgeId } from './arrange.ts';

export interface LiveGraph {
  readonly graph: Topology;
  /** Ids of nodes and edges (`edgeId`) added since the page was opened: the newest `maxFresh`. */
  readonly fresh: ReadonlySet<string>;
}

/** Maximum number of elements marked as new. */
export const maxFresh = 1000;
/** Maximum waiting updates. With more updates, a new snapshot is cheaper. */
export const maxWaiting = 300;

/** Updates that are not shown yet, for example while the tab is hidden; `dropped` if there were too many. */
export type Waiting =
  | { readonly kind: 'updates'; readonly updates: readonly TopologyUpdate[] }
  | { readonly kind: 'dropped' };

export const noneWaiting: Waiting = { kind: 'updates', updates: [] };

export function withWaiting(waiting: Waiting, update: TopologyUpdate): Waiting {
  if (waiting.kind === 'dropped' || waiting.updates.length >= maxWaiting) return { kind: 'dropped' };
  return { kind: 'updates', updates: [...waiting.updates, update] };
}

/** Applies updates to the graph, keeping at most `maxNodes` nodes, and marks new elements. */
export function afterUpdates(
  { graph, fresh }: LiveGraph,
  updates: readonly TopologyUpdate[],
  maxNodes: number,
): LiveGraph {
  const next = applyTopologyUpdates(graph, updates, maxNodes);
  if (next === graph) return { graph, fresh };
  const shown = new Set(next.nodes.map(({ id }) => id));
  const added = updates
    .filter(({ seq }) => seq > graph.seq)
    .flatMap(({ nodes, edges }) => [
      ...nodes.filter((node) => node.new && shown.has(node.id)).map(({ id }) => id),
      ...edges.filter((edge) => edge.new && shown.has(edge.source) && shown.has(edge.target)).map(edgeId),
    ]);
  if (added.length === 0) return { graph: next, fresh };
  return { graph: next, fresh: new Set([...new Set([...fresh, ...added])].slice(-maxFresh)) };
}
