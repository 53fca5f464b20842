import { setTimeout as delay } from 'node:timers/promises';
import { ServiceError } from '../errors.ts';
import { limits } from '../limits.ts';
import { SerialQueue } from './serial-queue.ts';

/**
 * Runs work on files of a volume that may stop responding, such as a network volume: one task at a time, each with a
 * deadline. A system call cannot be cancelled, and occupies its thread until it returns. Node has four threads for
 * files, compression and passwords; because tasks run one at a time, a volume that hangs occupies only one thread.
 */
export class VolumeQueue {
  readonly #name: string;
  readonly #deadlineMs: number;
  readonly #queue = new SerialQueue();

  /** @param name - the name of the volume in messages */
  constructor(name: string, deadlineMs: number = limits.volumeAnswerMs) {
    this.#name = name;
    this.#deadlineMs = deadlineMs;
  }

  /**
   * Runs a task after all earlier tasks. Throws UNAVAILABLE if this task, or a task before it, takes too
   * long; a task that has not begun is then dropped.
   */
  run<T>(work: () => Promise<T>): Promise<T> {
    let isLate = false;
    const turn = this.#queue.run(() => {
      if (isLate) throw this.#late();
      return work();
    });
    const late = () => {
      isLate = true;
      return this.#late();
    };
    return before(this.#deadlineMs, turn, late, steps);
  }

  #late(): ServiceError {
    const message = `${this.#name} has not answered for ${this.#deadlineMs / 1000} s; repair its volume`;
    return new ServiceError('UNAVAILABLE', message, { reason: 'volume_hangs' });
  }
}

/** Number of timers into which a deadline of the volume is split. */
const steps = 50;

/**
 * Returns the result of `work`, or throws the error of `late` after `ms` milliseconds. The work itself then continues.
 *
 * @param parts - number of timers into which the time is split. At most one timer ends in each turn of the event loop,
 * so time while the thread is busy hardly counts.
 */
export async function before<T>(ms: number, work: Promise<T>, late: () => Error, parts = 1): Promise<T> {
  const stop = new AbortController();
  const { signal } = stop;
  const deadline = async (): Promise<never> => {
    for (let part = 0; part < parts; part++) await delay(ms / parts, undefined, { signal });
    throw late();
  };
  const timer = deadline().catch((error: unknown) => {
    if (!signal.aborted) throw error;
    return new Promise<never>(() => undefined);
  });
  try {
    return await Promise.race([work, timer]);
  } finally {
    stop.abort();
  }
}
