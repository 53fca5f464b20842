/** Limits the number of concurrent slot holders. Waiting callers get slots in the order of their calls. */
export class ConcurrencyLimit {
  #free: number;
  readonly #waiting = new Set<() => void>();

  constructor(count: number) {
    this.#free = count;
  }

  /** Number of callers that wait for a slot. */
  get waiting(): number {
    return this.#waiting.size;
  }

  /**
   * Takes a slot. Resolves to true when the caller has the slot, which it must free with `end`; resolves to
   * false if `signal` was aborted before the caller got a slot.
   */
  take(signal: AbortSignal): Promise<boolean> {
    if (signal.aborted) return Promise.resolve(false);
    if (this.#free > 0) {
      this.#free--;
      return Promise.resolve(true);
    }
    return new Promise((resolve) => {
      const begin = () => {
        signal.removeEventListener('abort', giveUp);
        resolve(true);
      };
      const giveUp = () => {
        if (this.#waiting.delete(begin)) resolve(false);
      };
      this.#waiting.add(begin);
      signal.addEventListener('abort', giveUp, { once: true });
    });
  }

  /**
   * Frees the slot. The next holder starts in a later iteration of the event loop, so that many short tasks do not
   * block other work.
   */
  end(): void {
    setImmediate(() => {
      const [next] = this.#waiting;
      if (next === undefined) {
        this.#free++;
        return;
      }
      this.#waiting.delete(next);
      next();
    });
  }
}
