import { readFile, stat } from 'node:fs/promises';
import { CommandError } from '../service/exit-codes.ts';

/** Bundles, evidence and checkpoints are read completely; a bundle with the keys of 100 years has 10 MB. */
export const maxFileBytes = 32 * 2 ** 20;

/** Reads a file that the user named. A file that is unreadable or larger than `maxFileBytes` is a command error. */
export async function readWhole(path: string): Promise<Buffer> {
  try {
    const { size } = await stat(path);
    if (size > maxFileBytes) throw new CommandError(`${path} has ${size} bytes; at most ${maxFileBytes} are allowed`);
    return await readFile(path);
  } catch (error) {
    if (error instanceof CommandError) throw error;
    const { message } = error as Error;
    throw new CommandError(message.includes(path) ? message : `${path}: ${message}`);
  }
}

export async function readText(path: string): Promise<string> {
  return (await readWhole(path)).toString('utf8');
}
