import type { ingestRoutes } from '../../contract/routes/ingest.ts';
import { invalidField } from '../../errors.ts';
import type { Context, Handlers } from '../context.ts';
import { data, type Reply, withHeader } from '../reply.ts';
import { type BodyContext, type StoreOptions, storeBody } from '../store-body.ts';

export const ingestHandlers = {
  ingest: (context) => takeBody(context, context.query),

  ingestNetworkEvents: (context) => takeBody(context, { ...context.query, table: 'network' }),

  ingestDnsEvents: (context) => takeBody(context, { ...context.query, table: 'dns' }),
} satisfies Handlers<typeof ingestRoutes>;

type IngestContext = BodyContext & Pick<Context<'ingest'>, 'headers'>;
type IngestOptions = Omit<StoreOptions, 'idempotencyKey' | 'framing'>;

/**
 * Stores a sensor's body, and responds when the body has reached the state that `ack` requests.
 */
async function takeBody(context: IngestContext, options: IngestOptions): Promise<Reply> {
  const { headers, body, identity } = context;
  let key: string | undefined;
  try {
    key = idempotencyKey(headers['idempotency-key'], identity.principal.id);
  } catch (error) {
    body.arrived.release();
    throw error;
  }
  const { answer, receipt } = await storeBody(
    context,
    key === undefined ? options : { ...options, idempotencyKey: key },
  );
  return withHeader(data(answer), receipt);
}

/**
 * Returns the idempotency key, scoped to the principal so that the keys of different senders do not collide.
 */
function idempotencyKey(header: string | undefined, principalId: string): string | undefined {
  if (header === undefined) return undefined;
  if (!/^[\x21-\x7e]+$/.test(header)) throw invalidField('idempotency-key', 'must be visible ASCII characters');
  return `${principalId}:${header}`;
}
