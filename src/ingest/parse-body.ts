import { createHash, hash } from 'node:crypto';
import { homeNetworks } from '../events/home-networks.ts';
import type { Table } from '../events/records.ts';
import type { TsvHeader } from '../events/tsv-headers.ts';
import { Addresses } from './addresses.ts';
import { assemble } from './assemble.ts';
import { Batch, type BodyRows, type ParsedBatch } from './batch.ts';
import type { Detectors } from './detectors.ts';
import type { BulkItems, FramingOptions } from './framing/framing.ts';
import { frame } from './framing/framings.ts';
import { type Encoding, inflate } from './inflate.ts';
import { Items } from './items.ts';
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
  /** `ndjson`: a record a line (Zeek TSV too). `json`: an object, or an array of them. `any`: by how it begins. */
  readonly mediaType: 'ndjson' | 'json' | 'any';
  /** How the records lie in it, where a protocol of shippers says it. */
  readonly framing?: FramingOptions;
  readonly source?: SourceFormat;
  readonly sensor?: string;
  /** The principal that sent it. */
  readonly sensorId?: string;
  /** The typed endpoints: every record is one native event of this table. */
  readonly table?: Table;
  /** Epoch milliseconds. */
  readonly receivedAt: number;
  /** `network.home`: addresses and CIDR blocks. */
  readonly home: readonly string[];
  /** Whether a digest of the request is wanted. */
  readonly digest: boolean;
  /** Whether the SHA-256 of the body as sent is wanted. The body is stored alone then. */
  readonly receipt?: boolean;
  /** Headers of Zeek TSV that earlier bodies of the principal had. */
  readonly headers?: readonly TsvHeader[];
  /** Not to be stored together with others. */
  readonly alone?: boolean;
}

/** What one body came to, beside the batch that its records are in. */
export interface ReadBody extends BodyRows {
  /** SHA-256 (hex) of what the request says: the inflated body and how it is to be read. */
  readonly digest?: string;
  /** SHA-256 (hex) of the body as sent, where `receipt` wants it. */
  readonly sha256?: string;
  /** What became of each item, where the framing says it. */
  readonly items?: BulkItems;
  /** Headers of Zeek TSV that came in it. */
  readonly headers?: readonly TsvHeader[];
  /** The pieces that the body came in, which nobody reads any more. */
  readonly spent: readonly ArrayBuffer[];
}

/** One body, with a batch of its own. */
export interface ParsedBody extends ParsedBatch, ReadBody {}

/**
 * Bytes of sensors to blocks of events: inflates, splits, recognises each record by its shape, normalises. Stateless, but
 * for what makes it quick (home networks, shapes, texts and addresses that recur): any thread can take any body. Headers of
 * Zeek TSV that earlier bodies had come with the body.
 *
 * A bad record is refused alone and named in the answer by line and field. The body as a whole fails with
 * PAYLOAD_TOO_LARGE (inflated bytes, number of records) or INVALID_REQUEST (not in its encoding, home networks).
 */
export function parseBody(input: IngestInput, detectors: Detectors): ParsedBody {
  const batch = new Batch();
  const read = withBytes(input, (bytes, sent) => {
    const body = readBody(bytes, input, batch, detectors);
    return input.receipt === true ? { ...body, sha256: hash('sha256', sent) } : body;
  });
  return { ...batch.finish(), ...read };
}

/** Calls with the body as it was before compression, and as it was sent: to be read until it returns. */
export function withBytes<T>(input: IngestInput, work: (bytes: Buffer, sent: Buffer) => T): T {
  const sent = assemble(input.pieces, input.length);
  const bytes = inflate(sent, input.encoding ?? 'identity');
  try {
    return work(bytes, sent);
  } finally {
    // Left to the garbage collector, the bytes of the last body would still be there with those of the next.
    if (bytes !== sent && ownsBuffer(bytes)) (bytes.buffer as ArrayBuffer).transfer(0);
  }
}

/** Whether no other Buffer shares its memory, as small ones do with each other. */
function ownsBuffer(bytes: Buffer): boolean {
  return bytes.byteOffset === 0 && bytes.length > Buffer.poolSize;
}

/** Adds a body to a batch. Where it throws, what is in the batch is good for nothing. */
export function readBody(bytes: Buffer, input: IngestInput, batch: Batch, detectors: Detectors): ReadBody {
  const { source, table, sensor, sensorId, receivedAt, framing } = input;
  const said: Said | undefined =
    framing === undefined ? undefined : { id: undefined, sensor: undefined, at: undefined };
  const addresses = new Addresses(homeNetworks(input.home));
  batch.beginBody(receivedAt, sensorId, said);
  const reader = new RecordReader(
    bytes,
    { source, table, said, headers: input.headers },
    { addresses, sensor, detectors, batch, receivedAt },
  );
  let items: BulkItems | undefined;
  if (framing !== undefined && said !== undefined)
    items = frame(bytes, new Items(reader, batch, said), framing);
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

/** The same bytes from another sensor, or as another format, are another request. */
function digestOf(bytes: Buffer, { mediaType, source, sensor, table }: IngestInput): string {
  const hash = createHash('sha256').update(JSON.stringify([mediaType, source, sensor, table]));
  return hash.update(bytes).digest('hex');
}

/**
 * Whether values of JSON are looked for, and not lines. Some shippers call everything JSON: TSV and lines of other things are
 * then still read by line. Without a media type, an array or an object that goes on behind its first line is one.
 */
function isOneJson(bytes: Buffer, mediaType: IngestInput['mediaType']): boolean {
  if (mediaType === 'ndjson') return false;
  let at = textStart(bytes);
  while (at < bytes.length && bytes[at]! <= 32) at++;
  const start = bytes.toString('latin1', at, at + 64);
  return (mediaType === 'json' ? /^[[{]/ : /^(\[|\{\s*\n)/).test(start);
}
