import type { AlertUpdate, Committed, ScanUpdate, StoreReader } from '../../store/store.ts';
import { AlertFeed } from './alert-feed.ts';
import { LiveScan } from './discovery-channel.ts';
import { LiveBlock } from './event-channel.ts';
import type { Hub } from './hub.ts';
import { TopologyFeed } from './topology-channel.ts';

/** Brings what was committed to the channels of a hub. Call in commit order, after the flush. */
export class LiveFeeds {
  readonly #hub: Hub;
  readonly #reader: Pick<StoreReader, 'assets'>;
  readonly #alerts: AlertFeed;
  readonly #topology: TopologyFeed;

  /** @param onAlerts - is told of every change of an alert, as subscribers are */
  constructor(
    hub: Hub,
    reader: Pick<StoreReader, 'assets' | 'head' | 'replayAlerts' | 'topologySteps'>,
    onAlerts: (updates: readonly AlertUpdate[]) => void = () => {},
  ) {
    this.#hub = hub;
    this.#reader = reader;
    this.#alerts = new AlertFeed({
      reader,
      publish: (batch) => hub.publish('alerts', batch),
      onChanged: onAlerts,
    });
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
    this.#alerts.committed(updates);
  }

  /** What the store raised by itself is looked for. @returns whether there was any */
  raised(): boolean {
    return this.#alerts.poll();
  }

  scan(update: ScanUpdate): void {
    this.#hub.publish('discovery', new LiveScan(update));
  }

  /** Changes of the graph that came after a commit or without one are looked for anew. */
  topology(): void {
    this.#topology.poll();
  }
}
