import type { IngestAnswer } from '../../contract/resources/ingest.ts';
import type { otlpRoutes } from '../../contract/routes/otlp.ts';
import type { Handlers } from '../context.ts';
import { withHeader } from '../reply.ts';
import {
  encoded,
  encodingOf,
  mediaTypes,
  message,
  messageField,
  numberField,
  type OtlpMessage,
  textField,
} from '../shippers/otlp-reply.ts';
import { storeBody } from '../store-body.ts';

export const otlpHandlers = {
  async otlpLogs(context) {
    const { head, query, body, identity } = context;
    const encoding = encodingOf(head);
    const framing = { name: `otlp_${encoding}`, sender: identity.principal.id } as const;
    const { length } = body.arrived;
    const { answer, receipt } = await storeBody(context, { ...query, framing });
    const { accepted, rejected, ignored, duplicates } = answer;
    const nothing = accepted + rejected + ignored + duplicates === 0;
    // Warns about a request without records, which may have misspelt names: OTLP requires that unknown names, such as
    // names in snake_case, are ignored.
    const warning = nothing && encoding === 'json' && length > 2 ? 'the request contains no log records to store' : '';
    const reply = {
      kind: 'bare',
      status: 200,
      mediaType: mediaTypes[encoding],
      body: encoded(otlpAnswer(answer, warning), encoding),
    } as const;
    return withHeader(reply, receipt);
  },
} satisfies Handlers<typeof otlpRoutes>;

/** Maximum number of reasons in the response; collectors truncate longer lists in their logs. */
const toldReasons = 5;
/** Maximum total length of the reasons, which contain field names from the request. */
const toldCharacters = 1000;

/**
 * Returns an ExportLogsServiceResponse, with `partial_success` if records were rejected; exporters do not
 * resend rejected records. Duplicates, and records of kinds that are not stored, count as accepted. `warning`
 * is included if no records were rejected.
 */
function otlpAnswer(answer: IngestAnswer, warning = ''): OtlpMessage {
  const { rejected } = answer;
  const text = rejected > 0 ? reasonsOf(answer) : warning;
  if (text === '') return { json: () => ({}), protobuf: () => message() };
  return {
    // In the JSON of Protocol Buffers, 64-bit numbers are strings, and zeros are omitted.
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
  return `${rejected} of ${all} log records were rejected; ${told.join('; ')}`.slice(0, toldCharacters).toWellFormed();
}
