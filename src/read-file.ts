import { type BigIntStats, closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import { open } from 'node:fs/promises';

/** What lay in a file, and the file that it lay in. */
export interface FileContent {
  readonly bytes: Uint8Array;
  readonly stat: BigIntStats;
}

/** Why a path gives no bytes; `code` is what the operating system says, where it says something. */
export class UnreadableFile extends Error {
  override readonly name = 'UnreadableFile';
  readonly problem: 'no_file' | 'too_large' | 'unreadable';
  readonly code: string | undefined;

  constructor(problem: UnreadableFile['problem'], message: string, code?: string) {
    super(message);
    this.problem = problem;
    this.code = code;
  }
}

/**
 * A file that somebody else named: a setting, perhaps one that came by the interface. Whatever the path leads to, no
 * pipe is waited for, nothing without an end is read, and no terminal becomes ours. Never more than `maxBytes + 1` bytes
 * are read; what size a file claims to have means nothing, since those of /proc claim none.
 *
 * @throws UnreadableFile
 */
export function readFile(path: string, maxBytes: number): FileContent {
  const descriptor = attempt(() =>
    openSync(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY),
  );
  try {
    const stat = attempt(() => fstatSync(descriptor, { bigint: true }));
    if (!stat.isFile()) throw new UnreadableFile('no_file', 'it is not a file');
    const bytes = new Uint8Array(maxBytes + 1);
    let length = 0;
    for (let read = -1; read !== 0 && length < bytes.length; length += read)
      read = attempt(() => readSync(descriptor, bytes, length, bytes.length - length, length));
    if (length > maxBytes) throw new UnreadableFile('too_large', `it has more than ${maxBytes} bytes`);
    return { bytes: bytes.subarray(0, length), stat };
  } finally {
    closeSync(descriptor);
  }
}

/** The same for the text of a file on a volume that may be slow: it waits in a thread of the pool, for no pipe either. */
export async function readTextFile(path: string, maxBytes: number): Promise<string> {
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY);
  try {
    const stat = await file.stat();
    if (!stat.isFile()) throw new UnreadableFile('no_file', 'it is not a file');
    if (stat.size > maxBytes) throw new UnreadableFile('too_large', `it has more than ${maxBytes} bytes`);
    return await file.readFile('utf8');
  } finally {
    await file.close();
  }
}

function attempt<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new UnreadableFile('unreadable', `it cannot be read (${code ?? 'unknown'})`, code);
  }
}
