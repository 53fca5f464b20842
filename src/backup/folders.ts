import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { namesIn } from './files.ts';

const named = /^\d{8}T\d{6}Z-([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/;

/**
 * Returns the folder name, such as `20261121T080723Z-<id>`. Names sort by creation time, because UUIDv7 ids
 * sort by time within a second.
 */
export function folderName(id: string, createdAtMs: number): string {
  const time = new Date(createdAtMs).toISOString();
  return `${time.slice(0, 19).replaceAll(/[-:]/g, '')}Z-${id}`;
}

/** Returns the id of the backup in a folder of this name; undefined for other folders. */
export function idIn(name: string): string | undefined {
  return named.exec(name)?.[1];
}

/** Returns the names of the folders that hold backups, newest first; empty if the folder does not exist yet. */
export async function backupNames(dir: string): Promise<string[]> {
  return (await namesIn(dir))
    .filter((name) => named.test(name))
    .sort()
    .reverse();
}

/** Returns the name for the folder of a backup that is being made. */
export async function partialName(dataDir: string, id: string): Promise<string> {
  return `${await partialPrefix(dataDir)}${id}`;
}

/**
 * Returns the prefix of partial backups, which contains the id of the log's oldest key, because several
 * services may store their backups in one folder.
 */
async function partialPrefix(dataDir: string): Promise<string> {
  const [oldest = 'new'] = (await namesIn(join(dataDir, 'keys'))).filter((name) => name.endsWith('.json')).sort();
  return `.partial-${oldest.replace('.json', '')}-`;
}

/**
 * Removes partial backups of processes that crashed, and returns their number. The caller must hold the lock
 * on the data folder, so that no running process is writing such a backup.
 */
export async function removePartials(dir: string, dataDir: string): Promise<number> {
  const prefix = await partialPrefix(dataDir);
  const left = (await namesIn(dir)).filter((name) => name.startsWith(prefix));
  for (const name of left) await rm(join(dir, name), { recursive: true, force: true });
  return left.length;
}
