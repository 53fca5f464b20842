import { invalidField } from '../errors.ts';
import type { Table } from '../events/records.ts';
import type { IngestInput, ParsedBody } from '../ingest/parse-body.ts';
import type { IngestBatch } from '../store/store.ts';
import { afterCommit } from './after-commit.ts';
import type { Context } from './context.ts';
import { countingRefusals } from './reached.ts';
import { data, type Reply } from './reply.ts';
import type { Services } from './services.ts';

/** What the three ingest operations have in common. */
type Taken = Pick<Context<'ingest'>, 'services' | 'headers' | 'body' | 'identity' | 'requestId'>;

interface Options {
  readonly source?: Context<'ingest'>['query']['source'];
  readonly sensor?: string;
  readonly ack?: 'durable' | 'memory';
  readonly table?: Table;
}

/**
 * Bytes of a sensor to its answer: parsed in the pool, committed by the store, published, and then acknowledged; with
 * `ack=memory` acknowledged once parsed. A request that the client abandons is finished all the same: part of it may
 * be stored already. The bytes count as in flight until the commit.
 */
export async function takeBody(context: Taken, options: Options): Promise<Reply> {
  const { services, headers, body, identity, requestId } = context;
  const { length: received, recycle, release } = body.arrived;
  try {
    const key = idempotencyKey(headers['idempotency-key'], identity.principal.id);
    const parsing = services.ingest(inputOf(context, options, key !== undefined));
    const parsed = await countingRefusals(services.metrics, parsingLimits, parsing);
    recycle(parsed.spent);
    for (const limit of parsed.reached) services.metrics.limitReached(limit);
    const committed = commit(services, parsed, batchOf(parsed, key), received);
    if (options.ack !== 'memory') return data(await committed.finally(release));
    committed.finally(release).catch((error: unknown) => {
      services.metrics.failedLate();
      services.log.error(
        { request_id: requestId, err: error },
        'a body acknowledged from memory was not stored',
      );
    });
    return data(parsed.answer);
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
  return committed.answer;
}

function inputOf({ services, body }: Taken, options: Options, digest: boolean): IngestInput {
  const { source, sensor, table } = options;
  return {
    pieces: body.arrived.pieces,
    length: body.arrived.length,
    mediaType: /^application\/json\b/i.test(body.mediaType) ? 'json' : 'ndjson',
    ...(body.coding === undefined ? {} : { encoding: body.coding }),
    ...(source === undefined ? {} : { source }),
    ...(sensor === undefined ? {} : { sensor }),
    ...(table === undefined ? {} : { table }),
    receivedAt: Date.now(),
    home: services.config['network.home'],
    digest,
  };
}

function batchOf(
  { digest, reached: _reached, hits: _hits, spent: _spent, ...batch }: ParsedBody,
  key: string | undefined,
): IngestBatch {
  return key === undefined || digest === undefined ? batch : { ...batch, idempotency: { key, digest } };
}

/** Scoped to the principal: senders do not know of each other's keys. */
function idempotencyKey(header: string | undefined, principalId: string): string | undefined {
  if (header === undefined) return undefined;
  if (!/^[\x21-\x7e]+$/.test(header))
    throw invalidField('idempotency-key', 'must be visible ASCII characters');
  return `${principalId}:${header}`;
}
