import { open, rename } from 'node:fs/promises';
import { dirname } from 'node:path';

/**
 * Replaces a file so that after any crash it has either the old or the new content: writes a `.new` file
 * next to it, flushes that file, renames it, and flushes the folder. A `.new` file left by a crash is
 * overwritten by the next write.
 */
export async function replaceFile(
  path: string,
  text: string,
  options: {
    readonly mode: number;
    /** Whether to set exactly this mode, regardless of the umask and of an existing `.new` file. */
    readonly exactMode?: true;
    /** Called before the new file replaces the old one. If it throws, the old file stays. */
    readonly written?: () => void | Promise<void>;
    readonly renamed?: () => void;
  },
): Promise<void> {
  const file = await open(`${path}.new`, 'w', options.mode);
  try {
    if (options.exactMode) await file.chmod(options.mode);
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
  await options.written?.();
  await rename(`${path}.new`, path);
  options.renamed?.();
  await flushFolder(dirname(path));
}

/** Appends text to a file and flushes it; creates the file if necessary. */
export async function appendToFile(path: string, text: string, mode: number): Promise<void> {
  const file = await open(path, 'a', mode);
  let isNew: boolean;
  try {
    isNew = (await file.stat()).size === 0;
    await file.appendFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
  if (isNew) await flushFolder(dirname(path));
}

/** Flushes the names in a folder. */
export async function flushFolder(path: string): Promise<void> {
  const folder = await open(path, 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}
