import type { ParsedFilter } from '../../contract/query.ts';
import type { AssetSnapshot } from '../../events/asset-lookup.ts';
import { type EventBlock, openBlock } from '../../events/block.ts';
import { BlockAssets } from '../../events/block-assets.ts';
import type { EventFilter } from '../../events/filter.ts';
import type { Table } from '../../events/records.ts';
import { writeEventJson } from '../../events/resource.ts';
import { type CompiledFilter, compileFilter } from '../../events/select.ts';
import type { CommittedBlock } from '../../store/store.ts';
import type { Channel, LiveBatch, LiveMessage, Lookup, LookupValue, ReplayPart } from './channel.ts';
import { lookupOf, valuesOf } from './event-lookup.ts';

interface EventMatcher {
  readonly filter: EventFilter;
  readonly compiled: CompiledFilter;
  readonly lookup: Lookup | undefined;
}

/** Reads stored events past a sequence, in the analytics pool. */
export type ReplayEvents = (
  query: { table: Table; since: number; filter: EventFilter; limit: number },
  signal: AbortSignal,
) => Promise<ReplayPart>;

/** `events.network` and `events.dns`: filters are those of the lists, run over the columns of each committed block. */
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
      lookup: lookupOf(table, filter),
    }),
    lookup: ({ lookup }) => lookup,
    replay: ({ filter }, since, limit, signal) => replayEvents({ table, since, filter, limit }, signal),
  };
}

/** A committed block as subscribers see it. */
export class LiveBlock implements LiveBatch<EventMatcher> {
  readonly firstSeq: number;
  readonly lastSeq: number;
  readonly rows: number;
  readonly bytes: number;
  readonly #block: EventBlock;
  readonly #assets: AssetSnapshot;
  /** As long as the texts are kept. */
  #owners: BlockAssets | undefined;
  readonly #messages = new Map<number, LiveMessage>();

  /**
   * The block's buffer must stay as it is.
   *
   * @param assets - those that the channel's filters read; between two times that the texts are forgotten, no other
   * batch may be asked anything
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

  values(field: string): Iterable<LookupValue> {
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
      message = { seq: this.#block.firstSeq + row, json: writeEventJson(this.#block, row, owners) };
      this.#messages.set(row, message);
    }
    return message;
  }
}
