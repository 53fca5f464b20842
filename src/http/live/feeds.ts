import type { AlertUpdate, CommitNotice, CommittedBlock, StoreReader } from '../../store/store.ts';
import { AlertFeed } from './alert-feed.ts';
import { LiveBlock } from './event-channel.ts';
import type { Hub } from './hub.ts';
import { LiveResources } from './live-resources.ts';
import { TopologyFeed } from './topology-channel.ts';

/**
 * Maximum blocks that wait until their events are processed. Older blocks are published with the assets known so
 * far.
 */
const maxWaitingBlocks = 64;
/** Approximate memory of a scan: a dozen attributes and a few targets. */
const scanBytes = 2048;

const channels = { network: 'events.network', dns: 'events.dns' } as const;

interface LiveFeedsOptions {
  readonly hub: Hub;
  readonly reader: Pick<StoreReader, 'assets' | 'head' | 'replayAlerts' | 'topologySteps'>;
  /** Receives each change of an alert once, in order. */
  readonly onAlerts?: (updates: readonly AlertUpdate[]) => void;
  readonly logError: (error: unknown, message: string) => void;
}

/**
 * Publishes commits to the channels of a hub. Methods must be called in commit order, after the flush. Errors
 * are only logged: the data is committed, and an error response would make the client send the data again.
 */
export class LiveFeeds {
  readonly #options: LiveFeedsOptions;
  readonly #alerts: AlertFeed;
  readonly #topology: TopologyFeed;
  /** Blocks with events that are not processed yet, in the order of their commits. */
  #waiting: CommittedBlock[] = [];
  #processed: CommitNotice['processed'] = { network: 1, dns: 1 };

  constructor(options: LiveFeedsOptions) {
    const { hub, reader, onAlerts } = options;
    this.#options = options;
    this.#alerts = new AlertFeed({
      reader,
      publish: (batch) => hub.publish('alerts', batch),
      ...(onAlerts === undefined ? {} : { onChanged: onAlerts }),
    });
    this.#topology = new TopologyFeed({
      reader,
      isWatched: () => hub.isWatched('topology'),
      publish: (batch) => hub.publish('topology', batch),
    });
  }

  /**
   * Publishes stored events when they are processed, because they have the assets of their addresses. The caller keeps
   * the buffers of the blocks.
   */
  events(blocks: readonly CommittedBlock[]): void {
    this.#waiting.push(...blocks);
    this.#publishEvents();
  }

  committed({ alerts, scans, heads, processed }: Omit<CommitNotice, 'outbox'>): void {
    this.#processed = processed;
    this.#publishEvents();
    this.#logged(() => this.#alerts.committed(alerts, heads.alerts));
    this.#logged(() => {
      for (const { seq, scan } of scans) {
        const options = { type: 'scan', bytesOfEach: scanBytes, firstSeq: seq } as const;
        this.#options.hub.publish('discovery', new LiveResources([{ seq, resource: scan }], options));
      }
    });
    this.#logged(() => this.#topology.publishTo(heads.topology));
  }

  #publishEvents(): void {
    const { hub, reader } = this.#options;
    const most = this.#waiting.length - maxWaitingBlocks;
    const isDue = ({ table, first_seq, rows }: CommittedBlock, place: number) =>
      place < most || first_seq + rows <= this.#processed[table] || !hub.isWatched(channels[table]);
    const due = this.#waiting.filter(isDue);
    if (due.length === 0) return;
    this.#waiting = this.#waiting.filter((block, place) => !isDue(block, place));
    this.#logged(() => {
      for (const block of due) hub.publish(channels[block.table], new LiveBlock(block, reader.assets));
    });
  }

  #logged(publish: () => void): void {
    try {
      publish();
    } catch (error) {
      this.#options.logError(error, 'a committed change could not be published');
    }
  }
}
