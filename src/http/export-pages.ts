import { setTimeout as pause } from 'node:timers/promises';
import { damagedRowsOf } from '../contract/damaged-rows.ts';
import { type ErrorCode, ServiceError } from '../errors.ts';
import { limits } from '../limits.ts';
import type { Chunks } from './reply.ts';

/** A page of an export. */
export interface ExportPage<Place> {
  /** Of lines, each item with its end; may be empty where more follows. */
  readonly bytes: Uint8Array;
  /** Where it goes on; absent on the last page. */
  readonly next?: Place;
}

/** Reads the page at a place, without one the first, elsewhere than on this thread where that may be long. */
export type ReadPage<Place> = (place: Place | undefined) => Promise<ExportPage<Place>>;

export interface ExportOptions {
  /** Aborted when nobody waits any more. */
  readonly signal: AbortSignal;
  /** Called once nothing more is read, and where the first page fails. */
  readonly onClose: () => void;
}

/** What passes: other queries wait for the threads, of all or of this principal, or one of these is being replaced. */
const passing: readonly ErrorCode[] = ['OVERLOADED', 'RATE_LIMITED', 'WORKER_LOST'];
const retryPauseMs = 1000;

/**
 * The pages of an export, each read when the client has taken the one before. The first is read by `open`, which fails
 * as any query does; later ones are tried again, since their answer has begun.
 */
export class ExportPages<Place> implements Chunks {
  readonly #read: ReadPage<Place>;
  readonly #options: ExportOptions;
  #ready: Uint8Array | undefined;
  /** The page that was given last. */
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

  /** Pages of up to 2 MB come one after the other: left to the garbage collector, some 20 MB of them lie there. */
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

/** An export has all or fails: nothing in it says what is missing. @throws INTERNAL (`data_damaged`) */
export function requireWhole<T extends object>(part: T): T {
  const [row] = damagedRowsOf(part);
  if (row === undefined) return part;
  const reason = { reason: 'data_damaged', table: row.slice(0, row.indexOf(' ')) };
  throw new ServiceError('INTERNAL', `the export lacks a damaged row, ${row}; see /health`, reason);
}

/** Whether nothing else lies in its memory, as beside small Buffers. */
function ownsBuffer({ buffer, byteOffset, byteLength }: Uint8Array): boolean {
  return byteOffset === 0 && byteLength === buffer.byteLength && byteLength > Buffer.poolSize;
}
