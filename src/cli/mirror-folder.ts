import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { MirrorFolder } from '../client/mirror.ts';
import { flushFolder } from '../files/durable-file.ts';
import { ifPresent } from '../files/if-present.ts';

/** A folder that any static file server can serve as a log (C2SP tlog-tiles). */
export class FolderFiles implements MirrorFolder {
  readonly #root: string;
  /** Folders with directory entries that are not flushed yet. */
  readonly #touched = new Set<string>();

  constructor(root: string) {
    this.#root = root;
  }

  read(path: string): Promise<Buffer | undefined> {
    return ifPresent(readFile(join(this.#root, path)));
  }

  /**
   * Writes a temporary file, flushes and renames it, so that readers see either the old or the complete new
   * file.
   */
  async write(path: string, content: Uint8Array | string): Promise<void> {
    const target = join(this.#root, path);
    const beside = `${target}.${process.pid}.new`;
    await mkdir(dirname(target), { recursive: true });
    await writeFile(beside, content, { mode: 0o644, flush: true });
    await rename(beside, target);
    for (let folder = dirname(target); ; folder = dirname(folder)) {
      this.#touched.add(folder);
      if (folder.length <= this.#root.length) return;
    }
  }

  /** Resolves once the directory entries of all written files are on disk. */
  async flush(): Promise<void> {
    for (const folder of this.#touched) await flushFolder(folder);
    this.#touched.clear();
  }

  /** Removes partial tiles and bundles that a full tile or bundle supersedes, and temporary files of a killed run. */
  async removeSuperseded(): Promise<void> {
    await this.#clean(join(this.#root, 'tile'));
  }

  async #clean(folder: string): Promise<void> {
    const files = await readdir(folder, { withFileTypes: true });
    const names = new Set(files.filter((file) => file.isFile()).map(({ name }) => name));
    for (const file of files) {
      const path = join(folder, file.name);
      const isSuperseded = file.name.endsWith('.p') && names.has(file.name.slice(0, -2));
      if (isSuperseded || file.name.endsWith('.new')) await rm(path, { recursive: true, force: true });
      else if (file.isDirectory()) await this.#clean(path);
    }
  }
}
