import type { IngestAnswer } from '../contract/resources/ingest.ts';
import type { Table } from '../events/records.ts';
import type { BulkItems } from '../ingest/framing/framing.ts';
import type { IngestInput, ParsedBody } from '../ingest/parse-body.ts';
import type { CommittedBlock, IngestBatch, RefusedRows } from '../store/store.ts';
import { afterCommit } from './after-commit.ts';
import type { Context } from './context.ts';
import { countingRefusals } from './reached.ts';
import type { Services } from './services.ts';

/** What the operations that take sensors' data have in common. */
export type BodyContext = Pick<Context<'ingest'>, 'services' | 'body' | 'identity' | 'requestId'>;

export interface StoreOptions {
  readonly source?: Context<'ingest'>['query']['source'];
  readonly sensor?: string;
  readonly ack?: 'durable' | 'memory';
  readonly table?: Table;
  /** How the records lie in the body; by its media type where absent. */
  readonly framing?: IngestInput['framing'];
  /** Makes a retry safe. */
  readonly idempotencyKey?: string;
}

/** A body that is on disk, or with `ack=memory` on its way there. */
export interface StoredBody {
  readonly answer: IngestAnswer;
  /** What the framing says of each item, where it does. */
  readonly items?: BulkItems;
  /** The blocks that were stored; with `ack=memory` none. Their buffers are to be read only. */
  readonly blocks: readonly CommittedBlock[];
  /** What was not stored of the blocks that were parsed, because its explicit id came before. */
  readonly refused: readonly RefusedRows[];
}

/**
 * Bytes of a sensor to what became of them: parsed in the pool, committed by the store, published. With `ack=memory` it
 * resolves once they are parsed. A request that the client abandons is finished all the same: part of it may be stored
 * already. The bytes count as in flight until the commit.
 */
export async function storeBody(context: BodyContext, options: StoreOptions): Promise<StoredBody> {
  const { services, body, requestId } = context;
  const { length: received, recycle, release } = body.arrived;
  try {
    const key = options.idempotencyKey;
    const parsing = services.ingest(inputOf(context, options, key !== undefined));
    const parsed = await countingRefusals(services.metrics, parsingLimits, parsing);
    recycle(parsed.spent);
    for (const limit of parsed.reached) services.metrics.limitReached(limit);
    const { items } = parsed;
    const committed = commit(services, parsed, batchOf(parsed, key), received);
    if (options.ack !== 'memory') {
      const { answer, blocks, refused = [] } = await committed.finally(release);
      return { answer, blocks, refused, ...(items === undefined ? {} : { items }) };
    }
    committed.finally(release).catch((error: unknown) => {
      services.metrics.failedLate();
      services.log.error(
        { request_id: requestId, err: error },
        'a body acknowledged from memory was not stored',
      );
    });
    return { answer: parsed.answer, blocks: [], refused: [], ...(items === undefined ? {} : { items }) };
  } catch (error) {
    release();
    throw error;
  }
}

const parsingLimits = { OVERLOADED: 'maxQueuedBodies', PAYLOAD_TOO_LARGE: 'maxInflatedBytes' } as const;
const committingLimits = { OVERLOADED: 'maxRpcInFlightBytes' } as const;

async function commit(services: Services, { hits }: ParsedBody, batch: IngestBatch, received: number) {
  const committing = services.store.commit(batch);
  const committed = await countingRefusals(services.metrics, committingLimits, committing);
  if (!committed.replayed) {
    services.metrics.ingested(committed.answer, received);
    services.rules.count(hits, committed.fired);
  }
  afterCommit(services, () => {
    if (!committed.replayed) services.publish(committed);
    if (committed.outbox > 0) services.pokeOutbox();
  });
  return committed;
}

function inputOf({ services, body }: BodyContext, options: StoreOptions, digest: boolean): IngestInput {
  const { source, sensor, table, framing } = options;
  return {
    pieces: body.arrived.pieces,
    length: body.arrived.length,
    mediaType: /^application\/json\b/i.test(body.mediaType) ? 'json' : 'ndjson',
    ...(body.coding === undefined ? {} : { encoding: body.coding }),
    ...(framing === undefined ? {} : { framing }),
    ...(source === undefined ? {} : { source }),
    ...(sensor === undefined ? {} : { sensor }),
    ...(table === undefined ? {} : { table }),
    receivedAt: Date.now(),
    home: services.config['network.home'],
    digest,
  };
}

function batchOf(
  { digest, reached: _reached, hits: _hits, spent: _spent, items: _items, ...batch }: ParsedBody,
  key: string | undefined,
): IngestBatch {
  return key === undefined || digest === undefined ? batch : { ...batch, idempotency: { key, digest } };
}
