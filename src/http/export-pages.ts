import { setTimeout as pause } from 'node:timers/promises';
import type { ExportPlace, ExportQuery } from '../analytics/alert-export.ts';
import { type ErrorCode, ServiceError } from '../errors.ts';
import { limits } from '../limits.ts';
import { countingRefusals, queryLimits } from './reached.ts';
import type { Chunks } from './reply.ts';
import type { Services } from './services.ts';

/** What passes: other queries wait for the threads, or one of these is being replaced. */
const passing: readonly ErrorCode[] = ['OVERLOADED', 'WORKER_LOST'];
const retryPauseMs = 1000;

/**
 * The pages of an export, each read by the analytics pool when the client has taken the one before. The first is read
 * by `open`, which fails as any query does; later ones are tried again, since their answer has begun.
 */
export class ExportPages implements Chunks {
  readonly #services: Pick<Services, 'queries' | 'metrics'>;
  readonly #query: ExportQuery;
  readonly #signal: AbortSignal;
  readonly #onClose: () => void;
  #ready: Uint8Array | undefined;
  #place: ExportPlace | undefined;
  #isClosed = false;

  private constructor(
    services: Pick<Services, 'queries' | 'metrics'>,
    query: ExportQuery,
    signal: AbortSignal,
    onClose: () => void,
  ) {
    this.#services = services;
    this.#query = query;
    this.#signal = signal;
    this.#onClose = onClose;
  }

  /** `onClose` is called once nothing more is read, and where this fails. */
  static async open(
    services: Pick<Services, 'queries' | 'metrics'>,
    query: ExportQuery,
    signal: AbortSignal,
    onClose: () => void,
  ): Promise<ExportPages> {
    const pages = new ExportPages(services, query, signal, onClose);
    try {
      pages.#ready = await pages.#read();
      return pages;
    } catch (error) {
      pages.close();
      throw error;
    }
  }

  async next(): Promise<Uint8Array | undefined> {
    const ready = this.#ready;
    if (ready !== undefined) {
      this.#ready = undefined;
      return ready;
    }
    if (this.#isClosed || this.#place === undefined) return undefined;
    for (let tried = 0; ; tried++) {
      try {
        return await this.#read();
      } catch (error) {
        const passes = error instanceof ServiceError && passing.includes(error.code);
        if (!passes || tried >= limits.maxExportRetries) throw error;
      }
      await pause(retryPauseMs, undefined, { signal: this.#signal });
    }
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#ready = undefined;
    this.#onClose();
  }

  async #read(): Promise<Uint8Array> {
    const { queries, metrics } = this.#services;
    const query = this.#place === undefined ? this.#query : { ...this.#query, place: this.#place };
    const page = queries.run('exportAlerts', query, { signal: this.#signal });
    const { lines, next } = await countingRefusals(metrics, queryLimits, page);
    this.#place = next;
    return lines;
  }
}
