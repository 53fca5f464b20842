import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { checkDataFolderFiles } from './data-folder-files.ts';
import { keepFilesPrivate } from './private-files.ts';
import { isDiskFull } from './write-errors.ts';

/**
 * Version of the layout of the data folder. A newer program migrates an older layout; an older program
 * refuses a newer layout.
 */
const formatVersion = 1;

export interface DataFolder {
  readonly path: string;
  /** Releases the folder for another process. The end of the process releases it too. */
  release(): void;
}

/**
 * Name of the file that is in the data folder while a backup is being restored. During that time, neither the
 * old nor the new content is complete.
 */
export const restoreMark = 'restore.json';

/**
 * Locks the data folder for this process. Only one process at a time may use a folder, including commands
 * that write.
 *
 * @param options.restoring - set by the restore command: no other process may open a folder that is half
 * restored
 * @throws Error with a one-line message if another process uses the folder, a restore was interrupted, or the
 * format is newer
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
 * Creates a folder if necessary and locks it for this process. All files that the process creates afterwards
 * are private.
 *
 * The lock is a POSIX record lock, taken through an exclusive SQLite transaction on an otherwise empty file.
 * The kernel releases the lock when the process ends, so there is never a stale lock. The lock also works across
 * containers that share the volume. Node has no API for file locks.
 *
 * @param words - the name of the folder in messages, and the alternative to stopping the other process
 * @throws Error with a one-line message if another process uses the folder
 */
export function lockFolder(path: string, words: { name: string; instead: string }): DataFolder {
  const named = `${words.name} ${path}`;
  keepFilesPrivate();
  try {
    makeFolder(resolve(path));
  } catch (error) {
    throw new Error(`${named} cannot be created: ${(error as NodeJS.ErrnoException).code ?? String(error)}`);
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

/**
 * Creates a folder and its parents. Node's recursive mkdir never returns in /proc, where it cannot create
 * folders.
 */
function makeFolder(path: string): void {
  if (existsSync(path)) return;
  if (dirname(path) !== path) makeFolder(dirname(path));
  mkdirSync(path, { mode: 0o700 });
}

/**
 * Checks the layout of the data folder, and creates a missing format file. A damaged format file does not
 * prevent a restore, which replaces it.
 *
 * @throws Error with a one-line message if this program does not support the layout in the file
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
    throw new Error(`${file} is damaged: it should read {"format":${formatVersion}}; restore it from a backup`);
  }
  if (format !== formatVersion)
    throw new Error(
      `${file} has format ${String(format)}; this program supports format ${formatVersion}: use a newer version`,
    );
}

/**
 * Writes the format file. If the disk is full, the file stays missing until the next start, because the service can
 * still serve its data.
 */
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
