import type { BulkFields } from '../../contract/bulk-items.ts';
import type { ItemReader } from '../item-reader.ts';

/** Elasticsearch's `_bulk`: action lines, each followed by a line with its document. */
export interface BulkFraming {
  readonly name: 'elasticsearch_bulk';
  /** Default index for items without an index. */
  readonly index: string;
  /** Fields that the client requests in the results of items. */
  readonly fields: BulkFields;
  /** The principal, to which document ids are scoped. */
  readonly sender: string;
}

/** OTLP requests with log records, in one of the OTLP encodings. */
export interface OtlpFraming<Name = 'otlp_json' | 'otlp_protobuf'> {
  readonly name: Name;
  /** The principal, to which record ids are scoped. */
  readonly sender: string;
}

/** Splunk's HTTP Event Collector: events in envelopes, or raw lines. */
export interface SplunkFraming<Name = 'splunk_event' | 'splunk_raw'> {
  readonly name: Name;
  /** Default sensor for records that do not name a sensor. */
  readonly host?: string;
}

/**
 * Framing of the records in a body, if the media type does not determine it. Plain data: it crosses threads.
 */
export type FramingOptions =
  | BulkFraming
  | OtlpFraming<'otlp_json'>
  | OtlpFraming<'otlp_protobuf'>
  | SplunkFraming<'splunk_event'>
  | SplunkFraming<'splunk_raw'>;

/**
 * The results of a bulk request's items, written before the commit determines which explicit ids are duplicates. Plain
 * data, made to be transferred.
 */
export interface BulkItems {
  /** True if an item has already failed. */
  readonly failed: boolean;
  /** The results of all items, as JSON in UTF-8, separated by commas. */
  readonly json: ArrayBuffer;
  /** The end position of each item's result in `json`. */
  readonly ends: Uint32Array;
  /**
   * A number for each item: 1 if the item must create its record, and fails if the record already exists;
   * otherwise 0.
   */
  readonly creations: Uint8Array;
  /** Index of the block of each item's record, among the blocks of the body; -1 without a record. */
  readonly blocks: Int32Array;
  /** Row of each item's record. */
  readonly rows: Uint16Array;
  /**
   * Numbers, from 0, of items whose result contains `blankId` as a placeholder for the id of the item's row.
   */
  readonly blanks: Uint32Array;
}

/**
 * Passes the items of a body to `items`, in order. Leaves the bytes unchanged, so that they can be read again.
 * Throws INVALID_REQUEST for field `body` if the items cannot be separated; no item is then stored.
 */
export type Framing<O extends FramingOptions> = (bytes: Buffer, items: ItemReader, options: O) => BulkItems | undefined;
