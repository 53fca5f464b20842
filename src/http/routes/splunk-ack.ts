import { channelHeader } from '../../contract/splunk.ts';
import { invalidField, ServiceError } from '../../errors.ts';
import type { ArrivedBody } from '../bodies.ts';
import type { Context, Handler } from '../context.ts';
import { readJson } from '../json-body.ts';
import { bareJson } from '../reply.ts';
import { collectorOf } from '../shippers/splunk-collector.ts';

/** Whether bodies are on disk, by the ids that their answers had: true for each that was given on the channel. */
export const splunkAck: Handler<'splunkAck'> = async (context) => {
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
};

async function asked({ arrived, coding }: Context<'splunkAck'>['body'], maxBytes: number): Promise<unknown> {
  if (arrived.length > maxBytes)
    throw new ServiceError('PAYLOAD_TOO_LARGE', `the body has more than ${maxBytes} bytes`, {
      max_bytes: maxBytes,
    });
  return readJson(arrived.bytes, isPlain(arrived) ? undefined : coding, maxBytes);
}

/** Vector names the coding of its other bodies here as well, and leaves these as they are. */
function isPlain({ bytes }: ArrivedBody): boolean {
  return /^\s*\{/.test(Buffer.from(bytes).toString('latin1', 0, 16));
}

function idsIn(question: unknown): readonly number[] {
  const ids =
    typeof question === 'object' && question !== null && 'acks' in question ? question.acks : undefined;
  if (!Array.isArray(ids)) throw invalidField('acks', 'must be an array of ids');
  for (const id of ids)
    if (!Number.isSafeInteger(id) || id < 0)
      throw invalidField('acks', 'must have whole numbers from 0 only');
  return ids;
}
