/** Runs work one after another, in the order of the calls. A failure does not stop later work. */
export class SerialQueue {
  #last: Promise<unknown> = Promise.resolve();

  run<T>(work: () => T | Promise<T>): Promise<T> {
    const run = this.#last.then(work);
    this.#last = run.catch(() => undefined);
    return run;
  }

  /** Resolves when the work so far is done. */
  async idle(): Promise<void> {
    await this.#last;
  }
}
