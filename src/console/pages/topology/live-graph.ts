import { useEffect, useRef, useState } from 'preact/hooks';
import type { Topology } from '../../../contract/resources/topology.ts';
import { again } from '../../state/answers.ts';
import { useChannel } from '../../state/live.ts';
import { afterUpdates, type LiveGraph, noneWaiting, type Waiting, withWaiting } from './updates.ts';

/** The picture changes this often at most, in milliseconds, however much happens. */
const everyMs = 2000;

interface Following {
  /** The snapshot is of all time, and what comes is added to it. */
  readonly isLive: boolean;
  readonly groupBy: 'host' | 'subnet';
  /** Nodes that are shown at most. */
  readonly limit: number;
}

/** A snapshot and what came since, where it is live. */
export function useLiveGraph(snapshot: Topology, { isLive, groupBy, limit }: Following): LiveGraph {
  const [shown, setShown] = useState<LiveGraph>({ graph: snapshot, fresh: new Set() });
  const waiting = useRef<Waiting>(noneWaiting);
  useEffect(() => {
    // The subscription begins after the snapshot: what waits is in it, or comes again.
    waiting.current = noneWaiting;
    setShown(({ fresh }) => ({ graph: snapshot, fresh }));
  }, [snapshot, isLive, groupBy]);
  useEffect(() => {
    if (!isLive) return;
    let isAsked = false;
    const timer = setInterval(() => {
      if (document.hidden || isAsked) return;
      const now = waiting.current;
      if (now.kind === 'dropped') {
        isAsked = true;
        void again(['getTopology']).finally(() => {
          isAsked = false;
        });
      } else if (now.updates.length > 0) {
        waiting.current = noneWaiting;
        setShown((before) => afterUpdates(before, now.updates, limit));
      }
    }, everyMs);
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
