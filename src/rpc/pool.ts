/*
 *  run ──▶ own queue (at most maxQueue) ──▶ Piscina, at most one task a thread ──▶ task of `exposeTasks`
 *                                                 Job {task, input, cells, slot}, buffers moved ──▶
 *                                                 ◀── TaskOutcome {value} or {fault}, buffers moved
 *
 * The pool has its own queue, because Piscina's queue does not count tasks with a signal, and because Piscina
 * ends the thread of an aborted task and must then start another thread. The caller of an aborted task gets
 * an error immediately. The task itself ends when it checks its cancel cell (`taskCancelled`), has finished,
 * or has run for `maxTaskMs`; in the last case, the thread is ended, and LMDB releases the thread's read
 * snapshot.
 */
import type { Worker } from 'node:worker_threads';
import { move, Piscina, transferableSymbol, valueSymbol } from 'piscina';
import { ServiceError } from '../errors.ts';
import { fromFault, fromUncaught, toFault } from './fault.ts';
import { type HeapLimits, resourceLimits } from './heap.ts';
import { pack } from './transfer.ts';
import type { Fault } from './wire.ts';

interface Job {
  readonly task: string;
  readonly input: unknown;
  /** Int32 cells, one for each thread's task. A cell is not zero after the caller has cancelled the task. */
  readonly cells: SharedArrayBuffer;
  readonly slot: number;
}

type TaskOutcome = { readonly value: unknown } | { readonly fault: Fault };

/** Functions of one argument, by name. */
export type TaskTable<Tasks> = { [K in keyof Tasks]: (input: never) => unknown };

export interface PoolOptions extends HeapLimits {
  /** URL of a module whose default export is `exposeTasks(…)`. */
  readonly url: URL;
  /** Name of the pool in messages. */
  readonly name: string;
  readonly threads: number;
  /** Maximum tasks waiting for a thread; beyond it `run` fails with OVERLOADED. */
  readonly maxQueue: number;
  readonly workerData?: unknown;
  /**
   * Time limit of a task in milliseconds. When it is exceeded, the thread is ended and replaced, and the task
   * fails with WORKER_LOST.
   */
  readonly maxTaskMs?: number;
  /**
   * If given, the threads start with the first task, and end after this many milliseconds without a task; the next task
   * then starts threads again. Default: the threads start with the pool, and end with it.
   */
  readonly idleMs?: number;
  /**
   * Called when a thread died with `error`. The thread is replaced; if it ran a task, the task has failed
   * with WORKER_LOST.
   */
  onWorkerLost?(error: Error): void;
}

export interface RunOptions {
  readonly signal?: AbortSignal;
  /** The caller for whom the task runs: see `fairQueue`. */
  readonly caller?: string;
  /** Buffers that are moved although `pack` does not find them. */
  readonly transfer?: readonly ArrayBuffer[];
}

/**
 * Threads that run stateless tasks, started in the order of `run`. Each thread runs one task at a time.
 *
 * Ownership: buffers of the input (found as in `pack`) belong to the pool after `run` and are moved when a
 * thread takes the task. A task that fails with OVERLOADED leaves its buffers to the caller. Buffers of the result
 * are moved back. `run` throws OVERLOADED when the queue is full; CANCELLED as soon as the signal is aborted;
 * WORKER_LOST for the task of a thread that died; UNAVAILABLE once closed; and the task's own ServiceErrors.
 * Any other error is a bug of the task.
 */
export interface Pool<Tasks> {
  run<K extends keyof Tasks & string>(
    task: K,
    input: Tasks[K] extends (input: infer I) => unknown ? I : never,
    options?: RunOptions,
  ): Promise<Tasks[K] extends (input: never) => infer R ? Awaited<R> : never>;
  stats(): PoolStats;
  /** Rejects new tasks, finishes accepted tasks, and ends the threads. */
  close(): Promise<void>;
}

export interface PoolStats {
  readonly queued: number;
  readonly running: number;
  /** Number of tasks that ended, with or without error, since the start. */
  readonly completed: number;
}

export function createPool<Tasks extends TaskTable<Tasks>>(options: PoolOptions): Pool<Tasks> {
  return new BoundedPool(options) as Pool<Tasks>;
}

interface Waiting {
  readonly task: string;
  readonly input: unknown;
  readonly transfer: readonly ArrayBuffer[];
  /** Index of the task's cancel cell; undefined until a thread runs the task. */
  slot: number | undefined;
  settle(error: Error | undefined, value?: unknown): void;
}

