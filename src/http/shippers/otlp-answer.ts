import type { IngestAnswer } from '../../contract/resources/ingest.ts';
import type { OtlpMessage } from './otlp-encoding.ts';
import { message, messageField, numberField, textField } from './protobuf-message.ts';

/** Reasons that are told; more would be cut in logs of collectors. */
const toldReasons = 5;
/** … and their length in all: names in them come from what was sent. */
const toldCharacters = 1000;

/**
 * ExportLogsServiceResponse: `partial_success` where records were rejected, which nobody sends again. What came before, and
 * what is of kinds that are not stored, was accepted. `warning` is told where nothing was rejected.
 */
export function otlpAnswer(answer: IngestAnswer, warning = ''): OtlpMessage {
  const { rejected } = answer;
  const text = rejected > 0 ? reasonsOf(answer) : warning;
  if (text === '') return { json: () => ({}), protobuf: () => message() };
  return {
    // Numbers of 64 bits are texts in the JSON of Protocol Buffers, and what is 0 is left out.
    json: () => ({
      partialSuccess: {
        ...(rejected > 0 ? { rejectedLogRecords: String(rejected) } : {}),
        errorMessage: text,
      },
    }),
    protobuf: () => messageField(1, message(numberField(1, rejected), textField(2, text))),
  };
}

function reasonsOf({ rejected, accepted, ignored, duplicates, errors }: IngestAnswer): string {
  const told = errors.slice(0, toldReasons).map(({ line, field, reason }) => {
    const what = field === undefined || field === 'line' ? 'the record' : field;
    return `log record ${line}: ${what} ${reason}`;
  });
  if (rejected > told.length) told.push('…');
  const all = rejected + accepted + ignored + duplicates;
  return `${rejected} of ${all} log records were rejected; ${told.join('; ')}`
    .slice(0, toldCharacters)
    .toWellFormed();
}
