import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { checkDataFolderFiles } from './data-folder-files.ts';
import { keepFilesPrivate } from './private-files.ts';
import { isDiskFull } from './write-errors.ts';

/** Layout of the data folder. A newer program migrates an older layout; an older program refuses a newer one. */
const formatVersion = 1;

export interface DataFolder {
  readonly path: string;
  /** Releases the folder for another process. Death releases it too. */
  release(): void;
}

/** In the data folder while a backup is being put there: neither the old content nor the new is whole. */
export const restoreMark = 'restore.json';

/**
 * Takes the data folder for this process: one folder serves one process, commands that write included.
 *
 * @param options.restoring - by the command that puts a backup there: nobody else may have a folder that is half restored
 * @throws Error with one clear line when another process has it, a restore was interrupted, or its format is newer.
 */
export function takeDataFolder(path: string, options: { readonly restoring?: true } = {}): DataFolder {
  const folder = lockFolder(path, { name: 'data folder', instead: 'choose another CANDOR_DATA_DIR' });
  try {
    if (options.restoring !== true && existsSync(join(path, restoreMark)))
      throw new Error(
        `a restore into the data folder ${path} was interrupted; run the same \`candor restore\` again, which completes it`,
      );
    checkFormat(join(path, 'format.json'), options);
  } catch (error) {
    folder.release();
    throw error;
  }
  return folder;
}

/**
 * Makes a folder where there is none and locks it for this process, which makes private files from now on.
 *
 * The lock is a POSIX record lock, taken through an exclusive SQLite transaction on an otherwise empty file: the
 * kernel drops it when the process ends however it ends, so there is no stale lock to clear, and it holds across
 * containers that share the volume. (Node offers no lock of its own.)
 *
 * @param words - how messages call the folder, and what to do instead of stopping who has it
 * @throws Error with one clear line when another process has it.
 */
export function lockFolder(path: string, words: { name: string; instead: string }): DataFolder {
  const named = `${words.name} ${path}`;
  keepFilesPrivate();
  try {
    makeFolder(resolve(path));
  } catch (error) {
    throw new Error(`${named} cannot be made: ${(error as NodeJS.ErrnoException).code ?? String(error)}`);
  }
  checkDataFolderFiles(path);
  const lock = new DatabaseSync(join(path, 'lock'));
  try {
    lock.exec('PRAGMA journal_mode = MEMORY; PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE');
  } catch (error) {
    lock.close();
    if (error instanceof Error && /locked/.test(error.message))
      throw new Error(`${named} is in use by another process; stop it or ${words.instead}`);
    throw new Error(`${named} cannot be locked: ${String(error)}`);
  }
  return { path, release: () => lock.close() };
}

/** With the folders above it. Node's own recursive mkdir never ends in /proc, where it can make none. */
function makeFolder(path: string): void {
  if (existsSync(path)) return;
  if (dirname(path) !== path) makeFolder(dirname(path));
  mkdirSync(path, { mode: 0o700 });
}

/**
 * Makes a missing file. One that is damaged is no hindrance to a restore, which brings back another.
 *
 * @throws Error with one clear line when the layout that the file names isn't this program's.
 */
export function checkFormat(file: string, { restoring = false } = {}): void {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    writeFormat(file);
    return;
  }
  const format = formatOf(text);
  if (format === undefined) {
    if (restoring) return;
    throw new Error(
      `${file} is damaged: it should read {"format":${formatVersion}}; put it back from a backup`,
    );
  }
  if (format !== formatVersion)
    throw new Error(
      `${file} says format ${String(format)}; this program knows format ${formatVersion}: use a newer one`,
    );
}

/** On a full disk the next start writes it: the service can still serve what it has. */
function writeFormat(file: string): void {
  try {
    writeFileSync(`${file}.new`, `${JSON.stringify({ format: formatVersion })}\n`, { flush: true });
    renameSync(`${file}.new`, file);
  } catch (error) {
    if (!isDiskFull(error)) throw error;
  }
}

function formatOf(text: string): unknown {
  try {
    return JSON.parse(text)?.format;
  } catch {
    return undefined;
  }
}
