import { compileAlertFilter } from '../../../src/alerts/lists/alerts.ts';
import { queries } from '../../../src/analytics/queries.ts';
import type { ChannelName } from '../../../src/contract/channels.ts';
import { compileScanFilter } from '../../../src/discovery/lists/scans.ts';
import { LiveFeeds } from '../../../src/http/live/feeds.ts';
import { serviceHub } from '../../../src/http/live/service-hub.ts';
import type { StoreReader } from '../../../src/store/store.ts';
import type { MemoryWire } from './fakes.ts';

/** Returns the service's feeds and channels over a store, for subscribers in memory. */
export function memoryHub(reader: StoreReader) {
  const run = queries(reader);
  const logError = (error: unknown) => {
    throw error;
  };
  const hub = serviceHub({
    reader,
    queries: { run: async (task, input) => (run[task] as (input: unknown) => never)(input) },
    alertFilter: compileAlertFilter,
    scanFilter: compileScanFilter,
    observer: { live() {}, limitReached() {} },
    logError,
  });
  return {
    feeds: new LiveFeeds({ hub, reader, logError }),
    /** Subscribes to everything in a channel. */
    subscribe(wire: MemoryWire, name: ChannelName, since?: number): void {
      hub.subscribe(wire, name, name, hub.channel(name).compile({ terms: [] }), since);
    },
  };
}
