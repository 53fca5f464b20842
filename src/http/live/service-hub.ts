import type { Queries } from '../../analytics/queries.ts';
import type { ParsedFilter } from '../../contract/query.ts';
import type { Alert } from '../../contract/resources/alert.ts';
import type { Scan } from '../../contract/resources/scan.ts';
import type { Pool } from '../../rpc/pool.ts';
import type { StoreReader } from '../../store/store.ts';
import { alertChannel } from './alert-channel.ts';
import { discoveryChannel } from './discovery-channel.ts';
import { eventChannel } from './event-channel.ts';
import { Hub, type HubObserver } from './hub.ts';
import { topologyChannel } from './topology-channel.ts';

export interface ServiceHubOptions {
  readonly reader: Pick<StoreReader, 'assets' | 'head'>;
  /** What subscribers missed is read there. */
  readonly queries: Pick<Pool<Queries>, 'run'>;
  /** Filters as the lists have them. */
  readonly alertFilter: (filter: ParsedFilter) => (alert: Alert) => boolean;
  readonly scanFilter: (filter: ParsedFilter) => (scan: Scan) => boolean;
  readonly observer: HubObserver;
  readonly logError: (error: unknown, message: string) => void;
}

/** The channels of the contract, over the reader's heads and the pool's replays. */
export function serviceHub(options: ServiceHubOptions): Hub {
  const { reader, queries, alertFilter, scanFilter, observer, logError } = options;
  const events = (table: 'network' | 'dns') =>
    eventChannel(
      table,
      () => reader.head(`events.${table}`),
      (query, signal) => queries.run('replayEvents', query, { signal }),
      reader.assets,
    );
  const alerts = alertChannel(
    () => reader.head('alerts'),
    alertFilter,
    (query, signal) => queries.run('replayAlerts', query, { signal }),
  );
  const topology = topologyChannel(
    () => reader.head('topology'),
    (query, signal) => queries.run('replayTopology', query, { signal }),
  );
  const discovery = discoveryChannel(
    () => reader.head('discovery'),
    scanFilter,
    (query, signal) => queries.run('replayScans', query, { signal }),
  );
  return new Hub(
    { 'events.network': events('network'), 'events.dns': events('dns'), alerts, topology, discovery },
    observer,
    logError,
  );
}
