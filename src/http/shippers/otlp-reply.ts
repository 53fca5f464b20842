import { type ErrorCode, errorCodes } from '../../errors.ts';
import { retryHeader, shownError } from '../error-reply.ts';
import type { ErrorReply } from '../exchange.ts';
import type { Header } from '../reply.ts';
import type { RequestHead } from '../request.ts';

/** The content of an OTLP/HTTP response in both encodings, created on request. */
export interface OtlpMessage {
  readonly json: () => object;
  readonly protobuf: () => Uint8Array;
}

type OtlpEncoding = keyof OtlpMessage;

/**
 * Returns the encoding of the request, which the response uses too; JSON if the request has neither encoding.
 */
export function encodingOf({ headers }: RequestHead): OtlpEncoding {
  return /^\s*application\/x-protobuf\b/i.test(headers.get('content-type') ?? '') ? 'protobuf' : 'json';
}

export const mediaTypes = { json: 'application/json', protobuf: 'application/x-protobuf' } as const;

export function encoded(message: OtlpMessage, encoding: OtlpEncoding): string | Uint8Array {
  return encoding === 'json' ? JSON.stringify(message.json()) : message.protobuf();
}

/** Encodes a message in Protocol Buffers' wire format, with the given fields in order. */
export const message = (...fields: readonly Uint8Array[]): Buffer => Buffer.concat(fields);

/** Encodes a field with a non-negative integer; zero is omitted, as in proto3. */
export function numberField(field: number, value: number): Buffer {
  return value === 0 ? nothing : Buffer.concat([varint(field * 8), varint(value)]);
}

export function textField(field: number, value: string): Buffer {
  return value === '' ? nothing : messageField(field, Buffer.from(value));
}

/** Encodes a field with another message, even if the message is empty. */
export function messageField(field: number, value: Uint8Array): Buffer {
  return Buffer.concat([varint(field * 8 + 2), varint(value.length), value]);
}

const nothing = Buffer.alloc(0);

function varint(value: number): Buffer {
  const bytes: number[] = [];
  let rest = value;
  for (; rest > 127; rest = Math.floor(rest / 128)) bytes.push((rest % 128) + 128);
  return Buffer.from([...bytes, rest]);
}

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
