/** The state of a process that starts, reloads and stops. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';
import { before } from '../files/volume-queue.ts';
import { limits } from '../limits.ts';

/** The first request to stop; later requests are ignored. */
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

/**
 * The actions of SIGHUP. During the start, a signal has no effect, because all files are being read anyway.
 */
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
 * The opened resources, in order. They are closed in reverse order; a failure is logged and does not prevent
 * other resources from closing.
 */
export class Opened {
  readonly #log: Logger;
  readonly #closers: { what: string; close: () => unknown; maxMs: number }[] = [];

  constructor(log: Logger) {
    this.#log = log;
  }

  onClose(what: string, close: () => unknown, maxMs: number = limits.closeMs): void {
    this.#closers.push({ what, close, maxMs });
  }

  /** Runs a function repeatedly until the resources are closed. */
  every(what: string, everyMs: number, run: () => void): void {
    const timer = setInterval(run, everyMs);
    this.onClose(what, () => clearInterval(timer));
  }

  /**
   * Closes the resources. Parts that hang are abandoned, so that all other parts are closed.
   *
   * @param limitMs - maximum time for all resources together
   * @returns false if a part hangs
   */
  async close(limitMs: number): Promise<boolean> {
    const until = performance.now() + limitMs;
    let isClosed = true;
    for (const { what, close, maxMs } of this.#closers.splice(0).reverse()) {
      const ms = Math.max(0, Math.min(maxMs, until - performance.now()));
      const late = () => {
        isClosed = false;
        return new Error(`did not close within ${ms} ms`);
      };
      try {
        await before(ms, Promise.resolve(close()), late);
      } catch (error) {
        this.#log.error({ err: error }, `${what} could not be closed`);
      }
    }
    return isClosed;
  }
}

/** Maximum time that an exit waits for abandoned system calls. */
const lastCallsMs = 2000;

/**
 * Ends the process. An exit waits for each thread that is in a system call: a call that hangs on an unresponsive volume
 * would keep the process alive forever. SIGKILL ends such a thread.
 */
export async function endProcess(isClosed: boolean): Promise<never> {
  const until = performance.now() + lastCallsMs;
  const isBusy = () => process.getActiveResourcesInfo().some((name) => name.startsWith('FSReq'));
  while (isClosed && isBusy() && performance.now() < until) await delay(20);
  if (!isClosed || isBusy()) process.kill(process.pid, 'SIGKILL');
  return process.exit();
}
