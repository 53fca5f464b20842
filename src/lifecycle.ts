/** What a process that starts, reloads and stops keeps in mind. */
import type { Logger } from 'pino';

/** The one request to stop that counts: the first. */
export class Stop {
  readonly requested: Promise<{ readonly code: 0 | 1; readonly reason: string }>;
  #resolve: (stop: { code: 0 | 1; reason: string }) => void = () => {};

  constructor() {
    this.requested = new Promise((resolve) => {
      this.#resolve = resolve;
    });
  }

  request(code: 0 | 1, reason: string): void {
    this.#resolve({ code, reason });
  }
}

/** What SIGHUP reads anew. One that comes before there is any of it ends nothing: it is being read for the first time. */
export class Reloads {
  readonly #all: (() => void)[] = [];

  add(reload: () => void): void {
    this.#all.push(reload);
  }

  run(): void {
    for (const reload of this.#all) reload();
  }
}

/**
 * What has been opened, in order. Closed in reverse; what cannot be closed is logged and does not keep the rest open.
 */
export class Opened {
  readonly #log: Logger;
  readonly #closers: { what: string; close: () => unknown }[] = [];

  constructor(log: Logger) {
    this.#log = log;
  }

  onClose(what: string, close: () => unknown): void {
    this.#closers.push({ what, close });
  }

  /** Runs something again and again until it is closed. */
  every(what: string, everyMs: number, run: () => void): void {
    const timer = setInterval(run, everyMs);
    this.onClose(what, () => clearInterval(timer));
  }

  async close(): Promise<void> {
    for (const { what, close } of this.#closers.splice(0).reverse()) {
      try {
        await close();
      } catch (error) {
        this.#log.error({ err: error }, `${what} could not be closed`);
      }
    }
  }
}
