import type { ackModes } from '../contract/resources/ingest.ts';
import type { ReceiptStatement } from '../contract/resources/receipt.ts';
import { invalidField } from '../errors.ts';
import type { Table } from '../events/records.ts';
import type { BulkItems } from '../ingest/framing/framing.ts';
import type { IngestInput } from '../ingest/parse-body.ts';
import type { BodyOptions, ParsedShare, StoredShare } from '../ingest/pipeline.ts';
import type { ReceiptSignature } from '../ledger/ledger.ts';
import { uuid7 } from '../uuid.ts';
import type { Context } from './context.ts';
import { withLimitMetrics } from './limit-metrics.ts';
import type { Header } from './reply.ts';
import type { Services } from './services.ts';

/** The part of a request's context that all ingest operations share. */
export interface BodyContext
  extends Pick<Context<'ingest'>, 'services' | 'body' | 'identity' | 'requestId' | 'audited'> {
  readonly headers: Pick<Context<'ingest'>['headers'], 'candor-receipt'>;
}

export interface StoreOptions {
  readonly source?: Context<'ingest'>['query']['source'];
  readonly sensor?: string;
  readonly ack?: (typeof ackModes)[number];
  readonly table?: Table;
  /** The framing of records in the body; if absent, determined by the media type. */
  readonly framing?: IngestInput['framing'];
  /** Key that makes a retry safe. */
  readonly idempotencyKey?: string;
}

/** A stored body. With `ack=memory`, its commit may still be in progress. */
export interface StoredBody extends Pick<StoredShare, 'answer' | 'blocks' | 'refused'> {
  /** The bulk items of the records, if the framing has items. */
  readonly items?: BulkItems;
  /** The receipt as a header, if one was requested. */
  readonly receipt?: Header;
}

/**
 * Stores a sensor's body. Resolves when the body is on disk. With `ack=processed`, resolves when its events are also
 * processed. With `ack=memory` and no idempotency key, resolves when the body is parsed. A request is completed even if
 * its client disconnects, because part of the body may already be stored. The bytes of the body count as in progress
 * until the commit.
 */
export async function storeBody(context: BodyContext, options: StoreOptions): Promise<StoredBody> {
  const { services, body, requestId } = context;
  const { recycle, release } = body.arrived;
  try {
    const key = options.idempotencyKey;
    const receipt = wantedReceipt(context, options);
    const adding = services.ingest.add(inputOf(context, options, key !== undefined), { key, receipt });
    const parsed = await withLimitMetrics(services.metrics, parsingLimits, adding);
    recycle(parsed.body.spent);
    const { items, answer, unstored } = parsed.body;
    if (context.audited !== undefined) context.audited.unstored = unstored;
    const storing = stored(context, parsed).finally(release);
    // Only the store can check whether the key was used for another body, so a body with a key waits for the
    // commit.
    if (options.ack !== 'memory' || key !== undefined) {
      const share = await storing;
      // The body is stored even if processing has stopped. The health check reports stopped processing.
      if (options.ack === 'processed') await services.store.processed().catch(() => undefined);
      return items === undefined ? share : { ...share, items };
    }
    storing.catch((error: unknown) => {
      services.metrics.failedLate();
      const lost = {
        kind: 'refused',
        reason: 'acknowledged with ack=memory, but not stored',
        times: 1,
      } as const;
      services.metrics.notStored.add(context.identity.principal, lost, Date.now());
      services.log.error({ request_id: requestId, err: error }, 'a body acknowledged with ack=memory was not stored');
    });
    return { answer, blocks: [], refused: [], ...(items === undefined ? {} : { items }) };
  } catch (error) {
    release();
    throw error;
  }
}

const parsingLimits = { OVERLOADED: 'maxQueuedBodies', PAYLOAD_TOO_LARGE: 'maxInflatedBytes' } as const;
const committingLimits = { OVERLOADED: 'maxRpcInFlightBytes' } as const;

function wantedReceipt(context: BodyContext, { ack }: StoreOptions): BodyOptions['receipt'] {
  if (context.headers['candor-receipt'] === undefined) return undefined;
  if (ack === 'memory')
    throw invalidField('candor-receipt', 'requires ack=durable, because a receipt confirms that the data is on disk');
  const { id, name } = context.identity.principal;
  const now = Date.now();
  const received_at = new Date(now).toISOString();
  return { id: uuid7(now), bytes: context.body.arrived.length, sensor: { id, name }, received_at };
}

/** Waits until the body is on disk, and counts its records unless an earlier request stored them. */
async function stored(
  { services, identity, body: { arrived } }: BodyContext,
  parsed: ParsedShare,
): Promise<StoredBody> {
  const { metrics } = services;
  const share = await withLimitMetrics(metrics, committingLimits, parsed.stored);
  const { answer, replayed, blocks, refused, receipt } = share;
  if (!replayed) {
    metrics.ingested(answer, arrived.length);
    for (const one of parsed.body.unstored) metrics.notStored.add(identity.principal, one, Date.now());
  }
  const given = receipt === undefined ? {} : { receipt: await receiptHeader(services, receipt) };
  return { answer, blocks, refused, ...given };
}

function inputOf(
  { services, body, headers, identity }: BodyContext,
  options: StoreOptions,
  digest: boolean,
): IngestInput {
  const { source, sensor, table, framing, ack } = options;
  return {
    pieces: body.arrived.pieces,
    length: body.arrived.length,
    mediaType: jsonType.test(body.mediaType) ? 'json' : body.mediaType === '' ? 'any' : 'ndjson',
    ...encodingOf(body),
    ...(framing === undefined ? {} : { framing }),
    ...(source === undefined ? {} : { source }),
    ...(sensor === undefined ? {} : { sensor }),
    ...(table === undefined ? {} : { table }),
    sensorId: identity.principal.id,
    receivedAt: Date.now(),
    home: services.config['network.home'],
    digest,
    ...(headers['candor-receipt'] === undefined ? {} : { receipt: true }),
    // The body is acknowledged before it is stored, so it is stored separately from bodies that may be
    // refused.
    ...(ack === 'memory' ? { alone: true } : {}),
  };
}

const jsonType = /^application\/json\b/i;

/**
 * Returns the encoding of the body. Without a header, gzip is detected by its first bytes (RFC 1952, section
 * 2.3.1). No record begins with these bytes.
 */
function encodingOf({ coding, arrived }: BodyContext['body']): Pick<IngestInput, 'encoding'> {
  if (coding !== undefined) return { encoding: coding };
  const [first, second, method] = new Uint8Array(arrived.pieces[0] ?? new ArrayBuffer(0));
  return first === 0x1f && second === 0x8b && method === 8 ? { encoding: 'gzip' } : {};
}

/** Returns the receipt as a header of the response to an ingest body. */
async function receiptHeader(services: Services, receipt: ReceiptStatement): Promise<Header> {
  const signed = JSON.stringify({ receipt, ...(await signatureOf(services, receipt)) });
  return ['Candor-Receipt', Buffer.from(signed).toString('base64url')];
}

/**
 * Signs a receipt with the current event key. Returns undefined while the log cannot sign: the events and the
 * receipt are stored, so the response is still a success, and the signature can be fetched later.
 */
export async function signatureOf(
  { ledger, log }: Services,
  receipt: ReceiptStatement,
): Promise<ReceiptSignature | undefined> {
  try {
    return await ledger.signReceipt(receipt);
  } catch (error) {
    log.warn({ err: error, receipt_id: receipt.id }, 'a receipt was returned without a signature');
    return undefined;
  }
}
