import { oneOf, type Static } from './common.ts';
import { count, list, optional, part, shape, text } from './fields.ts';

/** Formats that `?source=` can force. */
export const ingestSources = ['zeek', 'zeek_tsv', 'suricata', 'ecs', 'native'] as const;
/** Modes of acknowledgement: the response is sent after the flush to disk, before the flush, or after processing. */
export const ackModes = ['durable', 'memory', 'processed'] as const;

/** Result of one ingest request. The counts add up to the number of records in the body. */
export const IngestAnswer = shape('IngestAnswer', {
  accepted: count('Number of records stored; on disk and queryable unless ack=memory.'),
  rejected: count('Number of invalid records, which are not stored.'),
  ignored: count('Number of records of kinds that are not stored.'),
  duplicates: count('Number of records rejected because the sensor has already sent their explicit id.'),
  errors: list(
    part('An invalid record.', {
      line: count('Line of the body, from 1; for a JSON array, the position of the element.'),
      code: text('Error code.'),
      field: optional(text('Field that is invalid.')),
      reason: text('Error message.'),
    }),
    'The first 100 invalid records.',
  ),
});
export type IngestAnswer = Static<typeof IngestAnswer>;

export const ingestSource = oneOf(ingestSources, 'Format of the records; detected by default.');
export const ackMode = oneOf(
  ackModes,
  'When the response is sent: durable after the flush to disk, memory before it, processed when the events are also in assets, topology, statistics and alerts, unless processing has stopped or the disk is full. Default: durable.',
);
