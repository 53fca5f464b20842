import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

/** Layout of the data folder. A newer program migrates an older layout; an older program refuses a newer one. */
const formatVersion = 1;

export interface DataFolder {
  readonly path: string;
  /** Releases the folder for another process. Death releases it too. */
  release(): void;
}

/**
 * Takes the data folder for this process: one folder serves one process, commands that write included.
 *
 * The lock is a POSIX record lock, taken through an exclusive SQLite transaction on an otherwise empty file: the
 * kernel drops it when the process ends however it ends, so there is no stale lock to clear, and it holds across
 * containers that share the volume. (Node offers no lock of its own.)
 *
 * @throws Error with one clear line when another process has it or its format is newer.
 */
export function takeDataFolder(path: string): DataFolder {
  try {
    mkdirSync(path, { recursive: true, mode: 0o700 });
  } catch (error) {
    throw new Error(
      `data folder ${path} cannot be made: ${(error as NodeJS.ErrnoException).code ?? String(error)}`,
    );
  }
  const lock = new DatabaseSync(join(path, 'lock'));
  try {
    lock.exec('PRAGMA journal_mode = MEMORY; PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE');
  } catch (error) {
    lock.close();
    if (error instanceof Error && /locked/.test(error.message))
      throw new Error(
        `data folder ${path} is in use by another process; stop it or choose another CANDOR_DATA_DIR`,
      );
    throw new Error(`data folder ${path} cannot be locked: ${String(error)}`);
  }
  try {
    checkFormat(join(path, 'format.json'));
  } catch (error) {
    lock.close();
    throw error;
  }
  return { path, release: () => lock.close() };
}

function checkFormat(file: string): void {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    writeFileSync(`${file}.new`, `${JSON.stringify({ format: formatVersion })}\n`, { flush: true });
    renameSync(`${file}.new`, file);
    return;
  }
  const format = formatOf(text);
  if (format === undefined)
    throw new Error(
      `${file} is damaged: it should read {"format":${formatVersion}}; put it back from a backup`,
    );
  if (format !== formatVersion)
    throw new Error(
      `${file} says format ${String(format)}; this program knows format ${formatVersion}: use a newer one`,
    );
}

function formatOf(text: string): unknown {
  try {
    return JSON.parse(text)?.format;
  } catch {
    return undefined;
  }
}
