import { createHash, hash } from 'node:crypto';
import type { Table } from '../events/records.ts';
import type { TsvHeader } from '../events/tsv-headers.ts';
import { limits } from '../limits.ts';
import { homeNetworks } from '../net/home-networks.ts';
import { Addresses } from './addresses.ts';
import { Batch, type BodyRows, type ParsedBatch } from './batch.ts';
import type { Detectors } from './detectors.ts';
import { elasticsearchBulk } from './framing/elasticsearch-bulk.ts';
import type { BulkItems, Framing, FramingOptions } from './framing/framing.ts';
import { otlpJson } from './framing/otlp-json.ts';
import { otlpProtobuf } from './framing/otlp-protobuf.ts';
import { splunkEvent, splunkRaw } from './framing/splunk.ts';
import { type Encoding, inflate } from './inflate.ts';
import { ItemReader } from './item-reader.ts';
import type { EnvelopeContext } from './parse-context.ts';
import { RecordReader, type SourceFormat } from './record-reader.ts';
import { eachLine, eachValue, textStart } from './split.ts';

/**
 * Buffer of this thread for bodies. The thread reads one body at a time, and each body overwrites the previous
 * one.
 */
let kept = Buffer.allocUnsafeSlow(0);

/**
 * Returns the body in one piece. Several pieces are copied into a buffer, which is reused for the next body
 * if the body has at most `limits.maxKeptBodyBytes` (allocating fresh pages takes seven times as long as
 * copying). The result is valid until the next body.
 */
function assemble(pieces: readonly ArrayBuffer[], length: number): Buffer {
  const [only] = pieces;
  if (pieces.length === 1 && only !== undefined) return Buffer.from(only, 0, length);
  const whole = roomFor(length);
  let offset = 0;
  for (const piece of pieces) {
    const bytes = new Uint8Array(piece, 0, Math.min(piece.byteLength, length - offset));
    whole.set(bytes, offset);
    offset += bytes.byteLength;
  }
  return whole;
}

function roomFor(length: number): Buffer {
  if (length > limits.maxKeptBodyBytes) return Buffer.allocUnsafeSlow(length);
  if (kept.length < length) kept = Buffer.allocUnsafeSlow(length);
  return kept.subarray(0, length);
}

type Named<N extends FramingOptions['name']> = Extract<FramingOptions, { readonly name: N }>;

/** The framings of shipper protocols, by name. */
const framings: { readonly [N in FramingOptions['name']]: Framing<Named<N>> } = {
  elasticsearch_bulk: elasticsearchBulk,
  otlp_json: otlpJson,
  otlp_protobuf: otlpProtobuf,
  splunk_event: splunkEvent,
  splunk_raw: splunkRaw,
};

function frame(bytes: Buffer, items: ItemReader, options: FramingOptions): BulkItems | undefined {
  return (framings[options.name] as Framing<FramingOptions>)(bytes, items, options);
}

/**
 * One request's body and all data that reading it depends on. Plain data: it crosses threads; `pieces` are
 * transferred.
 */
export interface IngestInput {
  /**
   * Pieces of the body as sent, in order; the last piece may be longer than its data. The pieces are
   * transferred, and returned in `spent`.
   */
  readonly pieces: readonly ArrayBuffer[];
  /** Length of the body in bytes. */
  readonly length: number;
  /** Value of Content-Encoding. */
  readonly encoding?: Encoding;
  /**
   * `ndjson`: one record per line (including Zeek TSV). `json`: an object or an array of objects. `any`:
   * determined by the beginning of the body.
   */
  readonly mediaType: 'ndjson' | 'json' | 'any';
  /** The framing, if a shipper's protocol defines it. */
  readonly framing?: FramingOptions;
  readonly source?: SourceFormat;
  readonly sensor?: string;
  /** The principal that sent the body. */
  readonly sensorId?: string;
  /** Table of the records, set by the typed endpoints: every record is then a native event of this table. */
  readonly table?: Table;
  /** Time of receipt, epoch milliseconds. */
  readonly receivedAt: number;
  /** `network.home`: addresses and CIDR blocks. */
  readonly home: readonly string[];
  /** True if the result must contain a digest of the request. */
  readonly digest: boolean;
  /** True if the result must contain the SHA-256 of the body as sent. The body is then stored alone. */
  readonly receipt?: boolean;
  /** Zeek TSV headers from earlier bodies of the principal. */
  readonly headers?: readonly TsvHeader[];
  /** True if the body must not be stored together with other bodies. */
  readonly alone?: boolean;
}

