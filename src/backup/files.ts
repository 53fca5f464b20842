import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdir, open, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { ifPresent } from '../files/if-present.ts';
import { type BackupFile, fileName } from './manifest.ts';

/** Number of bytes per read. */
const chunkBytes = 2 ** 20;

/** Returns the names of the files in a copy that a backup may contain, ignoring other files. */
export async function filesOf(folder: string): Promise<string[]> {
  const keys = await namesIn(join(folder, 'keys'));
  return [...(await namesIn(folder)), ...keys.map((name) => `keys/${name}`)]
    .filter((name) => fileName.test(name))
    .sort();
}

/** Returns the names in a folder; an empty list if the folder does not exist. */
export async function namesIn(folder: string): Promise<string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '')) return [];
    throw error;
  }
}

export async function exists(path: string): Promise<boolean> {
  return (await ifPresent(stat(path))) !== undefined;
}

/**
 * Returns the size and SHA-256 of a file. `stopped` is called for each chunk of 1 MB, and throws to cancel.
 */
export async function hashFile(folder: string, name: string, stopped?: () => void): Promise<BackupFile> {
  return { name, ...(await digestOf(join(folder, name), () => stopped?.())) };
}

/**
 * Copies a file into a new file with mode 0600 and flushes the copy. Returns the size and SHA-256 of the
 * bytes read.
 */
export async function copyFile(from: string, to: string): Promise<Omit<BackupFile, 'name'>> {
  const target = await open(to, 'wx', 0o600);
  try {
    const copied = await digestOf(from, (chunk) => target.writeFile(chunk));
    await target.sync();
    return copied;
  } finally {
    await target.close();
  }
}

/** Returns the size and SHA-256 of a file. `each` is called for each chunk of 1 MB; its error cancels the read. */
async function digestOf(
  path: string,
  each: (chunk: Buffer) => void | Promise<void>,
): Promise<Omit<BackupFile, 'name'>> {
  const hash = createHash('sha256');
  let size = 0;
  for await (const chunk of createReadStream(path, { highWaterMark: chunkBytes }) as AsyncIterable<Buffer>) {
    await each(chunk);
    hash.update(chunk);
    size += chunk.length;
  }
  return { size, sha256: hash.digest('hex') };
}

/** Creates a folder with mode 0700, including its parents. */
export async function makeFolder(path: string): Promise<void> {
  await mkdir(path, { recursive: true, mode: 0o700 });
}

/** Returns the total size in bytes of the readable files below a folder. */
export async function bytesIn(folder: string): Promise<number> {
  const names = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  const sizes = await Promise.all(
    names
      .filter((entry) => entry.isFile())
      .map((entry) =>
        stat(join(entry.parentPath, entry.name)).then(
          ({ size }) => size,
          () => 0,
        ),
      ),
  );
  return sizes.reduce((sum, size) => sum + size, 0);
}
