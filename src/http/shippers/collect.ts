import type { IngestAnswer } from '../../contract/resources/ingest.ts';
import { type CollectorAnswer, channelHeader, collectorAnswers, envelopeAnswer } from '../../contract/splunk.ts';
import { errorCodes, ServiceError } from '../../errors.ts';
import type { SplunkFraming } from '../../ingest/framing/framing.ts';
import type { Context } from '../context.ts';
import { type BareReply, type Reply, withHeader } from '../reply.ts';
import { type StoredBody, storeBody } from '../store-body.ts';
import { collectorOf } from './splunk-collector.ts';
import { splunkReply } from './splunk-reply.ts';

/**
 * Stores events for Splunk's collector, and responds when they are on disk.
 *
 * Splunk keeps the events before the first invalid event, and no events after it. Candor keeps all valid events, and
 * responds with a success that lists the invalid events. After 400, most shippers drop the body, some retry the body
 * forever, and some resend the events after the invalid event.
 *
 * As in Splunk, the response is 400 if every event was rejected because of its envelope; it describes the first event.
 * A body with events of unsupported kinds only is a success, because syslog-ng would retry the body forever.
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

/** Returns the refusal of the whole body; undefined if Splunk would have kept any events. */
function refusalOf({ accepted, ignored, duplicates, errors }: IngestAnswer): CollectorAnswer | undefined {
  if (accepted + ignored + duplicates > 0) return undefined;
  const answers = errors.map(({ field, reason }) => envelopeAnswer(field, reason));
  return answers.includes(undefined) ? undefined : answers[0];
}

/** Lists the rejected events, under names that no Splunk client interprets as a failure of the whole body. */
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
