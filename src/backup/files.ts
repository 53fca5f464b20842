import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdir, open, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { BackupFile } from './manifest.ts';
import { fileName } from './manifest.ts';

/** Read at a time. */
const chunkBytes = 2 ** 20;

/** The files of a copy, by name: those that a backup may have, whatever else lies there. */
export async function filesOf(folder: string): Promise<string[]> {
  const keys = await namesIn(join(folder, 'keys'));
  return [...(await namesIn(folder)), ...keys.map((name) => `keys/${name}`)]
    .filter((name) => fileName.test(name))
    .sort();
}

/** Names in a folder, none where there is no such folder. */
export async function namesIn(folder: string): Promise<string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '')) return [];
    throw error;
  }
}

export async function exists(path: string): Promise<boolean> {
  try {
    await stat(path);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
    throw error;
  }
}

/** Size and hash of a file as it is read from the folder. `stopped` is asked for each megabyte; once true, it throws. */
export async function hashFile(folder: string, name: string, stopped?: () => void): Promise<BackupFile> {
  const hash = createHash('sha256');
  let size = 0;
  for await (const chunk of createReadStream(join(folder, name), { highWaterMark: chunkBytes })) {
    stopped?.();
    hash.update(chunk as Buffer);
    size += (chunk as Buffer).length;
  }
  return { name, size, sha256: hash.digest('hex') };
}

/** Copies a file into a new one of mode 0600, flushed. Hash and size are of what was read. */
export async function copyFile(from: string, to: string): Promise<Omit<BackupFile, 'name'>> {
  const hash = createHash('sha256');
  let size = 0;
  const target = await open(to, 'wx', 0o600);
  try {
    for await (const chunk of createReadStream(from, { highWaterMark: chunkBytes })) {
      hash.update(chunk as Buffer);
      size += (chunk as Buffer).length;
      await target.writeFile(chunk as Buffer);
    }
    await target.sync();
  } finally {
    await target.close();
  }
  return { size, sha256: hash.digest('hex') };
}

/** Makes a folder that only we can read, with the folders above it. */
export async function makeFolder(path: string): Promise<void> {
  await mkdir(path, { recursive: true, mode: 0o700 });
}

/** Bytes of the files below a folder, as far as they can be read. */
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
