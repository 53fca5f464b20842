import type { AlertUpdate, Committed, ScanUpdate, StoreReader } from '../../store/store.ts';
import { LiveAlerts } from './alert-channel.ts';
import { LiveScan } from './discovery-channel.ts';
import { LiveBlock } from './event-channel.ts';
import type { Hub } from './hub.ts';
import { TopologyFeed } from './topology-channel.ts';

/** Brings what was committed to the channels of a hub. Call in commit order, after the flush. */
export class LiveFeeds {
  readonly #hub: Hub;
  readonly #reader: Pick<StoreReader, 'assets'>;
  readonly #topology: TopologyFeed;

  constructor(hub: Hub, reader: Pick<StoreReader, 'assets' | 'head' | 'topologySteps'>) {
    this.#hub = hub;
    this.#reader = reader;
    this.#topology = new TopologyFeed({
      reader,
      isWatched: () => hub.isWatched('topology'),
      publish: (batch) => hub.publish('topology', batch),
    });
  }

  /** The buffers of the blocks stay the caller's. */
  batch({ blocks, alerts }: Pick<Committed, 'blocks' | 'alerts'>): void {
    for (const block of blocks)
      this.#hub.publish(
        block.table === 'network' ? 'events.network' : 'events.dns',
        new LiveBlock(block, this.#reader.assets),
      );
    this.alerts(alerts);
    this.topology();
  }

  alerts(updates: readonly AlertUpdate[]): void {
    if (updates.length > 0) this.#hub.publish('alerts', new LiveAlerts(updates, this.#reader.assets));
  }

  scan(update: ScanUpdate): void {
    this.#hub.publish('discovery', new LiveScan(update));
  }

  /** Changes of the graph that came after a commit or without one are looked for anew. */
  topology(): void {
    this.#topology.poll();
  }
}
