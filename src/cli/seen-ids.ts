import { createHash } from 'node:crypto';
import { type FileHandle, mkdir, open } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import type { SeenIds } from '../client/entries.ts';

/** Bytes stored per id, from its SHA-256. */
const recordBytes = 16;
/** Number of ids buffered in memory, 100 bytes each, before one pass over the file. */
const maxPending = 2 ** 18;
const chunkBytes = 2 ** 20;

/**
 * The ids of all checked entries, in a file next to the pin: 16 bytes per entry in log order. Finds duplicates across
 * the complete log in bounded memory.
 */
export class IdFile implements SeenIds {
  readonly #file: FileHandle;
  /** Number of records in the file. */
  #written: number;
  #pending = new Map<string, number>();

  private constructor(file: FileHandle, written: number) {
    this.#file = file;
    this.#written = written;
  }

  /** Opens the file with the ids of the first `size` entries; returns undefined if the file has fewer ids. */
  static async open(path: string, size: number): Promise<IdFile | undefined> {
    await mkdir(dirname(resolve(path)), { recursive: true });
    const file = await open(path, 'a+').then(async (made) => {
      await made.close();
      return open(path, 'r+');
    });
    const { size: bytes } = await file.stat();
    if (bytes < size * recordBytes) {
      await file.close();
      return undefined;
    }
    // Removes ids beyond the pin, which are from an audit that failed.
    await file.truncate(size * recordBytes);
    return new IdFile(file, size);
  }

  async add(ids: readonly string[], first: number): Promise<readonly [number, number] | undefined> {
    for (const [i, id] of ids.entries()) {
      const digest = createHash('sha256').update(id).digest().toString('latin1', 0, recordBytes);
      const earlier = this.#pending.get(digest);
      if (earlier !== undefined) return [earlier, first + i];
      this.#pending.set(digest, first + i);
    }
    return this.#pending.size < maxPending ? undefined : this.#flush();
  }

  async finish(): Promise<readonly [number, number] | undefined> {
    const duplicate = await this.#flush();
    await this.#file.sync();
    return duplicate;
  }

  async close(): Promise<void> {
    await this.#file.close();
  }

  async #flush(): Promise<readonly [number, number] | undefined> {
    if (this.#pending.size === 0) return undefined;
    const duplicate = await this.#findWritten();
    if (duplicate !== undefined) return duplicate;
    const bytes = Buffer.from([...this.#pending.keys()].join(''), 'latin1');
    await this.#file.write(bytes, 0, bytes.length, this.#written * recordBytes);
    this.#written += this.#pending.size;
    this.#pending = new Map();
    return undefined;
  }

  /**
   * Searches the file for the pending ids. Returns the indices of two entries with the same id; undefined if no pending
   * id is in the file.
   */
  async #findWritten(): Promise<readonly [number, number] | undefined> {
    const prefixes = new Set([...this.#pending.keys()].map((key) => Buffer.from(key, 'latin1').readUInt32LE()));
    const chunk = Buffer.alloc(chunkBytes);
    const end = this.#written * recordBytes;
    for (let at = 0; at < end; at += chunkBytes) {
      const { bytesRead } = await this.#file.read(chunk, 0, Math.min(chunkBytes, end - at), at);
      for (let offset = 0; offset < bytesRead; offset += recordBytes) {
        if (!prefixes.has(chunk.readUInt32LE(offset))) continue;
        const index = this.#pending.get(chunk.toString('latin1', offset, offset + recordBytes));
        if (index !== undefined) return [(at + offset) / recordBytes, index];
      }
    }
    return undefined;
  }
}
