import type { BulkFields } from '../../contract/bulk-items.ts';
import type { Items } from '../items.ts';

/** Elasticsearch's `_bulk`: actions, each with its document on the next line. */
export interface BulkFraming {
  readonly name: 'elasticsearch_bulk';
  /** Of the items that name none. */
  readonly index: string;
  /** What is wanted of their answers. */
  readonly fields: BulkFields;
  /** The principal: its ids of documents are its own. */
  readonly sender: string;
}

/** Requests of OpenTelemetry's protocol with log records, in one of its encodings. */
export interface OtlpFraming<Name = 'otlp_json' | 'otlp_protobuf'> {
  readonly name: Name;
  /** The principal: the ids that it gives its records are its own. */
  readonly sender: string;
}

/** Splunk's HTTP Event Collector: events in envelopes, or raw lines. */
export interface SplunkFraming<Name = 'splunk_event' | 'splunk_raw'> {
  readonly name: Name;
  /** Names the sensor of what names none. */
  readonly host?: string;
}

/** How the records lie in a body where its media type does not say it. Plain data: it crosses threads. */
export type FramingOptions =
  | BulkFraming
  | OtlpFraming<'otlp_json'>
  | OtlpFraming<'otlp_protobuf'>
  | SplunkFraming<'splunk_event'>
  | SplunkFraming<'splunk_raw'>;

/**
 * What the answer of a bulk request says of its items, written before it is known which explicit ids came before. Plain
 * data, made to be moved.
 */
export interface BulkItems {
  /** Whether one of them has failed already. */
  readonly failed: boolean;
  /** The answers of all items, JSON in UTF-8, with commas between. */
  readonly json: ArrayBuffer;
  /** Where the answer of each ends in it. */
  readonly ends: Uint32Array;
  /** 1 for each that must create its record, so that it fails where that is there. */
  readonly creations: Uint8Array;
  /** The row that each became: its block among those of the body, -1 for none, and the row in it. */
  readonly blocks: Int32Array;
  readonly rows: Uint16Array;
  /** The items, by their number from 0, in whose answer `blankId` keeps the place of the id of their row. */
  readonly blanks: Uint32Array;
}

/**
 * Tells the items of a body to `items`, in order. INVALID_REQUEST for field `body` where they cannot be told apart:
 * nothing of it is kept then. It leaves the bytes as they were: they may be read again.
 */
export type Framing<O extends FramingOptions> = (
  bytes: Buffer,
  items: Items,
  options: O,
) => BulkItems | undefined;
