import { Worker } from 'node:worker_threads';
import { ServiceError } from '../errors.ts';
import { type ConnectOptions, callerApi, type Line, openLine } from './connect.ts';
import { fromUncaught } from './fault.ts';
import { type HeapLimits, resourceLimits } from './heap.ts';
import type { MethodList } from './methods.ts';
import type { FromWorker } from './wire.ts';

/** A worker that dies twice within this time is not restarted again. */
const GIVE_UP_WITHIN_MS = 60_000;

export interface SuperviseOptions<T> extends HeapLimits, Pick<ConnectOptions, 'onNotice'> {
  /** Name of the worker in messages, and of its thread in the operating system. */
  readonly name: string;
  readonly url: URL;
  readonly list: MethodList<T>;
  /** Data that is cloned into the worker at each start, so it must not contain transferred buffers. */
  readonly workerData: unknown;
  readonly maxInFlightBytes?: number;
  /** Returns whether `error` is final: the worker is then not restarted. Default: no error is final. */
  isFinal?(error: Error): boolean;
  /**
   * Called when the worker died with a final error, or twice within a minute (a failed restart counts). All
   * later calls fail.
   */
  onGiveUp(error: Error): void;
  /** Called when the worker died with `error` and is being restarted. */
  onRestart?(error: Error): void;
  /** Returns monotonic milliseconds. */
  readonly clock?: () => number;
}

export interface Supervised<T> {
  /**
   * The worker's interface, the same object across restarts. In addition to the errors of `connect`, calls
   * fail with WORKER_LOST when the worker dies before it has replied; the outcome is then unknown. Calls fail
   * immediately with UNAVAILABLE while the worker is restarting, has failed permanently, or was closed. Calls
   * do not wait for a restart, because its duration is unknown, and callers retry in different ways.
   */
  readonly api: T;
  stats(): { readonly pending: number; readonly inFlightBytes: number; readonly restarts: number };
  /** Rejects new calls, waits for pending calls, then ends the thread. */
  close(): Promise<void>;
}

/**
 * Starts a worker thread and keeps it running. Resolves when the worker has called `expose`; rejects with the
 * worker's own error if it dies before that. A worker that dies later is restarted with the same URL and
 * data, so that recovery takes the same path as a cold start.
 */
export async function supervise<T extends object>(options: SuperviseOptions<T>): Promise<Supervised<T>> {
  const supervisor = new Supervisor(options);
  await supervisor.start();
  return supervisor;
}

/**
 * Like `supervise`, but starts the worker with the first call, which waits for the start. If the start fails, the
 * waiting calls fail with the worker's error, and the next call starts the worker again.
 */
export function superviseOnDemand<T extends object>(options: SuperviseOptions<T>): Supervised<T> {
  let starting: Promise<Supervised<T>> | undefined;
  let started: Supervised<T> | undefined;
  let isClosed = false;
  const start = async (): Promise<Supervised<T>> => {
    try {
      started = await supervise(options);
      return started;
    } catch (error) {
      starting = undefined;
      throw error;
    }
  };
  return {
    api: callerApi(options.list, async (method, args) => {
      if (isClosed) throw new ServiceError('UNAVAILABLE', `${options.name} is closed`);
      starting ??= start();
      const { api } = await starting;
      return (api as Record<string, (...args: readonly unknown[]) => Promise<unknown>>)[method]!(...args);
    }),
    stats: () => started?.stats() ?? { pending: 0, inFlightBytes: 0, restarts: 0 },
    async close() {
      isClosed = true;
      await starting?.catch(() => undefined);
      await started?.close();
    },
  };
}

class Supervisor<T extends object> implements Supervised<T> {
  readonly api: T;
  readonly #options: SuperviseOptions<T>;
  readonly #clock: () => number;
  #worker: Worker | undefined;
  /** The connection to the worker, while the worker is ready. */
  #line: Line | undefined;
  #restarts = 0;
  #lastDeath = Number.NEGATIVE_INFINITY;
  /** The reason why no worker can be called. */
  #absence = 'is starting';
  /** The latest restart; resolves when the restart has succeeded or failed. */
  #restarting: Promise<void> | undefined;
  #closing: Promise<void> | undefined;

  constructor(options: SuperviseOptions<T>) {
    this.#options = options;
    this.#clock = options.clock ?? (() => performance.now());
    this.api = callerApi(options.list, (method, args) => {
      const line = this.#line;
      if (line !== undefined && this.#closing === undefined) return line.call(method, args);
      return Promise.reject(new ServiceError('UNAVAILABLE', `${options.name} ${this.#absence}`));
    });
  }

  /** Starts the worker. Resolves when it is ready; rejects with the worker's error if it died before that. */
  start(): Promise<void> {
    const { name, url, workerData } = this.#options;
    const worker = new Worker(url, { name, workerData, resourceLimits: resourceLimits(this.#options) });
    const line = openLine(worker, this.#options);
    this.#worker = worker;
    return new Promise((resolve, reject) => {
      let failure: Error | undefined;
      worker.on('message', (message: FromWorker) => {
        if (message.kind !== 'ready') return;
        this.#line = line;
        resolve();
      });
      worker.on('error', (error) => {
        failure = fromUncaught(error);
      });
      // A call whose reply is unreadable would wait forever, so the worker is treated as lost.
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
    const isFinal = this.#options.isFinal?.(error) ?? false;
    if (again || isFinal) {
      this.#absence = isFinal ? `died: ${error.message}` : 'died twice within a minute';
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
    // Node 22 aborts the process when a thread is ended while it loads its modules.
    await this.#restarting;
    await this.#line?.idle();
    await this.#worker?.terminate();
  }
}
