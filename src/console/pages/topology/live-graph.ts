import { useEffect, useRef, useState } from 'preact/hooks';
import type { Topology } from '../../../contract/resources/topology.ts';
import { again } from '../../state/answers.ts';
import { useChannel } from '../../state/live.ts';
import { afterUpdates, type LiveGraph, noneWaiting, type Waiting, withWaiting } from './updates.ts';

/** Minimum time between updates of the graph, in milliseconds. */
const updateMs = 2000;

interface Following {
  /** Whether updates are added to the snapshot. Only a snapshot of all time can be live. */
  readonly isLive: boolean;
  readonly groupBy: 'host' | 'subnet';
  /** Maximum number of nodes shown. */
  readonly limit: number;
}

/** Returns the snapshot. While `isLive`, adds the updates since the snapshot, at most every `updateMs`. */
export function useLiveGraph(snapshot: Topology, { isLive, groupBy, limit }: Following): LiveGraph {
  const [shown, setShown] = useState<LiveGraph>({ graph: snapshot, fresh: new Set() });
  const waiting = useRef<Waiting>(noneWaiting);
  useEffect(() => {
    // The subscription starts at the snapshot, so waiting updates are in the snapshot or are sent again.
    waiting.current = noneWaiting;
    setShown(({ fresh }) => ({ graph: snapshot, fresh }));
  }, [snapshot, isLive, groupBy]);
  useEffect(() => {
    if (!isLive) return;
    let isRefetching = false;
    const timer = setInterval(() => {
      if (document.hidden || isRefetching) return;
      const now = waiting.current;
      if (now.kind === 'dropped') {
        isRefetching = true;
        void again(['getTopology']).finally(() => {
          isRefetching = false;
        });
      } else if (now.updates.length > 0) {
        waiting.current = noneWaiting;
        setShown((before) => afterUpdates(before, now.updates, limit));
      }
    }, updateMs);
    return () => clearInterval(timer);
  }, [isLive, limit]);
  useChannel(
    'topology',
    { group_by: groupBy },
    {
      enabled: isLive,
      since: snapshot.seq,
      onEvent: ({ data }) => {
        waiting.current = withWaiting(waiting.current, data.attributes);
      },
      onLagged: () => {
        waiting.current = { kind: 'dropped' };
      },
    },
  );
  return shown;
}
