import { useEffect, useRef, useState } from 'preact/hooks';
import { applyTopologyUpdate } from '../../../client/client.ts';
import type { Topology, TopologyUpdate } from '../../../contract/resources/topology.ts';
import { again } from '../../state/answers.ts';
import { useChannel } from '../../state/live.ts';

interface LiveGraph {
  readonly graph: Topology;
  /** Ids of nodes, and of edges as `source target`, that came since the page was opened. */
  readonly fresh: ReadonlySet<string>;
}

/** The picture changes this often at most, in milliseconds, however much happens. */
const everyMs = 2000;

/** A snapshot and what came since, where it is live; it must be of all time then. */
export function useLiveGraph(snapshot: Topology, isLive: boolean, groupBy: 'host' | 'subnet'): LiveGraph {
  const [shown, setShown] = useState<LiveGraph>({ graph: snapshot, fresh: new Set() });
  const waiting = useRef<TopologyUpdate[]>([]);
  useEffect(() => setShown(({ fresh }) => ({ graph: snapshot, fresh })), [snapshot]);
  useEffect(() => {
    if (!isLive) return;
    const timer = setInterval(() => {
      if (document.hidden || waiting.current.length === 0) return;
      const updates = waiting.current;
      waiting.current = [];
      setShown((before) => updates.reduce(updated, before));
    }, everyMs);
    return () => clearInterval(timer);
  }, [isLive]);
  useChannel(
    'topology',
    { group_by: groupBy },
    {
      enabled: isLive,
      onEvent: ({ data }) => waiting.current.push(data.attributes),
      onLagged: () => void again(['getTopology']),
    },
  );
  return shown;
}

function updated({ graph, fresh }: LiveGraph, update: TopologyUpdate): LiveGraph {
  const added = [
    ...update.nodes.filter((node) => node.new).map(({ id }) => id),
    ...update.edges.filter((edge) => edge.new).map(({ source, target }) => `${source} ${target}`),
  ];
  return {
    graph: applyTopologyUpdate(graph, update),
    fresh: added.length === 0 ? fresh : new Set([...fresh, ...added]),
  };
}
