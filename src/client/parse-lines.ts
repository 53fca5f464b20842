import { ServiceError } from '../errors.ts';

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
