import { open, rename } from 'node:fs/promises';
import { dirname } from 'node:path';

/**
 * Replaces a file so that after any crash the old or the new content is there, whole: written beside it, flushed,
 * renamed, and the folder flushed. A `.new` file that a crash left behind is overwritten by the next write.
 */
export async function replaceFile(
  path: string,
  text: string,
  options: {
    readonly mode: number;
    /** The mode as it is, whatever the umask and a `.new` file that was left behind say. */
    readonly exactMode?: true;
    readonly written?: () => void;
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
  options.written?.();
  await rename(`${path}.new`, path);
  options.renamed?.();
  await flushFolder(dirname(path));
}

/** Adds text at the end of a file and flushes it; the file is created if need be. */
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
