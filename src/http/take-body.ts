import { invalidField } from '../errors.ts';
import type { Context } from './context.ts';
import { data, type Reply, withHeader } from './reply.ts';
import { type BodyContext, type StoreOptions, storeBody } from './store-body.ts';

type Taken = BodyContext & Pick<Context<'ingest'>, 'headers'>;
type Options = Omit<StoreOptions, 'idempotencyKey' | 'framing'>;

/** Bytes of a sensor to the answer of the three ingest operations: acknowledged when they are on disk, or parsed. */
export async function takeBody(context: Taken, options: Options): Promise<Reply> {
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

/** Scoped to the principal: senders do not know of each other's keys. */
function idempotencyKey(header: string | undefined, principalId: string): string | undefined {
  if (header === undefined) return undefined;
  if (!/^[\x21-\x7e]+$/.test(header))
    throw invalidField('idempotency-key', 'must be visible ASCII characters');
  return `${principalId}:${header}`;
}
