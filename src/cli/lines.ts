import { createReadStream } from 'node:fs';
import { CommandError } from '../service/exit-codes.ts';

/**
 * Yields the lines of a UTF-8 file without newlines, reading on demand. Throws if a line is longer than
 * `maxLength` characters.
 */
export async function* linesOf(path: string, maxLength: number): AsyncGenerator<string, void> {
  const parts: string[] = [];
  let length = 0;
  const stream = createReadStream(path, { encoding: 'utf8', highWaterMark: 2 ** 18 });
  try {
    for await (const chunk of stream as AsyncIterable<string>) {
      let from = 0;
      for (let end = chunk.indexOf('\n'); end >= 0; end = chunk.indexOf('\n', from)) {
        parts.push(chunk.slice(from, end));
        yield parts.splice(0).join('');
        length = 0;
        from = end + 1;
      }
      length += chunk.length - from;
      if (length > maxLength) throw new CommandError(`${path} has a line longer than ${maxLength} characters`);
      if (from < chunk.length) parts.push(chunk.slice(from));
    }
    if (parts.length > 0) yield parts.join('');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).syscall === undefined) throw error;
    throw new CommandError((error as Error).message);
  } finally {
    stream.destroy();
  }
}
