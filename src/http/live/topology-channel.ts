import type { ParsedFilter } from '../../contract/query.ts';
import { onlyId } from '../../contract/singleton.ts';
import type { AssetSnapshot } from '../../events/asset-lookup.ts';
import type { StoreReader } from '../../store/store.ts';
import { type Step, updateOf, viewOf } from '../../topology/model/update.ts';
import { type Channel, LazyMessage, type LiveBatch, type LiveMessage, type ReplayPart } from './channel.ts';

interface TopologyMatcher {
  readonly filter: ParsedFilter;
  /** Key of the filter: filters with the same key select the same changes. */
  readonly key: string;
}

/** Reads the changes of the graph after a sequence, in the analytics pool. */
export type ReplayTopology = (
  query: { since: number; filter: ParsedFilter; limit: number },
  signal: AbortSignal,
) => Promise<ReplayPart>;

/** Returns the channel `topology`, whose messages are additions to the graph as of the previous sequence. */
export function topologyChannel(head: () => number, replayTopology: ReplayTopology): Channel<TopologyMatcher> {
  return {
    head,
    compile: (filter) => ({ filter, key: JSON.stringify(filter.terms) }),
    // Filters are not indexed: subscribers are few, and most watch the whole graph.
    subscriptionKey: () => undefined,
    replay: ({ filter }, since, limit, signal) => replayTopology({ since, filter, limit }, signal),
  };
}

/** A change of the graph, as a batch. */
class LiveStep implements LiveBatch<TopologyMatcher> {
  readonly firstSeq: number;
  readonly lastSeq: number;
  readonly rows: number;
  readonly bytes: number;
  readonly #step: Step;
  readonly #assets: AssetSnapshot;
  readonly #messages = new Map<string, readonly LiveMessage[]>();

  constructor(step: Step, assets: AssetSnapshot) {
    this.#step = step;
    this.#assets = assets;
    this.firstSeq = step.seq;
    this.lastSeq = step.seq;
    this.rows = (step.segment?.rows ?? 0) + step.renamed.length;
    this.bytes = 1024 + this.rows * bytesPerRow;
  }

  match({ filter, key }: TopologyMatcher): readonly LiveMessage[] {
    let messages = this.#messages.get(key);
    if (messages === undefined) {
      this.#assets.refresh();
      const attributes = updateOf(this.#step, viewOf(filter, this.#assets));
      const resource = { id: onlyId, type: 'topology_update', attributes };
      messages = attributes === undefined ? [] : [new LazyMessage(this.lastSeq, () => JSON.stringify(resource))];
      this.#messages.set(key, messages);
    }
    return messages;
  }

  values(): Iterable<never> {
    return [];
  }

  forgetTexts(): void {
    this.#messages.clear();
  }
}

/** Approximate memory of a row with its nodes and names. */
const bytesPerRow = 300;

/**
 * Returns an empty batch for changes up to a sequence that were not published. The batch starts after these changes, so
 * the hub finds a gap, and live subscriptions read the changes from disk. Changes that are too large to publish are
 * then reported as lost.
 */
const unpublishedSteps = (seq: number): LiveBatch => ({
  firstSeq: seq + 1,
  lastSeq: seq,
  rows: 0,
  bytes: 64,
  match: () => [],
  values: () => [],
  forgetTexts: () => undefined,
});

/** Maximum number of steps in one read. */
const stepsAtOnce = 64;

export interface TopologyFeedOptions {
  readonly reader: Pick<StoreReader, 'topologySteps' | 'assets' | 'head'>;
  /** Returns whether there is any subscriber. */
  isWatched(): boolean;
  publish(batch: LiveBatch): void;
}

/**
 * Publishes changes of the graph. Changes are read from the store's tables only if the channel has subscribers.
 */
export class TopologyFeed {
  readonly #options: TopologyFeedOptions;
  #seq: number;

  /** Creates a feed that begins after the stored changes, as the hub does. */
  constructor(options: TopologyFeedOptions) {
    this.#options = options;
    this.#seq = options.reader.head('topology');
  }

  /** Publishes the changes up to sequence `head`. */
  publishTo(head: number): void {
    if (head <= this.#seq) return;
    if (this.#options.isWatched()) this.#publishSteps();
    else {
      this.#options.publish(unpublishedSteps(head));
      this.#seq = head;
    }
  }

  #publishSteps(): void {
    const { reader, publish } = this.#options;
    for (;;) {
      const steps = reader.topologySteps(this.#seq, stepsAtOnce);
      for (const { seq, step } of steps) {
        publish(step === undefined ? unpublishedSteps(seq) : new LiveStep(step, reader.assets));
        this.#seq = seq;
      }
      if (steps.length < stepsAtOnce) return;
    }
  }
}
