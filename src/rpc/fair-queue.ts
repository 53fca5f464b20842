/*
 *              ┌─ short ────────────────────────────────────────────▶ pool
 *  run ──▶ caller's share
 *              └─ long ──▶ waiting, a queue for each caller, in turns ──▶ pool, all threads but one at most
 */
import { ServiceError } from '../errors.ts';
import type { Pool, PoolStats, RunOptions, TaskTable } from './pool.ts';

export interface FairQueueOptions {
  /** Number of threads in the pool. */
  readonly threads: number;
  /** Maximum waiting long tasks; beyond it `run` fails with OVERLOADED. */
  readonly maxQueue: number;
  /** Maximum running or waiting tasks of one caller; beyond it `run` fails with RATE_LIMITED. */
  readonly maxOfCaller: number;
  /**
   * Maximum share of elapsed time for which each slot for long tasks is used; after each task, the slot pauses.
   * Default: 1.
   */
  readonly longShare?: number;
  /** Returns whether a task is known to be short. All other tasks may be long. */
  isShort(task: string, input: unknown): boolean;
}

/**
 * Wraps a pool so that long tasks leave a thread to short tasks (if the pool has more than one thread), and
 * callers share the pool fairly. The next long task is taken from the caller that has waited longest since its
 * last task. Short tasks of one caller start in the order of `run`, and so do its long tasks. Long tasks may be
 * limited to a share of the time.
 *
 * Throws the errors of the pool, and RATE_LIMITED for a caller with too many unfinished tasks. Tasks without
 * a caller belong to the service: they are not counted, and share one queue.
 */
export function fairQueue<Tasks extends TaskTable<Tasks>>(pool: Pool<Tasks>, options: FairQueueOptions): Pool<Tasks> {
  return new FairQueue(pool as AnyPool, options) as Pool<Tasks>;
}

/** A pool of any tasks. */
interface AnyPool extends Pick<Pool<never>, 'stats' | 'close'> {
  run(task: string, input: unknown, options: RunOptions): Promise<unknown>;
}

interface Waiting {
  /** Starts the task in the pool; resolves when it has ended, with or without error. */
  begin(): Promise<void>;
}

class FairQueue {
  readonly #pool: AnyPool;
  readonly #options: FairQueueOptions;
  readonly #maxLong: number;
  /** Number of unfinished tasks by caller; callers without tasks are absent. */
  readonly #unfinished = new Map<string, number>();
  /**
   * Waiting long tasks by caller; the next task is taken from the first caller. There are no empty queues.
   */
  readonly #queues = new Map<string, Set<Waiting>>();
  #waiting = 0;
  /** Number of running long tasks, plus slots that pause after a long task. */
  #longRunning = 0;
  /** Functions that end a slot's pause. */
  readonly #rests = new Set<() => void>();
  #closing: Promise<void> | undefined;
  #whenDrained: (() => void) | undefined;

  constructor(pool: AnyPool, options: FairQueueOptions) {
    this.#pool = pool;
    this.#options = options;
    this.#maxLong = Math.max(1, options.threads - 1);
  }

  async run(task: string, input: unknown, options: RunOptions = {}): Promise<unknown> {
    if (this.#closing !== undefined) throw new ServiceError('UNAVAILABLE', `${task}: the pool is closed`);
    const { caller } = options;
    const end = caller === undefined ? () => undefined : this.#count(caller);
    try {
      return this.#options.isShort(task, input)
        ? await this.#pool.run(task, input, options)
        : await this.#runLong(task, input, options);
    } finally {
      end();
    }
  }

  #count(caller: string): () => void {
    const own = this.#unfinished.get(caller) ?? 0;
    if (own >= this.#options.maxOfCaller)
      throw new ServiceError('RATE_LIMITED', `this principal already has ${own} queries in progress`, {
        retry_after_s: 1,
      });
    this.#unfinished.set(caller, own + 1);
    return () => {
      const left = this.#unfinished.get(caller)! - 1;
      if (left === 0) this.#unfinished.delete(caller);
      else this.#unfinished.set(caller, left);
    };
  }

  #runLong(task: string, input: unknown, options: RunOptions): Promise<unknown> {
    const { signal, caller = '' } = options;
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(cancelled(task));
      if (this.#longRunning >= this.#maxLong && this.#waiting >= this.#options.maxQueue)
        return reject(new ServiceError('OVERLOADED', `${task}: ${this.#waiting} long queries are already waiting`));
      const cancel = (): void => {
        this.#leave(caller, waiting);
        reject(cancelled(task));
      };
      const waiting: Waiting = {
        begin: () => {
          signal?.removeEventListener('abort', cancel);
          return this.#pool.run(task, input, options).then(resolve, reject);
        },
      };
      signal?.addEventListener('abort', cancel, { once: true });
      const line = this.#queues.get(caller);
      if (line === undefined) this.#queues.set(caller, new Set([waiting]));
      else line.add(waiting);
      this.#waiting++;
      this.#next();
    });
  }

  #next(): void {
    while (this.#longRunning < this.#maxLong) {
      const [turn] = this.#queues;
      if (turn === undefined) break;
      const [caller, line] = turn;
      const [waiting] = line;
      this.#leave(caller, waiting!);
      // The caller moves to the end, so that callers take turns.
      if (this.#queues.delete(caller)) this.#queues.set(caller, line);
      this.#longRunning++;
      const beganAt = performance.now();
      void waiting!.begin().finally(() => this.#rest(performance.now() - beganAt));
    }
    if (this.#longRunning === 0 && this.#waiting === 0) this.#whenDrained?.();
  }

  /** Frees the slot of a long task, after a pause in proportion to the duration of the task. */
  #rest(durationMs: number): void {
    const restMs = durationMs * (1 / (this.#options.longShare ?? 1) - 1);
    const end = () => {
      clearTimeout(timer);
      this.#rests.delete(end);
      this.#longRunning--;
      this.#next();
    };
    const timer = restMs === 0 ? undefined : setTimeout(end, restMs);
    this.#rests.add(end);
    if (timer === undefined || this.#closing !== undefined) end();
  }

  #leave(caller: string, waiting: Waiting): void {
    const line = this.#queues.get(caller);
    if (!line?.delete(waiting)) return;
    this.#waiting--;
    if (line.size === 0) this.#queues.delete(caller);
  }

  stats(): PoolStats {
    const { queued, running, completed } = this.#pool.stats();
    return { queued: queued + this.#waiting, running, completed };
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    for (const end of [...this.#rests]) end();
    if (this.#longRunning > 0 || this.#waiting > 0)
      await new Promise<void>((resolve) => {
        this.#whenDrained = resolve;
      });
    await this.#pool.close();
  }
}

const cancelled = (task: string): ServiceError => new ServiceError('CANCELLED', `${task}: cancelled by the caller`);
