import { type ErrorCode, errorCodes } from '../../errors.ts';
import { retryHeader, shownError } from '../error-reply.ts';
import type { Header } from '../reply.ts';
import type { ErrorReply } from './error-replies.ts';
import { encoded, encodingOf, mediaTypes, type OtlpMessage } from './otlp-encoding.ts';
import { message, messageField, numberField, textField } from './protobuf-message.ts';

/**
 * The google.rpc.Code of each error code; INTERNAL for all other codes. Exporters use only the HTTP status.
 */
const codes: Partial<Record<ErrorCode, number>> = {
  INVALID_REQUEST: 3,
  PAYLOAD_TOO_LARGE: 3,
  UNSUPPORTED_MEDIA_TYPE: 3,
  NOT_FOUND: 5,
  FORBIDDEN: 7,
  RATE_LIMITED: 8,
  OVERLOADED: 14,
  UNAVAILABLE: 14,
  UNAUTHENTICATED: 16,
};
const internal = 13;

/**
 * Renders an error in the form of OTLP/HTTP: a google.rpc.Status in the encoding of the request, with the
 * offending field as a google.rpc.BadRequest. Exporters retry only 429, 502, 503 and 504.
 */
export const otlpError: ErrorReply = (error, head) => {
  const { code, message, details } = shownError(error);
  const { status } = errorCodes[code];
  const encoding = encodingOf(head);
  const headers: Header[] = [['Content-Type', mediaTypes[encoding]]];
  if (errorCodes[code].retry) headers.push(retryHeader(error));
  if (status === 401) headers.push(['WWW-Authenticate', 'Bearer realm="candor"']);
  const { field, reason } = details ?? {};
  const violation = typeof field === 'string' && typeof reason === 'string' ? { field, reason } : undefined;
  return { status, headers, body: encoded(statusOf(codes[code] ?? internal, message, violation), encoding) };
};

const badRequest = 'type.googleapis.com/google.rpc.BadRequest';

function statusOf(
  code: number,
  text: string,
  violation: { readonly field: string; readonly reason: string } | undefined,
): OtlpMessage {
  return {
    json: () => ({
      code,
      message: text,
      ...(violation === undefined
        ? {}
        : {
            details: [
              {
                '@type': badRequest,
                fieldViolations: [{ field: violation.field, description: violation.reason }],
              },
            ],
          }),
    }),
    protobuf() {
      const fields = [numberField(1, code), textField(2, text)];
      if (violation !== undefined) {
        const shown = message(textField(1, violation.field), textField(2, violation.reason));
        const any = message(textField(1, badRequest), messageField(2, messageField(1, shown)));
        fields.push(messageField(3, any));
      }
      return message(...fields);
    },
  };
}
