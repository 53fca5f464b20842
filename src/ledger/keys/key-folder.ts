import {
  chmodSync,
  closeSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import type { KeyFile } from './key-file.ts';

/**
 * `<data>/keys/`: one file per key, `<kid>.json`, mode 0600, never deleted. All operations block the thread:
 * keys change once a day, and a change must be on disk before the next signature.
 */
export class KeyFolder {
  readonly path: string;

  constructor(path: string) {
    this.path = path;
  }

  /** Returns the texts of all key files by kid. */
  read(): Map<string, string> {
    const texts = new Map<string, string>();
    for (const name of namesIn(this.path).sort()) {
      if (name.endsWith('.json'))
        texts.set(name.slice(0, -'.json'.length), readFileSync(join(this.path, name), 'utf8'));
    }
    return texts;
  }

  /** Removes temporary files of interrupted writes, which may hold an unencrypted private key. */
  removeUnfinished(): void {
    for (const name of namesIn(this.path)) if (name.endsWith('.json.new')) rmSync(join(this.path, name));
  }

  /** Creates the folder if it is missing. */
  make(): void {
    mkdirSync(this.path, { recursive: true, mode: 0o700 });
    chmodSync(this.path, 0o700);
    flush(dirname(this.path));
  }

  /** Writes and flushes the new contents to temporary files. If it throws, nothing has changed. */
  prepare(files: readonly KeyFile[]): void {
    try {
      for (const file of files)
        writeFileSync(this.#pathOf(file, '.new'), `${JSON.stringify(file)}\n`, { mode: 0o600, flush: true });
    } catch (error) {
      for (const file of files) remove(this.#pathOf(file, '.new'));
      throw error;
    }
  }

  /**
   * Renames the prepared files into place, in this order, and flushes each rename. A crash or an error in between
   * leaves the first files new and the remaining files old.
   */
  commit(files: readonly KeyFile[], renamed: (file: KeyFile) => void): void {
    for (const file of files) {
      renameSync(this.#pathOf(file, '.new'), this.#pathOf(file, ''));
      flush(this.path);
      renamed(file);
    }
  }

  /** Flushes the names of the files in the folder. */
  flush(): void {
    flush(this.path);
  }

  #pathOf(file: KeyFile, suffix: string): string {
    return join(this.path, `${file.kid}.json${suffix}`);
  }
}

/** Removes a file. Ignores system errors, because the next start removes the file. */
function remove(path: string): void {
  try {
    unlinkSync(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).syscall === undefined) throw error;
  }
}

function flush(folder: string): void {
  const handle = openSync(folder, 'r');
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}
