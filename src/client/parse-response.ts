import { type ErrorCode, type ErrorDetails, errorCodes, ServiceError } from '../errors.ts';

/**
 * Parses the error of an error envelope or error message; undefined if there is no error. Codes that this client does
 * not know become INTERNAL.
 */
export function parseError(body: unknown): ServiceError | undefined {
  const error = (body as { error?: { code?: unknown; message?: unknown; details?: ErrorDetails } } | null)?.error;
  if (typeof error?.code !== 'string' || typeof error.message !== 'string') return undefined;
  const known = Object.hasOwn(errorCodes, error.code);
  const code = known ? (error.code as ErrorCode) : 'INTERNAL';
  return new ServiceError(code, known ? error.message : `${error.code}: ${error.message}`, error.details);
}

/**
 * Yields the values of NDJSON on demand; more bytes are read only when previous lines are consumed. Stopping the
 * iteration cancels the stream.
 *
 * @throws ServiceError UNAVAILABLE for an invalid line, and for a last line without newline; errors of the stream
 */
export async function* parseLines(body: ReadableStream<Uint8Array>): AsyncGenerator<unknown, void, undefined> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let rest = '';
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      const lines = (rest + decoder.decode(value, { stream: true })).split('\n');
      rest = lines.pop()!;
      for (const line of lines) yield parseLine(line);
    }
    if (rest + decoder.decode() !== '') throw new ServiceError('UNAVAILABLE', 'the list ends within a line');
  } finally {
    // Has no effect at the end of the stream; a failure has already been thrown.
    await reader.cancel().catch(() => undefined);
  }
}

function parseLine(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    throw new ServiceError('UNAVAILABLE', 'a line of the list is not valid JSON');
  }
}
