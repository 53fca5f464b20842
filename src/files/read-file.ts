import { type BigIntStats, closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import { open } from 'node:fs/promises';

/** The content of a file, and its metadata when it was read. */
export interface FileContent {
  readonly bytes: Uint8Array;
  readonly stat: BigIntStats;
}

/** Signals that a path cannot be read. `code` is the operating system's error code, if there is one. */
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

const flags = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY;

/**
 * Reads a file at an untrusted path, such as a setting, which may be set over the API. Pipes cannot block the
 * read, endless files are not read to the end, and no terminal becomes the controlling terminal. At most
 * `maxBytes + 1` bytes are read, even from files that report no size, such as files in /proc.
 *
 * @throws UnreadableFile
 */
export function readFile(path: string, maxBytes: number): FileContent {
  const descriptor = attempt(() => openSync(path, flags));
  try {
    const stat = attempt(() => fstatSync(descriptor, { bigint: true }));
    if (!stat.isFile()) throw new UnreadableFile('no_file', 'it is not a file');
    const bytes = bufferFor(stat, maxBytes);
    let length = 0;
    for (let read = -1; read !== 0 && length < bytes.length; length += read)
      read = attempt(() => readSync(descriptor, bytes, length, bytes.length - length, length));
    if (length > maxBytes) throw tooLarge(maxBytes);
    return { bytes: bytes.subarray(0, length), stat };
  } finally {
    closeSync(descriptor);
  }
}

/**
 * Reads a file as `readFile` does, but in a thread of the pool, because a volume that hangs would block this
 * thread.
 */
export async function readFileLater(path: string, maxBytes: number): Promise<FileContent> {
  const file = await open(path, flags).catch(unreadable);
  try {
    const stat = await file.stat({ bigint: true }).catch(unreadable);
    if (!stat.isFile()) throw new UnreadableFile('no_file', 'it is not a file');
    const bytes = bufferFor(stat, maxBytes);
    let length = 0;
    for (let read = -1; read !== 0 && length < bytes.length; length += read)
      read = (await file.read(bytes, length, bytes.length - length, length).catch(unreadable)).bytesRead;
    if (length > maxBytes) throw tooLarge(maxBytes);
    return { bytes: bytes.subarray(0, length), stat };
  } finally {
    await file.close();
  }
}

/** Reads a file as `readFileLater` does, and returns its text. */
export async function readTextFile(path: string, maxBytes: number): Promise<string> {
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode((await readFileLater(path, maxBytes)).bytes);
}

/** Returns a buffer for the content and one more byte, which shows that a file is too large. */
function bufferFor({ size }: BigIntStats, maxBytes: number): Uint8Array {
  return new Uint8Array(1 + (size > 0n && size < maxBytes ? Number(size) : maxBytes));
}

const tooLarge = (maxBytes: number) => new UnreadableFile('too_large', `it has more than ${maxBytes} bytes`);

function attempt<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    return unreadable(error);
  }
}

function unreadable(error: unknown): never {
  const { code } = error as NodeJS.ErrnoException;
  throw new UnreadableFile('unreadable', `it cannot be read (${code ?? 'unknown'})`, code);
}
