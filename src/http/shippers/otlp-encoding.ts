import type { RequestHead } from '../request.ts';

/** What an answer of OTLP/HTTP says, in both of its encodings: one of them is made. */
export interface OtlpMessage {
  readonly json: () => object;
  readonly protobuf: () => Uint8Array;
}

export type OtlpEncoding = keyof OtlpMessage;

/** The encoding of the request, which is that of its answer; JSON where it has neither. */
export function encodingOf({ headers }: RequestHead): OtlpEncoding {
  return /^\s*application\/x-protobuf\b/i.test(headers.get('content-type') ?? '') ? 'protobuf' : 'json';
}

export const mediaTypes = { json: 'application/json', protobuf: 'application/x-protobuf' } as const;

export function encoded(message: OtlpMessage, encoding: OtlpEncoding): string | Uint8Array {
  return encoding === 'json' ? JSON.stringify(message.json()) : message.protobuf();
}
