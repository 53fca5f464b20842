import type { ParsedFilter } from '../../contract/query.ts';

/**
 * What a live channel offers to subscribers, whatever it carries. `Matcher` is a filter that the channel has
 * compiled: only the channel that made it can use it.
 */
export interface Channel<Matcher = unknown> {
  /** @throws ServiceError INVALID_REQUEST naming the filter. */
  compile(filter: ParsedFilter): Matcher;
  /** A field of which a message must have one of these values to match; undefined where there is none such. */
  lookup(matcher: Matcher): Lookup | undefined;
  /** Newest committed sequence. */
  head(): number;
  /**
   * What was committed after `since` and matches, oldest first, at most `limit` messages. One call sees everything
   * that was published before it.
   */
  replay(matcher: Matcher, since: number, limit: number, signal: AbortSignal): Promise<ReplayPart>;
}

/** Values as `LiveBatch.values` of the same channel writes them. */
export interface Lookup {
  readonly field: string;
  readonly values: readonly LookupValue[];
}

export type LookupValue = string | number;

export interface LiveMessage {
  readonly seq: number;
  /** The resource as JSON text. */
  readonly json: string;
}

export interface ReplayPart {
  readonly messages: readonly LiveMessage[];
  /** Everything up to here has been read. */
  readonly next: number;
  /** What lies between `since` and the oldest that is still stored, matching or not. */
  readonly lost: number;
}

/** One commit on its way to subscribers. */
export interface LiveBatch<Matcher = unknown> {
  /** Sequence of its first item, where every sequence has an item; undefined where some are skipped. */
  readonly firstSeq: number | undefined;
  readonly lastSeq: number;
  readonly rows: number;
  /** Memory that it holds besides texts. */
  readonly bytes: number;
  /** The messages that match, oldest first. The text of each is made once until `forgetTexts`, whoever wants it. */
  match(matcher: Matcher): readonly LiveMessage[];
  /** Every value that the field has in this batch, repeated or not. */
  values(field: string): Iterable<LookupValue>;
  forgetTexts(): void;
}
