import { createHash } from 'node:crypto';
import { type FileHandle, mkdir, open } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import type { SeenIds } from '../client/entries.ts';

/** Bytes of the SHA-256 of an id that are kept. */
const recordBytes = 16;
/** Ids that wait in memory, 100 bytes each, to be compared with those of the file in one pass. */
const maxPending = 2 ** 18;
const pieceBytes = 2 ** 20;

/**
 * The ids of all entries that were checked, beside the pin: 16 bytes an entry in the order of the log, so that a
 * duplicate is found however far apart the two are, in bounded memory.
 */
export class IdFile implements SeenIds {
  readonly #file: FileHandle;
  /** Records in the file. */
  #written: number;
  #pending = new Map<string, number>();

  private constructor(file: FileHandle, written: number) {
    this.#file = file;
    this.#written = written;
  }

  /** The file with the ids of the first `size` entries; undefined where it lacks some of them. */
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
    // Ids behind the pin are of an audit that did not end well.
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
    const twice = await this.#flush();
    await this.#file.sync();
    return twice;
  }

  async close(): Promise<void> {
    await this.#file.close();
  }

  async #flush(): Promise<readonly [number, number] | undefined> {
    if (this.#pending.size === 0) return undefined;
    const twice = await this.#findWritten();
    if (twice !== undefined) return twice;
    const bytes = Buffer.from([...this.#pending.keys()].join(''), 'latin1');
    await this.#file.write(bytes, 0, bytes.length, this.#written * recordBytes);
    this.#written += this.#pending.size;
    this.#pending = new Map();
    return undefined;
  }

  /** Looks for the pending ids among those of the file. */
  async #findWritten(): Promise<readonly [number, number] | undefined> {
    const prefixes = new Set(
      [...this.#pending.keys()].map((key) => Buffer.from(key, 'latin1').readUInt32LE()),
    );
    const piece = Buffer.alloc(pieceBytes);
    const end = this.#written * recordBytes;
    for (let at = 0; at < end; at += pieceBytes) {
      const { bytesRead } = await this.#file.read(piece, 0, Math.min(pieceBytes, end - at), at);
      for (let offset = 0; offset < bytesRead; offset += recordBytes) {
        if (!prefixes.has(piece.readUInt32LE(offset))) continue;
        const index = this.#pending.get(piece.toString('latin1', offset, offset + recordBytes));
        if (index !== undefined) return [(at + offset) / recordBytes, index];
      }
    }
    return undefined;
  }
}
