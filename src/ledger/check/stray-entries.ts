import type { DatabaseFile } from './database-file.ts';
import { keyNumber } from './row-keys.ts';

/** Minimum size of an entry: its signature has 128 digits. */
const leastEntryBytes = 128;

/**
 * Locations of up to two copies of each entry in the file: the first and the last copy that a scan of all pages finds.
 * Takes 12 bytes per leaf.
 */
export class StrayEntries {
  readonly #file: DatabaseFile;
  readonly #pages: readonly Uint32Array[];
  readonly #nodes: readonly Uint16Array[];

  constructor(file: DatabaseFile, size: number) {
    this.#file = file;
    this.#pages = [new Uint32Array(size), new Uint32Array(size)];
    this.#nodes = [new Uint16Array(size), new Uint16Array(size)];
    for (const { page, node, key, bytes } of file.strayRows()) {
      // Keys of `history` are single numbers too, but its values have 16 bytes.
      const index = bytes > leastEntryBytes ? keyNumber(key) : -1;
      if (index < 0 || index >= size) continue;
      const copy = this.#pages[0]![index] === 0 ? 0 : 1;
      this.#keep(copy, index, page, node);
    }
  }

  candidates(index: number): Buffer[] {
    return this.#pages.flatMap((pages, copy) => {
      const page = pages[index] ?? 0;
      const value = page === 0 ? undefined : this.#file.strayValue(page, this.#nodes[copy]![index]!);
      return value !== undefined && value[0] === 0x7b ? [value] : [];
    });
  }

  #keep(copy: number, index: number, page: number, node: number): void {
    this.#pages[copy]![index] = page;
    this.#nodes[copy]![index] = node;
  }
}