class BoundedPool {
  readonly #options: PoolOptions;
  readonly #cells: Int32Array<SharedArrayBuffer>;
  readonly #freeSlots: number[];
  readonly #waiting = new Set<Waiting>();
  #running = 0;
  #completed = 0;
  /**
   * The threads; undefined while a pool with `idleMs` has none, and after all of them failed to start. The next task
   * starts threads again.
   */
  #piscina: Piscina<Job, TaskOutcome> | undefined;
  #idleTimer: NodeJS.Timeout | undefined;
  /** Resolves when idle threads have ended. */
  #ending: Promise<void> | undefined;
  /** A promise for each thread that resolves when the thread has loaded its modules or ended. */
  readonly #loaded = new WeakMap<Worker, Promise<unknown>>();
  #closing: Promise<void> | undefined;
  #whenIdle: (() => void) | undefined;

  constructor(options: PoolOptions) {
    this.#options = options;
    this.#cells = new Int32Array(new SharedArrayBuffer(options.threads * Int32Array.BYTES_PER_ELEMENT));
    this.#freeSlots = Array.from({ length: options.threads }, (_, slot) => slot);
    if (options.idleMs === undefined) this.#piscina = this.#start();
  }

  #start(): Piscina<Job, TaskOutcome> {
    const { url, threads, workerData, onWorkerLost } = this.#options;
    const piscina: Piscina<Job, TaskOutcome> = new Piscina({
      filename: url.href,
      minThreads: threads,
      maxThreads: threads,
      maxQueue: threads,
      workerData,
      resourceLimits: resourceLimits(this.#options),
      recordTiming: false,
      // Idle threads must return to their event loop: threads that wait in Atomics.wait run no timers. lmdb-js
      // renews its read snapshots by timers, so such threads would read old data and keep its pages from being
      // reused.
      atomics: 'disabled',
    });
    piscina.on('error', (error) => onWorkerLost?.(fromUncaught(error)));
    // Piscina does not replace a thread that died while starting. Without any thread, the pool's tasks would
    // wait forever.
    piscina.on('workerDestroy', () => {
      queueMicrotask(() => {
        this.#watchLoading(piscina);
        if (piscina.threads.length > 0 || this.#piscina !== piscina) return;
        this.#piscina = undefined;
        void piscina.destroy();
      });
    });
    this.#watchLoading(piscina);
    return piscina;
  }

  /**
   * Watches for the first message of each new thread, which Piscina sends after the thread's module has
   * loaded.
   */
  #watchLoading({ threads }: Piscina<Job, TaskOutcome>): void {
    for (const thread of threads) {
      if (this.#loaded.has(thread)) continue;
      const loaded = new Promise((resolve) => thread.once('message', resolve).once('exit', resolve));
      this.#loaded.set(thread, loaded);
    }
  }

  run(task: string, input: unknown, { signal, transfer = [] }: RunOptions = {}): Promise<unknown> {
    const { name, maxQueue } = this.#options;
    return new Promise((resolve, reject) => {
      if (this.#closing !== undefined) return reject(new ServiceError('UNAVAILABLE', `${name} is closed`));
      if (signal?.aborted) return reject(cancelled(name, task));
      if (this.#freeSlots.length === 0 && this.#waiting.size >= maxQueue) {
        return reject(new ServiceError('OVERLOADED', `${name}.${task}: ${maxQueue} tasks are already waiting`));
      }
      const onAbort = (): void => {
        reject(cancelled(name, task));
        if (job.slot !== undefined) Atomics.store(this.#cells, job.slot, 1);
        else if (this.#waiting.delete(job)) this.#ended(job, undefined);
      };
      const job: Waiting = {
        task,
        input,
        transfer,
        slot: undefined,
        settle(error, value) {
          signal?.removeEventListener('abort', onAbort);
          if (error === undefined) resolve(value);
          else reject(error);
        },
      };
      signal?.addEventListener('abort', onAbort, { once: true });
      this.#waiting.add(job);
      this.#dispatch();
    });
  }

  #dispatch(): void {
    for (const job of this.#waiting) {
      const slot = this.#freeSlots.pop();
      if (slot === undefined) return;
      this.#waiting.delete(job);
      job.slot = slot;
      void this.#hand(job, slot);
    }
  }

  async #hand(job: Waiting, slot: number): Promise<void> {
    this.#running++;
    Atomics.store(this.#cells, slot, 0);
    let error: Error | undefined;
    let value: unknown;
    const { maxTaskMs } = this.#options;
    try {
      const { value: input, transfer } = pack(job.input);
      this.#piscina ??= this.#start();
      const piscina = this.#piscina;
      if (maxTaskMs !== undefined) await this.#whenLoaded(piscina);
      const outcome = await piscina.run(
        { task: job.task, input, cells: this.#cells.buffer, slot },
        {
          transferList: [...new Set([...transfer, ...job.transfer])],
          ...(maxTaskMs === undefined ? {} : { signal: AbortSignal.timeout(maxTaskMs) }),
        },
      );
      if ('fault' in outcome) error = fromFault(outcome.fault);
      else value = outcome.value;
    } catch (thrown) {
      error = this.#lost(job, fromUncaught(thrown));
    }
    this.#running--;
    this.#freeSlots.push(slot);
    this.#ended(job, error, value);
    this.#dispatch();
  }

  /**
   * Converts an error that Piscina threw, and reports a lost thread. Errors of tasks arrive as outcomes, so a
   * thrown error means that the input cannot be cloned, or that the thread ended.
   */
  #lost(job: Waiting, error: Error): Error {
    if (error.name === 'DataCloneError') return error;
    this.#options.onWorkerLost?.(error);
    return new ServiceError('WORKER_LOST', `${this.#options.name}.${job.task}: the thread died: ${error.message}`);
  }

  #ended(job: Waiting, error: Error | undefined, value?: unknown): void {
    this.#completed++;
    job.settle(error, value);
    if (!this.#isIdle) return;
    this.#whenIdle?.();
    const { idleMs } = this.#options;
    if (idleMs === undefined) return;
    clearTimeout(this.#idleTimer);
    this.#idleTimer = setTimeout(() => {
      if (this.#isIdle) this.#ending = this.#endThreads();
    }, idleMs).unref();
  }

  get #isIdle(): boolean {
    return this.#running === 0 && this.#waiting.size === 0;
  }

  async #endThreads(): Promise<void> {
    const piscina = this.#piscina;
    this.#piscina = undefined;
    if (piscina === undefined) return;
    await this.#whenLoaded(piscina);
    await piscina.destroy();
  }

  stats(): PoolStats {
    return { queued: this.#waiting.size, running: this.#running, completed: this.#completed };
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    if (!this.#isIdle) {
      await new Promise<void>((resolve) => {
        this.#whenIdle = resolve;
      });
    }
    clearTimeout(this.#idleTimer);
    await this.#ending;
    await this.#endThreads();
  }

  /**
   * Waits until all threads have loaded their modules, because Node 22 aborts the process when a thread is
   * ended while it loads them.
   */
  #whenLoaded(piscina: Piscina<Job, TaskOutcome>): Promise<unknown> {
    this.#watchLoading(piscina);
    return Promise.all(piscina.threads.map((thread) => this.#loaded.get(thread)));
  }
}

function cancelled(name: string, task: string): ServiceError {
  return new ServiceError('CANCELLED', `${name}.${task}: cancelled by the caller`);
}

/** The task that this thread runs; a thread runs one task at a time. */
let current: Pick<Job, 'cells' | 'slot'> | undefined;

/** Returns whether the caller of the running task has cancelled. Long tasks must check this periodically. */
export function taskCancelled(): boolean {
  return current !== undefined && Atomics.load(new Int32Array(current.cells), current.slot) !== 0;
}

/**
 * Creates the default export of a pool's worker: `export default exposeTasks({ ingest, … })`. A task owns its
 * input. The buffers of its result are moved (as in `pack`), so the task must not use them again. A result
 * that cannot be cloned (for example with a function) ends the thread, because Piscina posts it outside of
 * this function.
 */
export function exposeTasks<Tasks extends TaskTable<Tasks>>(tasks: Tasks): (job: Job) => Promise<unknown> {
  const table = new Map(Object.entries(tasks) as [string, (input: unknown) => unknown][]);
  return async (job) => {
    current = job;
    try {
      const run = table.get(job.task);
      if (run === undefined) throw new Error(`there is no exposed task ${job.task}`);
      const { value, transfer } = pack(await run(job.input));
      return moved({ value }, transfer);
    } catch (error) {
      return { fault: toFault(error) } satisfies TaskOutcome;
    } finally {
      current = undefined;
    }
  };
}

function moved(outcome: TaskOutcome, transfer: ArrayBuffer[]): unknown {
  return move({ [transferableSymbol]: transfer, [valueSymbol]: outcome });
}
