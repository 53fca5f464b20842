import type { splunkRoutes } from '../../contract/routes/splunk.ts';
import { channelHeader, collectorAnswers } from '../../contract/splunk.ts';
import { invalidField, ServiceError } from '../../errors.ts';
import type { ArrivedBody } from '../bodies.ts';
import { authorize } from '../caller.ts';
import type { Context, Handlers } from '../context.ts';
import { readJson } from '../json-body.ts';
import { bareJson } from '../reply.ts';
import type { Services } from '../services.ts';
import { collect } from '../shippers/collect.ts';
import { asBearer } from '../shippers/credentials.ts';
import { collectorOf } from '../shippers/splunk-collector.ts';
import { splunkReply } from '../shippers/splunk-reply.ts';

export const splunkHandlers = {
  splunkEvent: (context) => collect(context, 'splunk_event'),

  splunkRaw: (context) => collect(context, 'splunk_raw'),

  /**
   * Returns which bodies are on disk: true for each id that the channel issued in a response to a body.
   */
  async splunkAck(context) {
    const { services, headers, query, identity, body } = context;
    try {
      const channel = headers[channelHeader] ?? query.channel;
      if (channel === undefined) throw invalidField('channel', 'is required');
      const ids = idsIn(await asked(body, services.config['limits.max_json_body_bytes']));
      const next = collectorOf(services).nextId(identity.principal.id, channel);
      return bareJson({ acks: Object.fromEntries(ids.map((id) => [id, id < next])) });
    } finally {
      body.arrived.release();
    }
  },

  /**
   * Reports whether events are currently accepted. Shippers call this operation before they send events, with the
   * token that they will use. A token without permission to send is refused; a request without a token is accepted.
   */
  async splunkHealth({ services, head }) {
    const authorization = head.headers.get('authorization');
    if (authorization !== undefined && !(await maySend(services, authorization)))
      return splunkReply(collectorAnswers.invalidTokenOfHealth);
    if (!services.ready()) return splunkReply(collectorAnswers.stopping);
    const { status, advice } = await services.health.state();
    if (status === 'unavailable') return splunkReply(collectorAnswers.full, { message: advice });
    if (collectorOf(services).isFull(performance.now()))
      return splunkReply(collectorAnswers.full, {
        message: 'events were refused recently; retry later',
      });
    return splunkReply(collectorAnswers.healthy);
  },
} satisfies Handlers<typeof splunkRoutes>;

async function asked({ arrived, coding }: Context<'splunkAck'>['body'], maxBytes: number): Promise<unknown> {
  if (arrived.length > maxBytes)
    throw new ServiceError('PAYLOAD_TOO_LARGE', `the body must have at most ${maxBytes} bytes`, {
      max_bytes: maxBytes,
    });
  return readJson(arrived.bytes, isPlain(arrived) ? undefined : coding, maxBytes);
}

/**
 * Returns whether the body is uncompressed. Vector declares a coding for bodies of `splunkAck` too, but does not
 * compress these bodies.
 */
function isPlain({ bytes }: ArrivedBody): boolean {
  return /^\s*\{/.test(Buffer.from(bytes).toString('latin1', 0, 16));
}

function idsIn(question: unknown): readonly number[] {
  const ids = typeof question === 'object' && question !== null && 'acks' in question ? question.acks : undefined;
  if (!Array.isArray(ids)) throw invalidField('acks', 'must be an array of ids');
  for (const id of ids)
    if (!Number.isSafeInteger(id) || id < 0) throw invalidField('acks', 'must contain only whole numbers from 0');
  return ids;
}

async function maySend(services: Services, authorization: string): Promise<boolean> {
  const access = services.policy.accessOf('splunkEvent');
  try {
    const identity = await services.auth.authenticate({ authorization: asBearer(authorization) }, Date.now());
    if (access !== 'public') authorize(access, identity);
    return true;
  } catch (error) {
    if (error instanceof ServiceError && (error.code === 'UNAUTHENTICATED' || error.code === 'FORBIDDEN')) return false;
    throw error;
  }
}
