import type { ParsedFilter } from '../../contract/query.ts';

/** A message whose text is created when it is first read. It is never created if no reader has room for the message. */
export class LazyMessage implements LiveMessage {
  readonly seq: number;
  readonly #write: () => string;
  #json: string | undefined;

  constructor(seq: number, write: () => string) {
    this.seq = seq;
    this.#write = write;
  }

  get json(): string {
    this.#json ??= this.#write();
    return this.#json;
  }
}

/** A subscription's filter, and a function that returns whether a resource matches it. */
export interface FilterMatcher<T> {
  readonly filter: ParsedFilter;
  readonly wanted: (resource: T) => boolean;
}

/** Reads the newest state of resources that changed after a sequence, in the analytics pool. */
type ReplayChanges = (
  query: { since: number; filter: ParsedFilter; limit: number },
  signal: AbortSignal,
) => Promise<ReplayPart>;

/**
 * Returns a channel of changed resources. Filters are not indexed: these resources are few, and evaluating
 * every subscription costs less than a lookup.
 */
export const filteredChannel = <T>(
  head: () => number,
  compileFilter: (filter: ParsedFilter) => FilterMatcher<T>['wanted'],
  replayChanges: ReplayChanges,
): Channel<FilterMatcher<T>> => ({
  head,
  compile: (filter) => ({ filter, wanted: compileFilter(filter) }),
  subscriptionKey: () => undefined,
  replay: ({ filter }, since, limit, signal) => replayChanges({ since, filter, limit }, signal),
});

/**
 * The common interface of live channels. `Matcher` is a filter compiled by the channel, which only that
 * channel can use.
 */
export interface Channel<Matcher = unknown> {
  /** Compiles a filter. Throws INVALID_REQUEST that names the invalid filter. */
  compile(filter: ParsedFilter): Matcher;
  /**
   * Returns a field and values: every matching message has one of these values in the field. Returns undefined if there
   * is no such field.
   */
  subscriptionKey(matcher: Matcher): SubscriptionKey | undefined;
  /** Returns the newest committed sequence. */
  head(): number;
  /**
   * Returns matching messages committed after `since`, oldest first, at most `limit`. A call includes every
   * message that was published before the call.
   */
  replay(matcher: Matcher, since: number, limit: number, signal: AbortSignal): Promise<ReplayPart>;
}

/** A field and values, in the form of the channel's `LiveBatch.values`. */
export interface SubscriptionKey {
  readonly field: string;
  readonly values: readonly SubscriptionValue[];
}

export type SubscriptionValue = string | number;

export interface LiveMessage {
  readonly seq: number;
  /** The resource as JSON text. */
  readonly json: string;
}

export interface ReplayPart {
  readonly messages: readonly LiveMessage[];
  /** The sequence up to which all messages have been read. */
  readonly next: number;
  /** Number of messages after `since` that are no longer stored, matching or not. */
  readonly lost: number;
}

/** One commit that is published to subscribers. */
export interface LiveBatch<Matcher = unknown> {
  /** The sequence of the first item, if every sequence has an item; undefined if sequences are skipped. */
  readonly firstSeq: number | undefined;
  readonly lastSeq: number;
  readonly rows: number;
  /** Approximate memory of the batch in bytes, without texts. */
  readonly bytes: number;
  /**
   * Returns matching messages, oldest first. The text of each message is created when it is first read, once for all
   * subscribers, and is cached until `forgetTexts`.
   */
  match(matcher: Matcher): readonly LiveMessage[];
  /** Returns all values of the field in this batch. Values may be repeated. */
  values(field: string): Iterable<SubscriptionValue>;
  forgetTexts(): void;
}
