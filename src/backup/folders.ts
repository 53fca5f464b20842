import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { namesIn } from './files.ts';

const named = /^\d{8}T\d{6}Z-([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/;

/** `20261121T080723Z-<id>`: names sort by time, because ids do so within a second. */
export function folderName(id: string, createdAtMs: number): string {
  const time = new Date(createdAtMs).toISOString();
  return `${time.slice(0, 19).replaceAll(/[-:]/g, '')}Z-${id}`;
}

/** The id of the backup in a folder of this name; undefined for other folders. */
export function idIn(name: string): string | undefined {
  return named.exec(name)?.[1];
}

/** Names of the folders that hold backups, newest first. None where there is no such folder yet. */
export async function backupNames(dir: string): Promise<string[]> {
  return (await namesIn(dir))
    .filter((name) => named.test(name))
    .sort()
    .reverse();
}

/** A backup on its way. */
export async function partialName(dataDir: string, id: string): Promise<string> {
  return `${await partialPrefix(dataDir)}${id}`;
}

/** Names whose it is, by the log's oldest key: several services may keep their backups in one folder. */
async function partialPrefix(dataDir: string): Promise<string> {
  const [oldest = 'new'] = (await namesIn(join(dataDir, 'keys')))
    .filter((name) => name.endsWith('.json'))
    .sort();
  return `.partial-${oldest.replace('.json', '')}-`;
}

/**
 * Removes what processes that died had begun to write. The caller has the data folder, so that no process that lives
 * writes one of its backups. Returns how many there were.
 */
export async function removePartials(dir: string, dataDir: string): Promise<number> {
  const prefix = await partialPrefix(dataDir);
  const left = (await namesIn(dir)).filter((name) => name.startsWith(prefix));
  for (const name of left) await rm(join(dir, name), { recursive: true, force: true });
  return left.length;
}
