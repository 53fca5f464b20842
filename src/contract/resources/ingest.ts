import { oneOf, type Static } from './common.ts';
import { count, list, optional, part, shape, text } from './fields.ts';

/** Formats that `?source=` can force. */
export const ingestSources = ['zeek', 'zeek_tsv', 'suricata', 'ecs', 'native'] as const;
/** When the answer is sent: after the flush, or before. */
export const ackModes = ['durable', 'memory'] as const;

/** What became of the lines of one ingest body. Their sum is the number of records in it. */
export const IngestAnswer = shape('IngestAnswer', {
  accepted: count('Records stored; on disk and queryable unless ack=memory.'),
  rejected: count('Bad records, left out.'),
  ignored: count('Records of kinds that are not stored.'),
  duplicates: count('Records refused because the sensor sent their explicit id before.'),
  errors: list(
    part(
      {
        line: count('Line of the body, from 1; for a JSON array, the element.'),
        code: text('An error code of the table.'),
        field: optional(text('The offending field.')),
        reason: text('What is wrong with it.'),
      },
      'One bad record.',
    ),
    'The first 100 bad records.',
  ),
});
export type IngestAnswer = Static<typeof IngestAnswer>;

export const ingestSource = oneOf(ingestSources, {
  description: 'Forces a format instead of recognising it.',
});
export const ackMode = oneOf(ackModes, { description: 'memory answers before the flush. Default: durable.' });
