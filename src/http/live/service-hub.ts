import type { Queries } from '../../analytics/queries.ts';
import type { ParsedFilter } from '../../contract/query.ts';
import type { Alert } from '../../contract/resources/alert.ts';
import type { Scan } from '../../contract/resources/scan.ts';
import type { Pool } from '../../rpc/pool.ts';
import type { StoreReader } from '../../store/store.ts';
import { filteredChannel } from './channel.ts';
import { eventChannel } from './event-channel.ts';
import { Hub, type HubObserver } from './hub.ts';
import { topologyChannel } from './topology-channel.ts';

export interface ServiceHubOptions {
  readonly reader: Pick<StoreReader, 'assets' | 'head'>;
  /** Reads messages that subscribers missed. */
  readonly queries: Pick<Pool<Queries>, 'run'>;
  /** Compiles a filter of the list of alerts. */
  readonly alertFilter: (filter: ParsedFilter) => (alert: Alert) => boolean;
  /** Compiles a filter of the list of scans. */
  readonly scanFilter: (filter: ParsedFilter) => (scan: Scan) => boolean;
  readonly observer: HubObserver;
  readonly logError: (error: unknown, message: string) => void;
}

/** Creates a hub with all channels of the API, using the reader's heads and the pool's replays. */
export function serviceHub(options: ServiceHubOptions): Hub {
  const { reader, queries, alertFilter, scanFilter, observer, logError } = options;
  const events = (table: 'network' | 'dns') =>
    eventChannel(
      table,
      () => reader.head(`events.${table}`),
      (query, signal) => queries.run('replayEvents', query, { signal }),
      reader.assets,
    );
  // Sends the whole resource for each change of an alert, and of a scan's status and progress.
  const alerts = filteredChannel(
    () => reader.head('alerts'),
    alertFilter,
    (query, signal) => queries.run('replayAlerts', query, { signal }),
  );
  const topology = topologyChannel(
    () => reader.head('topology'),
    (query, signal) => queries.run('replayTopology', query, { signal }),
  );
  const discovery = filteredChannel(
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
