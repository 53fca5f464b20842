import type { IngestAnswer } from '../../contract/resources/ingest.ts';
import {
  type CollectorAnswer,
  channelHeader,
  collectorAnswers,
  envelopeAnswer,
} from '../../contract/splunk.ts';
import { errorCodes, ServiceError } from '../../errors.ts';
import type { SplunkFraming } from '../../ingest/framing/framing.ts';
import type { Context } from '../context.ts';
import { type BareReply, type Reply, withHeader } from '../reply.ts';
import { type StoredBody, storeBody } from '../store-body.ts';
import { collectorOf } from './splunk-collector.ts';
import { splunkReply } from './splunk-reply.ts';

/**
 * Events for Splunk's collector, answered when they are on disk.
 *
 * There, the events before the first bad one are kept, and none behind it. Here all good ones are, and the answer is a
 * success that tells of the others: after 400, most shippers drop the body, some send it again, for ever, and some what
 * follows the bad event. 400 is for a body of which nothing was kept because of its envelopes, as there, and is about the
 * first. Events that are whole and no records of ours are a success there: syslog-ng would wait behind them for ever.
 */
export async function collect(
  context: Context<'splunkEvent'> | Context<'splunkRaw'>,
  name: SplunkFraming['name'],
): Promise<Reply> {
  const { answer, receipt } = await stored(context, name);
  return withHeader(replyTo(context, answer), receipt);
}

function replyTo(
  { services, query, headers, identity }: Context<'splunkEvent'> | Context<'splunkRaw'>,
  answer: IngestAnswer,
): BareReply {
  const told = faultsOf(answer);
  const refused = refusalOf(answer);
  if (refused !== undefined) return splunkReply(refused, { 'invalid-event-number': 0, ...told });
  const channel = headers[channelHeader] ?? query.channel;
  if (channel === undefined) return splunkReply(collectorAnswers.success, told);
  const ackId = collectorOf(services).ackId(identity.principal.id, channel);
  return splunkReply(collectorAnswers.success, { ackId, ...told });
}

async function stored(
  context: Context<'splunkEvent'> | Context<'splunkRaw'>,
  name: SplunkFraming['name'],
): Promise<StoredBody> {
  const { services, query } = context;
  const collector = collectorOf(services);
  try {
    const body = await storeBody(context, {
      ...(query.sensor === undefined ? {} : { sensor: query.sensor }),
      framing: query.host === undefined ? { name } : { name, host: query.host },
    });
    collector.stored();
    return body;
  } catch (error) {
    if (error instanceof ServiceError && errorCodes[error.code].retry) collector.refused(performance.now());
    throw error;
  }
}

/** How the whole is refused; undefined where something was kept, or would be there. */
function refusalOf({ accepted, ignored, duplicates, errors }: IngestAnswer): CollectorAnswer | undefined {
  if (accepted + ignored + duplicates > 0) return undefined;
  const answers = errors.map(({ field, reason }) => envelopeAnswer(field, reason));
  return answers.includes(undefined) ? undefined : answers[0];
}

/** What was left out, under names that no client of Splunk's reads as a failure of the whole. */
function faultsOf({ rejected, errors }: IngestAnswer): object {
  if (rejected === 0) return {};
  return {
    rejected,
    errors: errors.map(({ line, field, reason }) => ({
      event: line - 1,
      code: (envelopeAnswer(field, reason) ?? collectorAnswers.invalidData).code,
      field: field === 'line' ? 'event' : field,
      reason,
    })),
  };
}
