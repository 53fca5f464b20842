import type { ParsedFilter } from '../../contract/query.ts';
import type { AssetSnapshot } from '../../events/asset-lookup.ts';
import { type EventBlock, openBlock } from '../../events/format/block.ts';
import { BlockAssets } from '../../events/format/block-assets.ts';
import type { EventFilter } from '../../events/query/filter.ts';
import { type CompiledFilter, compileFilter } from '../../events/query/select.ts';
import type { Table } from '../../events/records.ts';
import { writeEventJson } from '../../events/resource.ts';
import type { CommittedBlock } from '../../store/store.ts';
import {
  type Channel,
  LazyMessage,
  type LiveBatch,
  type LiveMessage,
  type ReplayPart,
  type SubscriptionKey,
  type SubscriptionValue,
} from './channel.ts';
import { subscriptionKeyOf, valuesOf } from './event-subscription-key.ts';

interface EventMatcher {
  readonly filter: EventFilter;
  readonly compiled: CompiledFilter;
  readonly key: SubscriptionKey | undefined;
}

/** Reads stored events after a sequence, in the analytics pool. */
export type ReplayEvents = (
  query: { table: Table; since: number; filter: EventFilter; limit: number },
  signal: AbortSignal,
) => Promise<ReplayPart>;

/**
 * Returns the channel `events.network` or `events.dns`. Its filters are those of the event lists, evaluated
 * on the columns of each committed block.
 */
export function eventChannel(
  table: Table,
  head: () => number,
  replayEvents: ReplayEvents,
  assets: AssetSnapshot,
): Channel<EventMatcher> {
  return {
    head,
    compile: (filter: ParsedFilter) => ({
      filter,
      compiled: compileFilter(table, filter, assets),
      key: subscriptionKeyOf(table, filter),
    }),
    subscriptionKey: ({ key }) => key,
    replay: ({ filter }, since, limit, signal) => replayEvents({ table, since, filter, limit }, signal),
  };
}

/** A committed block in the form for subscribers. */
export class LiveBlock implements LiveBatch<EventMatcher> {
  readonly firstSeq: number;
  readonly lastSeq: number;
  readonly rows: number;
  readonly bytes: number;
  readonly #block: EventBlock;
  readonly #assets: AssetSnapshot;
  /** The assets of the block's addresses, cached until `forgetTexts`. */
  #owners: BlockAssets | undefined;
  readonly #messages = new Map<number, LiveMessage>();

  /**
   * Creates a batch from a block, whose buffer must not change.
   *
   * @param assets - the assets that the channel's filters read; until `forgetTexts` is called, no other batch may use
   *   these assets
   */
  constructor(committed: CommittedBlock, assets: AssetSnapshot) {
    this.#block = openBlock(committed.buffer, committed.first_seq);
    this.#assets = assets;
    this.firstSeq = committed.first_seq;
    this.lastSeq = committed.first_seq + committed.rows - 1;
    this.rows = committed.rows;
    this.bytes = committed.buffer.byteLength;
  }

  match({ compiled }: EventMatcher): LiveMessage[] {
    const owners = this.#now();
    return Array.from(compiled.select(this.#block), (row) => this.#message(row, owners));
  }

  values(field: string): Iterable<SubscriptionValue> {
    return valuesOf(this.#now(), field);
  }

  forgetTexts(): void {
    this.#messages.clear();
    this.#owners = undefined;
  }

  #now(): BlockAssets {
    if (this.#owners === undefined) {
      this.#assets.refresh();
      this.#owners = new BlockAssets(this.#block, this.#assets);
    }
    return this.#owners;
  }

  #message(row: number, owners: BlockAssets): LiveMessage {
    let message = this.#messages.get(row);
    if (!message) {
      message = new LazyMessage(this.#block.firstSeq + row, () => writeEventJson(this.#block, row, owners));
      this.#messages.set(row, message);
    }
    return message;
  }
}
