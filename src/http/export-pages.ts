import { setTimeout as pause } from 'node:timers/promises';
import { damagedRowsOf } from '../contract/damaged-rows.ts';
import { type ErrorCode, ServiceError } from '../errors.ts';
import { limits } from '../limits.ts';
import type { Chunks } from './reply.ts';

/** A page of an export. */
export interface ExportPage<Place> {
  /** Lines with their line endings, or a part of an Arrow stream; may be empty. */
  readonly bytes: Uint8Array;
  /** The position of the next page; absent on the last page. */
  readonly next?: Place;
}

/** Reads the page at a position, or the first page. Reads that may be long run on other threads. */
export type ReadPage<Place> = (place: Place | undefined) => Promise<ExportPage<Place>>;

export interface ExportOptions {
  /** Signal that is aborted when the client disconnects. */
  readonly signal: AbortSignal;
  /** Called when reading has ended, even if the first page failed. */
  readonly onClose: () => void;
}

/**
 * Codes of temporary failures: the threads are busy, in total or for this principal, or a thread is being
 * replaced.
 */
const passing: readonly ErrorCode[] = ['OVERLOADED', 'RATE_LIMITED', 'WORKER_LOST'];
const retryPauseMs = 1000;

/**
 * The pages of an export. Each page is read when the client has received the previous one. `open` reads the
 * first page and fails as any query does; later pages are read again after temporary failures, because the response
 * has begun.
 */
export class ExportPages<Place> implements Chunks {
  readonly #read: ReadPage<Place>;
  readonly #options: ExportOptions;
  #ready: Uint8Array | undefined;
  /** The page that was returned last. */
  #given: Uint8Array | undefined;
  #place: Place | undefined;
  #isClosed = false;

  private constructor(read: ReadPage<Place>, options: ExportOptions) {
    this.#read = read;
    this.#options = options;
  }

  static async open<Place>(read: ReadPage<Place>, options: ExportOptions): Promise<ExportPages<Place>> {
    const pages = new ExportPages(read, options);
    try {
      pages.#ready = await pages.#readOn();
      return pages;
    } catch (error) {
      pages.close();
      throw error;
    }
  }

  async next(): Promise<Uint8Array | undefined> {
    this.#giveBack();
    const ready = this.#ready;
    if (ready !== undefined) {
      this.#ready = undefined;
      this.#given = ready;
      return ready;
    }
    if (this.#isClosed || this.#place === undefined) return undefined;
    for (let tried = 0; ; tried++) {
      try {
        this.#given = await this.#readOn();
        return this.#given;
      } catch (error) {
        const passes = error instanceof ServiceError && passing.includes(error.code);
        if (!passes || tried >= limits.maxExportRetries) throw error;
      }
      await pause(retryPauseMs, undefined, { signal: this.#options.signal });
    }
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#ready = undefined;
    this.#giveBack();
    this.#options.onClose();
  }

  /** Frees the memory of the last page; otherwise about 20 MB of pages would wait for the garbage collector. */
  #giveBack(): void {
    const page = this.#given;
    this.#given = undefined;
    if (page !== undefined && ownsBuffer(page)) (page.buffer as ArrayBuffer).transfer(0);
  }

  async #readOn(): Promise<Uint8Array> {
    const { bytes, next } = await this.#read(this.#place);
    this.#place = next;
    return bytes;
  }
}

/**
 * Returns the part if it is complete. Throws INTERNAL (`data_damaged`) if rows are missing, because an export
 * cannot list them.
 */
export function requireWhole<T extends object>(part: T): T {
  const [row] = damagedRowsOf(part);
  if (row === undefined) return part;
  const reason = { reason: 'data_damaged', table: row.slice(0, row.indexOf(' ')) };
  throw new ServiceError('INTERNAL', `the export ended at a damaged row, ${row}; see /health`, reason);
}

/** Returns whether the array fills its whole buffer, and the buffer cannot be the pool that small Buffers share. */
function ownsBuffer({ buffer, byteOffset, byteLength }: Uint8Array): boolean {
  return byteOffset === 0 && byteLength === buffer.byteLength && byteLength > Buffer.poolSize;
}
