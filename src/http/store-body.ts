import type { IngestAnswer } from '../contract/resources/ingest.ts';
import { invalidField } from '../errors.ts';
import type { Table } from '../events/records.ts';
import type { BulkItems } from '../ingest/framing/framing.ts';
import type { ParsedGroup } from '../ingest/parse-bodies.ts';
import type { IngestInput, ReadBody } from '../ingest/parse-body.ts';
import type { Committed, CommittedBlock, ReceiptDraft, RefusedRows } from '../store/store.ts';
import { uuid7 } from '../uuid.ts';
import { afterCommit } from './after-commit.ts';
import type { Context } from './context.ts';
import type { ParsedShare } from './ingest-queue.ts';
import { countingRefusals } from './reached.ts';
import { receiptHeader } from './receipts.ts';
import type { Header } from './reply.ts';
import type { Services } from './services.ts';

/** What the operations that take sensors' data have in common. */
export interface BodyContext
  extends Pick<Context<'ingest'>, 'services' | 'body' | 'identity' | 'requestId' | 'audited'> {
  readonly headers: Pick<Context<'ingest'>['headers'], 'candor-receipt'>;
}

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
  /** The header that gives the receipt, where one was asked for. */
  readonly receipt?: Header;
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
    const receipt = wantedReceipt(context, options);
    const parsing = services.ingest(inputOf(context, options, key !== undefined));
    const parsed = await countingRefusals(services.metrics, parsingLimits, parsing);
    recycle(parsed.body.spent);
    const { items, answer, unstored } = parsed.body;
    const reasons = unstored.filter(({ kind }) => kind === 'rejected').map(({ reason }) => reason);
    if (context.audited !== undefined && reasons.length > 0)
      context.audited.rejected = { count: answer.rejected, reasons };
    const committed = commitBody(context, parsed, { key, receipt }, received);
    // Only the store knows whether a key was used for another body: such a body waits for it, and is not dropped later.
    if (options.ack !== 'memory' || key !== undefined) {
      const stored = await committed.finally(release);
      return items === undefined ? stored : { ...stored, items };
    }
    committed.finally(release).catch((error: unknown) => {
      services.metrics.failedLate();
      const lost = {
        kind: 'refused',
        reason: 'acknowledged from memory and then not stored',
        times: 1,
      } as const;
      services.metrics.notStored.add(context.identity.principal, lost, Date.now());
      services.log.error(
        { request_id: requestId, err: error },
        'a body acknowledged from memory was not stored',
      );
    });
    return { answer, blocks: [], refused: [], ...(items === undefined ? {} : { items }) };
  } catch (error) {
    release();
    throw error;
  }
}

const parsingLimits = { OVERLOADED: 'maxQueuedBodies', PAYLOAD_TOO_LARGE: 'maxInflatedBytes' } as const;
const committingLimits = { OVERLOADED: 'maxRpcInFlightBytes' } as const;

/** Requests of a body beside its storage. Such a body forms a group of its own. */
interface Wanted {
  readonly key: string | undefined;
  readonly receipt: Omit<ReceiptDraft, 'sha256'> | undefined;
}

function wantedReceipt(context: BodyContext, { ack }: StoreOptions): Wanted['receipt'] {
  if (context.headers['candor-receipt'] === undefined) return undefined;
  if (ack === 'memory')
    throw invalidField('candor-receipt', 'states what is on disk: send the body with ack=durable');
  const { id, name } = context.identity.principal;
  const now = Date.now();
  const received_at = new Date(now).toISOString();
  return { id: uuid7(now), bytes: context.body.arrived.length, sensor: { id, name }, received_at };
}

/** Of groups that are being stored, for all whose bodies they have. */
const commits = new WeakMap<ParsedGroup, Promise<Committed>>();

