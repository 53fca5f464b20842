import type { RequestHead } from '../request.ts';

/** The content of an OTLP/HTTP response in both encodings, created on request. */
export interface OtlpMessage {
  readonly json: () => object;
  readonly protobuf: () => Uint8Array;
}

export type OtlpEncoding = keyof OtlpMessage;

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
