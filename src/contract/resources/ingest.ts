import { oneOf, type Static } from './common.ts';
import { count, list, optional, part, shape, text } from './fields.ts';

/** Formats that `?source=` can force. */
export const ingestSources = ['zeek', 'zeek_tsv', 'suricata', 'ecs', 'native'] as const;
/** When the response is sent: after the flush to disk, or before it. */
export const ackModes = ['durable', 'memory'] as const;

/** Result of one ingest request. The counts add up to the number of records in the body. */
export const IngestAnswer = shape('IngestAnswer', {
  accepted: count('Number of records stored; on disk and queryable unless ack=memory.'),
  rejected: count('Number of invalid records, which are not stored.'),
  ignored: count('Number of records of kinds that are not stored.'),
  duplicates: count('Number of records rejected because the sensor has already sent their explicit id.'),
  errors: list(
    part(
      {
        line: count('Line of the body, from 1; for a JSON array, the position of the element.'),
        code: text('Error code.'),
        field: optional(text('Field that is invalid.')),
        reason: text('Error message.'),
      },
      'An invalid record.',
    ),
    'The first 100 invalid records.',
  ),
});
export type IngestAnswer = Static<typeof IngestAnswer>;

export const ingestSource = oneOf(ingestSources, {
  description: 'Format of the records; detected by default.',
});
export const ackMode = oneOf(ackModes, {
  description:
    'When the response is sent: durable after the flush to disk, memory before it. Default: durable.',
});
