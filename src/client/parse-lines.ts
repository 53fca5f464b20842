import { ServiceError } from '../errors.ts';

/**
 * The values of NDJSON, a value each time one is asked for; bytes are read when those before are used up. Whoever
 * stops asking cancels the stream.
 *
 * @throws ServiceError UNAVAILABLE for a line that is no JSON, and for a last one without its end; what reading fails with
 */
export async function* parseLines(
  body: ReadableStream<Uint8Array>,
): AsyncGenerator<unknown, void, undefined> {
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
    // Of no effect behind the end; what had failed has been told.
    await reader.cancel().catch(() => undefined);
  }
}

function parseLine(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    throw new ServiceError('UNAVAILABLE', 'a line of the list is no JSON');
  }
}
