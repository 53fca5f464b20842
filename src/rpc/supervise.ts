import { Worker } from 'node:worker_threads';
import { ServiceError } from '../errors.ts';
import { callerApi, type Line, openLine } from './connect.ts';
import { fromUncaught } from './fault.ts';
import { type HeapLimits, resourceLimits } from './heap.ts';
import type { MethodList } from './methods.ts';
import type { FromWorker } from './wire.ts';

/** A second death within this time of the one before is not bad luck: restarting would not help. */
const GIVE_UP_WITHIN_MS = 60_000;

export interface SuperviseOptions<T> extends HeapLimits {
  /** Names the worker in messages and the thread for the operating system. */
  readonly name: string;
  readonly url: URL;
  readonly list: MethodList<T>;
  /** Cloned into the worker at each start: no transferred buffers. */
  readonly workerData: unknown;
  readonly maxInFlightBytes?: number;
  /** The worker died twice within a minute (failing to start again is dying). Calls fail from now on. */
  onGiveUp(error: Error): void;
  /** The worker died of `error` and is being started again. */
  onRestart?(error: Error): void;
  /** Monotonic milliseconds. */
  readonly clock?: () => number;
}

export interface Supervised<T> {
  /**
   * The worker's interface, the same object over all restarts. Besides what `connect` says, calls fail with
   * WORKER_LOST when the worker dies before it has answered (the outcome is unknown), and at once with UNAVAILABLE
   * while there is no worker: it is being restarted, was given up or closed. Nothing waits for a restart, because
   * how long that takes isn't known, and callers have their own way to say "later".
   */
  readonly api: T;
  stats(): { readonly pending: number; readonly inFlightBytes: number; readonly restarts: number };
  /** Refuses new calls, waits for the pending ones, then ends the thread. */
  close(): Promise<void>;
}

/**
 * Starts a worker thread and keeps it running. Resolves when the worker has called `expose`; rejects with the
 * worker's own error if it dies before. If it dies later it is started again in the same way, by the same URL and
 * with the same data, so that recovery is no other path than a cold start.
 */
export async function supervise<T extends object>(options: SuperviseOptions<T>): Promise<Supervised<T>> {
  const supervisor = new Supervisor(options);
  await supervisor.start();
  return supervisor;
}

class Supervisor<T extends object> implements Supervised<T> {
  readonly api: T;
  readonly #options: SuperviseOptions<T>;
  readonly #clock: () => number;
  #worker: Worker | undefined;
  /** Open while the worker is ready. */
  #line: Line | undefined;
  #restarts = 0;
  #lastDeath = Number.NEGATIVE_INFINITY;
  /** Why there is no worker to call. */
  #absence = 'is starting';
  /** The restart under way. */
  #restarting: Promise<void> | undefined;
  #closing: Promise<void> | undefined;

  constructor(options: SuperviseOptions<T>) {
    this.#options = options;
    this.#clock = options.clock ?? (() => performance.now());
    this.api = callerApi(options.list, (method, args, signal) => {
      const line = this.#line;
      if (line !== undefined && this.#closing === undefined) return line.call(method, args, signal);
      return Promise.reject(new ServiceError('UNAVAILABLE', `${options.name} ${this.#absence}`));
    });
  }

  /** Resolves when the worker is ready, rejects with what it died of before. */
  start(): Promise<void> {
    const { name, url, workerData } = this.#options;
    const worker = new Worker(url, { name, workerData, resourceLimits: resourceLimits(this.#options) });
    const line = openLine(worker, this.#options);
    this.#worker = worker;
    return new Promise((resolve, reject) => {
      let failure: Error | undefined;
      worker.once('message', (message: FromWorker) => {
        if (message.kind !== 'ready') return;
        this.#line = line;
        resolve();
      });
      worker.on('error', (error) => {
        failure = fromUncaught(error);
      });
      // A reply that can't be read leaves its call without an answer: as good as a lost worker.
      worker.on('messageerror', (error) => {
        failure = error;
        void worker.terminate();
      });
      worker.on('exit', (code) => {
        const error = failure ?? new Error(`${name} exited with code ${code}`);
        const wasReady = this.#line === line;
        this.#worker = undefined;
        this.#line = undefined;
        line.close(new ServiceError('WORKER_LOST', `${name} died: ${error.message}`));
        if (wasReady) this.#died(error);
        else reject(error);
      });
    });
  }

  #died(error: Error): void {
    if (this.#closing !== undefined) return;
    const now = this.#clock();
    const again = now - this.#lastDeath < GIVE_UP_WITHIN_MS;
    this.#lastDeath = now;
    if (again) {
      this.#absence = 'died twice within a minute';
      this.#options.onGiveUp(error);
      return;
    }
    this.#absence = 'is restarting';
    this.#restarts++;
    this.#options.onRestart?.(error);
    this.#restarting = this.start().catch((failure: Error) => this.#died(failure));
  }

  stats(): { pending: number; inFlightBytes: number; restarts: number } {
    return {
      pending: this.#line?.pending ?? 0,
      inFlightBytes: this.#line?.inFlightBytes ?? 0,
      restarts: this.#restarts,
    };
  }

  close(): Promise<void> {
    this.#absence = 'is closed';
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    // Node 22 aborts the process when a thread is ended in the midst of loading its modules.
    await this.#restarting;
    await this.#line?.idle();
    await this.#worker?.terminate();
  }
}
