import { setTimeout as delay } from 'node:timers/promises';
import { ServiceError } from './errors.ts';
import { limits } from './limits.ts';

/**
 * Work on files of a volume that may stop answering, such as one on a network: one at a time, each with a deadline. A call
 * of the operating system cannot be taken back. Its thread stays occupied until it returns, and Node has four of them
 * for files, compression and passwords: a volume that hangs occupies one.
 */
export class VolumeTurns {
  readonly #name: string;
  readonly #deadlineMs: number;
  #last: Promise<unknown> = Promise.resolve();

  /** @param name - what messages call the volume */
  constructor(name: string, deadlineMs: number = limits.volumeAnswerMs) {
    this.#name = name;
    this.#deadlineMs = deadlineMs;
  }

  /** @throws UNAVAILABLE where this work, or that before it, takes too long; work that has not begun is dropped then. */
  run<T>(work: () => Promise<T>): Promise<T> {
    let isLate = false;
    const turn = this.#last.then(() => {
      if (isLate) throw this.#late();
      return work();
    });
    this.#last = turn.catch(() => undefined);
    return before(this.#deadlineMs, turn, () => {
      isLate = true;
      return this.#late();
    });
  }

  #late(): ServiceError {
    const message = `${this.#name} has not answered for ${this.#deadlineMs / 1000} s; repair its volume`;
    return new ServiceError('UNAVAILABLE', message, { reason: 'volume_hangs' });
  }
}

/** The result of `work`, or the error of `late` if it takes longer: the work continues. */
export async function before<T>(ms: number, work: Promise<T>, late: () => Error): Promise<T> {
  const stop = new AbortController();
  const timer = delay(ms, undefined, { signal: stop.signal }).then(
    () => Promise.reject(late()),
    () => new Promise<never>(() => undefined),
  );
  try {
    return await Promise.race([work, timer]);
  } finally {
    stop.abort();
  }
}