/** The commit of a body's group, which the first of its bodies begins, and what it means for this one. */
async function commitBody(
  { services, identity }: BodyContext,
  { group, body }: ParsedShare,
  wanted: Wanted,
  received: number,
): Promise<StoredBody> {
  let committing = commits.get(group);
  if (committing === undefined) {
    committing = commitGroup(services, group, wanted);
    commits.set(group, committing);
  }
  const { replayed, answer: first, blocks, refused = [], receipt } = await committing;
  const answer = replayed ? first : withDuplicates(body, refused);
  if (!replayed) {
    services.metrics.ingested(answer, received);
    for (const one of body.unstored) services.metrics.notStored.add(identity.principal, one, Date.now());
  }
  const given = receipt === undefined ? {} : { receipt: await receiptHeader(services, receipt) };
  return { answer, blocks, refused, ...given };
}

async function commitGroup(
  services: Services,
  { bodies, hits, slow, reached, ...batch }: ParsedGroup,
  { key, receipt }: Wanted,
): Promise<Committed> {
  services.rules.wereSlow(slow);
  for (const limit of reached) services.metrics.limitReached(limit);
  const { digest, sha256 } = bodies[0] ?? {};
  const answer = together(bodies);
  const idempotency = key === undefined || digest === undefined ? {} : { idempotency: { key, digest } };
  const stated = receipt === undefined || sha256 === undefined ? {} : { receipt: { ...receipt, sha256 } };
  const committing = services.store.commit({ ...batch, answer, ...idempotency, ...stated });
  const committed = await countingRefusals(services.metrics, committingLimits, committing).catch((error) => {
    if (bodies.length > 1) refusedAt.set(services, performance.now());
    throw error;
  });
  if (!committed.replayed) services.rules.count(hits, committed.fired);
  afterCommit(services, () => {
    if (!committed.replayed) services.publish(committed);
    if (committed.outbox > 0) services.pokeOutbox();
  });
  return committed;
}

/**
 * When a group was refused, which may be for one of its bodies (an alert that must be logged, where there is no room for
 * that): for a while then each is stored alone, so that those sent again are taken. One that is acknowledged before it is
 * stored is alone at any time.
 */
const refusedAt = new WeakMap<Services, number>();
const apartMs = 10_000;
const areApart = (services: Services) =>
  performance.now() - (refusedAt.get(services) ?? Number.NEGATIVE_INFINITY) < apartMs;

/** One that may be sent again is alone: what is remembered is its answer. */
function together(bodies: readonly ReadBody[]): IngestAnswer {
  const sum = (of: (answer: IngestAnswer) => number) =>
    bodies.reduce((total, { answer }) => total + of(answer), 0);
  return {
    accepted: sum(({ accepted }) => accepted),
    rejected: sum(({ rejected }) => rejected),
    ignored: sum(({ ignored }) => ignored),
    duplicates: 0,
    errors: bodies[0]?.answer.errors ?? [],
  };
}

/** Counts as duplicates what was not stored of the body's rows. */
function withDuplicates({ answer, rows }: ReadBody, refused: readonly RefusedRows[]): IngestAnswer {
  if (refused.length === 0) return answer;
  let duplicates = 0;
  for (const [block, from, to] of rows) {
    const kept = refused.find((one) => one.block === block)?.kept;
    if (kept !== undefined) duplicates += to - from - kept.filter((row) => row >= from && row < to).length;
  }
  return duplicates === 0 ? answer : { ...answer, accepted: answer.accepted - duplicates, duplicates };
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
    ...(ack === 'memory' || areApart(services) ? { alone: true } : {}),
  };
}

const jsonType = /^application\/json\b/i;

/** By its first bytes where no header names it: no record begins with those of gzip (RFC 1952, section 2.3.1). */
function encodingOf({ coding, arrived }: BodyContext['body']): Pick<IngestInput, 'encoding'> {
  if (coding !== undefined) return { encoding: coding };
  const [first, second, method] = new Uint8Array(arrived.pieces[0] ?? new ArrayBuffer(0));
  return first === 0x1f && second === 0x8b && method === 8 ? { encoding: 'gzip' } : {};
}
