import type { ParsedFilter } from '../../contract/query.ts';
import { onlyId } from '../../contract/singleton.ts';
import type { AssetSnapshot } from '../../events/asset-lookup.ts';
import type { StoreReader } from '../../store/store.ts';
import { type Step, updateOf } from '../../topology/update.ts';
import { viewOf } from '../../topology/update-view.ts';
import type { Channel, LiveBatch, LiveMessage, ReplayPart } from './channel.ts';

interface TopologyMatcher {
  readonly filter: ParsedFilter;
  /** Of filters that say the same. */
  readonly key: string;
}

/** Reads the changes of the graph past a sequence, in the analytics pool. */
export type ReplayTopology = (
  query: { since: number; filter: ParsedFilter; limit: number },
  signal: AbortSignal,
) => Promise<ReplayPart>;

/** `topology`: what is to be added to a graph that is as of the sequence before. */
export function topologyChannel(
  head: () => number,
  replayTopology: ReplayTopology,
): Channel<TopologyMatcher> {
  return {
    head,
    compile: (filter) => ({ filter, key: JSON.stringify(filter.terms) }),
    // Those who look at the graph are few, and nearly all at all of it.
    lookup: () => undefined,
    replay: ({ filter }, since, limit, signal) => replayTopology({ since, filter, limit }, signal),
  };
}

/** One change of the graph. */
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
      messages = attributes === undefined ? [] : [{ seq: this.lastSeq, json: JSON.stringify(resource) }];
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

/** What a row takes in memory, with its nodes and names, roughly. */
const bytesPerRow = 300;

/**
 * Changes up to a sequence that are not told from here: what follows begins after them, so that who was served up to
 * one before reads from disk, and hears of a gap there where one is more than subscribers are told.
 */
class UntoldSteps implements LiveBatch<TopologyMatcher> {
  readonly firstSeq: number;
  readonly lastSeq: number;
  readonly rows = 0;
  readonly bytes = 64;

  constructor(seq: number) {
    this.firstSeq = seq + 1;
    this.lastSeq = seq;
  }

  match(): readonly LiveMessage[] {
    return [];
  }
  values(): Iterable<never> {
    return [];
  }
  forgetTexts(): void {}
}

/** Steps read at a time. */
const stepsAtOnce = 64;

export interface TopologyFeedOptions {
  readonly reader: Pick<StoreReader, 'topologySteps' | 'assets' | 'head'>;
  /** Whether there is any subscriber. */
  isWatched(): boolean;
  publish(batch: LiveBatch): void;
}

/**
 * Brings the changes of the graph from the store's tables to subscribers. They are written when the inventory is, which
 * may be with a commit or a moment after it: `poll` is called after commits, and once a second. While nobody is
 * subscribed no more is read than how far they are.
 */
export class TopologyFeed {
  readonly #options: TopologyFeedOptions;
  #seq: number;

  /** Begins after what is stored now, as the hub does. */
  constructor(options: TopologyFeedOptions) {
    this.#options = options;
    this.#seq = options.reader.head('topology');
  }

  poll(): void {
    const head = this.#options.reader.head('topology');
    if (head === this.#seq) return;
    if (this.#options.isWatched()) this.#tell();
    else {
      this.#options.publish(new UntoldSteps(head));
      this.#seq = head;
    }
  }

  #tell(): void {
    const { reader, publish } = this.#options;
    for (;;) {
      const steps = reader.topologySteps(this.#seq, stepsAtOnce);
      for (const { seq, step } of steps) {
        publish(step === undefined ? new UntoldSteps(seq) : new LiveStep(step, reader.assets));
        this.#seq = seq;
      }
      if (steps.length < stepsAtOnce) return;
    }
  }
}