/** The results of one body, without its batch. */
export interface ReadBody extends BodyRows {
  /** SHA-256 (hex) of the inflated body and of the parameters that determine its meaning. */
  readonly digest?: string;
  /** SHA-256 (hex) of the body as sent, if `receipt` is set. */
  readonly sha256?: string;
  /** The results of the items, if the framing requires them. */
  readonly items?: BulkItems;
  /** Zeek TSV headers in the body. */
  readonly headers?: readonly TsvHeader[];
  /** The buffers of the body, returned to the caller for reuse. */
  readonly spent: readonly ArrayBuffer[];
}

/** One body with its own batch. */
export interface ParsedBody extends ParsedBatch, ReadBody {}

/**
 * Converts bytes of sensors to blocks of events: inflates, splits, recognises and normalises records.
 * Stateless except for caches (home networks, shapes, recurring texts and addresses), so that any thread can
 * take any body. Zeek TSV headers from earlier bodies come with the body.
 *
 * A bad record is refused individually, and the response names its line and field. The whole body fails with
 * PAYLOAD_TOO_LARGE (inflated bytes, number of records) or INVALID_REQUEST (encoding, home networks).
 */
export function parseBody(input: IngestInput, detectors: Detectors): ParsedBody {
  const batch = new Batch();
  const read = withBytes(input, (bytes, sent) => {
    const body = readBody(bytes, input, batch, detectors);
    return input.receipt === true ? { ...body, sha256: hash('sha256', sent) } : body;
  });
  return { ...batch.finish(), ...read };
}

/**
 * Calls `work` with the decompressed body and the body as sent. Both buffers are valid until `work` returns.
 */
export function withBytes<T>(input: IngestInput, work: (bytes: Buffer, sent: Buffer) => T): T {
  const sent = assemble(input.pieces, input.length);
  const bytes = inflate(sent, input.encoding ?? 'identity');
  try {
    return work(bytes, sent);
  } finally {
    // Frees the memory immediately. Otherwise, the bytes would stay in memory until garbage collection, in addition
    // to the next body.
    if (bytes !== sent && ownsBuffer(bytes)) (bytes.buffer as ArrayBuffer).transfer(0);
  }
}

/** Returns whether the Buffer has its own memory. Small Buffers share memory. */
function ownsBuffer(bytes: Buffer): boolean {
  return bytes.byteOffset === 0 && bytes.length > Buffer.poolSize;
}

/** Adds a body to a batch. If this function throws, the batch must not be used. */
export function readBody(bytes: Buffer, input: IngestInput, batch: Batch, detectors: Detectors): ReadBody {
  const { source, table, sensor, sensorId, receivedAt, framing } = input;
  const said: EnvelopeContext | undefined =
    framing === undefined ? undefined : { id: undefined, sensor: undefined, at: undefined };
  const addresses = new Addresses(homeNetworks(input.home));
  batch.beginBody(receivedAt, sensorId, said);
  const reader = new RecordReader(
    bytes,
    { source, table, said, headers: input.headers },
    { addresses, sensor, detectors, batch, receivedAt },
  );
  let items: BulkItems | undefined;
  if (framing !== undefined && said !== undefined) items = frame(bytes, new ItemReader(reader, batch, said), framing);
  else {
    const each = isOneJson(bytes, input.mediaType) ? eachValue : eachLine;
    each(bytes, (start, end, line) => reader.read(start, end, line));
  }
  const { headers } = reader;
  return {
    ...batch.endBody(),
    spent: input.pieces,
    ...(headers === undefined ? {} : { headers }),
    ...(items === undefined ? {} : { items }),
    ...(input.digest ? { digest: digestOf(bytes, input) } : {}),
  };
}

/**
 * Returns the digest of a request. Equal bytes have different digests if the sensor or the format differs.
 */
function digestOf(bytes: Buffer, { mediaType, source, sensor, table }: IngestInput): string {
  const hash = createHash('sha256').update(JSON.stringify([mediaType, source, sensor, table]));
  return hash.update(bytes).digest('hex');
}

/**
 * Returns whether to split the body into JSON values rather than lines. Some shippers label all bodies as JSON,
 * so TSV and other lines are read by line in any case. Without a media type, a body is split into values if it
 * is an array, or begins with an opening brace that is alone on its line.
 */
function isOneJson(bytes: Buffer, mediaType: IngestInput['mediaType']): boolean {
  if (mediaType === 'ndjson') return false;
  let at = textStart(bytes);
  while (at < bytes.length && bytes[at]! <= 32) at++;
  const start = bytes.toString('latin1', at, at + 64);
  return (mediaType === 'json' ? /^[[{]/ : /^(\[|\{\s*\n)/).test(start);
}
