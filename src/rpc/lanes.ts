/*
 *              ┌─ short ────────────────────────────────────────────▶ pool
 *  run ──▶ caller's share
 *              └─ long ──▶ waiting, a line for each caller, in turns ──▶ pool, all threads but one at most
 */
import { ServiceError } from '../errors.ts';
import type { Pool, PoolStats, RunOptions, TaskTable } from './pool.ts';

export interface LaneOptions {
  /** Of the pool. */
  readonly threads: number;
  /** Long tasks that wait; past it `run` fails with OVERLOADED. */
  readonly maxQueue: number;
  /** Tasks of one caller that run or wait; past it `run` fails with RATE_LIMITED. */
  readonly maxOfCaller: number;
  /** Tasks that are known to be short. Whatever else there is may be long. */
  isShort(task: string, input: unknown): boolean;
}

/**
 * A pool of which long tasks leave one thread to the short ones, where it has more than one, and in which no caller
 * keeps the others waiting: the next long task is of whoever waits without having had a turn for longest. Of one
 * caller, and within each lane, tasks begin in the order of `run`.
 *
 * Errors: those of the pool; RATE_LIMITED for a caller who has as many tasks under way as one may. Tasks without a
 * caller are this service's own: they are not counted, and are as one caller where they wait.
 */
export function inLanes<Tasks extends TaskTable<Tasks>>(
  pool: Pool<Tasks>,
  options: LaneOptions,
): Pool<Tasks> {
  return new Lanes(pool as AnyPool, options) as Pool<Tasks>;
}

/** The pool, whatever its tasks are. */
interface AnyPool extends Pick<Pool<never>, 'stats' | 'close'> {
  run(task: string, input: unknown, options: RunOptions): Promise<unknown>;
}

interface Waiting {
  /** Hands it to the pool; resolves when it has ended in any way. */
  begin(): Promise<void>;
}

class Lanes {
  readonly #pool: AnyPool;
  readonly #options: LaneOptions;
  readonly #maxLong: number;
  /** Tasks under way, by caller; callers without any are not there. */
  readonly #underWay = new Map<string, number>();
  /** Long tasks that wait, by caller; the first caller is the next. No line is empty. */
  readonly #lines = new Map<string, Set<Waiting>>();
  #waiting = 0;
  #longRunning = 0;
  #closing: Promise<void> | undefined;
  #whenDrained: (() => void) | undefined;

  constructor(pool: AnyPool, options: LaneOptions) {
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
    const own = this.#underWay.get(caller) ?? 0;
    if (own >= this.#options.maxOfCaller)
      throw new ServiceError('RATE_LIMITED', `${own} queries of this principal are under way already`, {
        retry_after_s: 1,
      });
    this.#underWay.set(caller, own + 1);
    return () => {
      const left = this.#underWay.get(caller)! - 1;
      if (left === 0) this.#underWay.delete(caller);
      else this.#underWay.set(caller, left);
    };
  }

  #runLong(task: string, input: unknown, options: RunOptions): Promise<unknown> {
    const { signal, caller = '' } = options;
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(givenUp(task));
      if (this.#longRunning >= this.#maxLong && this.#waiting >= this.#options.maxQueue)
        return reject(new ServiceError('OVERLOADED', `${task}: ${this.#waiting} long queries wait already`));
      const giveUp = (): void => {
        this.#leave(caller, waiting);
        reject(givenUp(task));
      };
      const waiting: Waiting = {
        begin: () => {
          signal?.removeEventListener('abort', giveUp);
          return this.#pool.run(task, input, options).then(resolve, reject);
        },
      };
      signal?.addEventListener('abort', giveUp, { once: true });
      const line = this.#lines.get(caller);
      if (line === undefined) this.#lines.set(caller, new Set([waiting]));
      else line.add(waiting);
      this.#waiting++;
      this.#next();
    });
  }

  #next(): void {
    while (this.#longRunning < this.#maxLong) {
      const [turn] = this.#lines;
      if (turn === undefined) break;
      const [caller, line] = turn;
      const [waiting] = line;
      this.#leave(caller, waiting!);
      // Behind all others that wait.
      if (this.#lines.delete(caller)) this.#lines.set(caller, line);
      this.#longRunning++;
      void waiting!.begin().finally(() => {
        this.#longRunning--;
        this.#next();
      });
    }
    if (this.#longRunning === 0 && this.#waiting === 0) this.#whenDrained?.();
  }

  #leave(caller: string, waiting: Waiting): void {
    const line = this.#lines.get(caller);
    if (!line?.delete(waiting)) return;
    this.#waiting--;
    if (line.size === 0) this.#lines.delete(caller);
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
    if (this.#longRunning > 0 || this.#waiting > 0)
      await new Promise<void>((resolve) => {
        this.#whenDrained = resolve;
      });
    await this.#pool.close();
  }
}

const givenUp = (task: string): ServiceError => new ServiceError('CANCELLED', `${task}: the caller gave up`);
