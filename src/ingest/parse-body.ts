import { createHash } from 'node:crypto';
import { homeNetworks } from '../events/home-networks.ts';
import type { Table } from '../events/records.ts';
import { Addresses } from './addresses.ts';
import { assemble } from './assemble.ts';
import { Batch, type ParsedBatch } from './batch.ts';
import type { Detectors, RulesInEffect } from './detectors.ts';
import type { BulkItems, FramingOptions } from './framing/framing.ts';
import { frame } from './framing/framings.ts';
import { type Encoding, inflate } from './inflate.ts';
import { Items } from './items.ts';
import type { Reading } from './reading.ts';
import { RecordReader, type SourceFormat } from './record-reader.ts';
import type { Said } from './said.ts';
import { eachLine, eachValue, textStart } from './split.ts';

/** One request's body with all that reading it depends on. Plain data: it crosses threads, `pieces` are moved. */
export interface IngestInput {
  /** As sent, in order; the last may be longer than what it holds. They are moved, and come back as `spent`. */
  readonly pieces: readonly ArrayBuffer[];
  /** Bytes of the body. */
  readonly length: number;
  /** Content-Encoding. */
  readonly encoding?: Encoding;
  /** `ndjson`: a record a line (Zeek TSV too). `json`: an object, or an array of them. */
  readonly mediaType: 'ndjson' | 'json';
  /** How the records lie in it, where a protocol of shippers says it. */
  readonly framing?: FramingOptions;
  readonly source?: SourceFormat;
  readonly sensor?: string;
  /** The typed endpoints: every record is one native event of this table. */
  readonly table?: Table;
  /** Epoch milliseconds. */
  readonly receivedAt: number;
  /** `network.home`: addresses and CIDR blocks. */
  readonly home: readonly string[];
  /** Whether a digest of the request is wanted. */
  readonly digest: boolean;
  /** Rules to ask about each record; none where absent. */
  readonly rules?: RulesInEffect;
}

export interface ParsedBody extends ParsedBatch {
  /** SHA-256 (hex) of what the request says: the inflated body and how it is to be read. */
  readonly digest?: string;
  /** What became of each item, where the framing says it. */
  readonly items?: BulkItems;
  /** The pieces that the body came in, which nobody reads any more. */
  readonly spent: readonly ArrayBuffer[];
}

/**
 * Bytes of sensors to blocks of events: inflates, splits, recognises each record by its shape, normalises. Pure,
 * but for remembered home networks, and stateless: any thread can take any body.
 *
 * A bad record is refused alone and named in the answer by line and field. The body as a whole fails with
 * PAYLOAD_TOO_LARGE (inflated bytes, number of records) or INVALID_REQUEST (not in its encoding, home networks).
 */
export function parseBody(input: IngestInput, detectors: Detectors): ParsedBody {
  const sent = assemble(input.pieces, input.length);
  const bytes = inflate(sent, input.encoding ?? 'identity');
  try {
    return { ...parseBytes(bytes, input, detectors), spent: input.pieces };
  } finally {
    // Left to the garbage collector, the bytes of the last body would still be there with those of the next.
    if (bytes !== sent && ownsBuffer(bytes)) (bytes.buffer as ArrayBuffer).transfer(0);
  }
}

/** Whether no other Buffer shares its memory, as small ones do with each other. */
function ownsBuffer(bytes: Buffer): boolean {
  return bytes.byteOffset === 0 && bytes.length > Buffer.poolSize;
}

function parseBytes(bytes: Buffer, input: IngestInput, detectors: Detectors): Omit<ParsedBody, 'spent'> {
  const addresses = new Addresses(homeNetworks(input.home));
  const { sensor, receivedAt } = input;
  if (input.framing !== undefined)
    return parseFramed(bytes, input, input.framing, { addresses, sensor, detectors, receivedAt });
  const batch = new Batch(receivedAt);
  const reader = new RecordReader(bytes, input, { addresses, sensor, detectors, batch, receivedAt });
  const each = input.mediaType === 'json' && startsAsJson(bytes) ? eachValue : eachLine;
  each(bytes, (start, end, line) => reader.read(start, end, line));
  const parsed = batch.finish();
  return input.digest ? { ...parsed, digest: digestOf(bytes, input) } : parsed;
}

function parseFramed(
  bytes: Buffer,
  { source, table }: IngestInput,
  framing: FramingOptions,
  reading: Omit<Reading, 'batch'>,
): Omit<ParsedBody, 'spent'> {
  const said: Said = { id: undefined, sensor: undefined, at: undefined };
  const batch = new Batch(reading.receivedAt, said);
  const reader = new RecordReader(bytes, { source, table, said }, { ...reading, batch });
  const items = frame(bytes, new Items(reader, batch, said), framing);
  const parsed = batch.finish();
  return items === undefined ? parsed : { ...parsed, items };
}

/** The same bytes from another sensor, or as another format, are another request. */
function digestOf(bytes: Buffer, { mediaType, source, sensor, table }: IngestInput): string {
  const hash = createHash('sha256').update(JSON.stringify([mediaType, source, sensor, table]));
  return hash.update(bytes).digest('hex');
}

const openBracket = 91;
const openBrace = 123;

/** Some shippers call everything JSON: TSV and lines of other things are then still read by line. */
function startsAsJson(bytes: Buffer): boolean {
  for (let at = textStart(bytes); at < bytes.length; at++) {
    const byte = bytes[at] as number;
    if (byte > 32) return byte === openBrace || byte === openBracket;
  }
  return false;
}
