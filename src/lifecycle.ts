/** What a process that starts, reloads and stops keeps in mind. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';
import { limits } from './limits.ts';
import { before } from './volume-turns.ts';

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
  readonly #closers: { what: string; close: () => unknown; maxMs: number }[] = [];

  constructor(log: Logger) {
    this.#log = log;
  }

  onClose(what: string, close: () => unknown, maxMs: number = limits.closeMs): void {
    this.#closers.push({ what, close, maxMs });
  }

  /** Runs something again and again until it is closed. */
  every(what: string, everyMs: number, run: () => void): void {
    const timer = setInterval(run, everyMs);
    this.onClose(what, () => clearInterval(timer));
  }

  /**
   * Parts that hang are left behind, so that the rest is closed.
   *
   * @param limitMs - for all together
   * @returns false where something hangs
   */
  async close(limitMs: number): Promise<boolean> {
    const until = performance.now() + limitMs;
    let isClosed = true;
    for (const { what, close, maxMs } of this.#closers.splice(0).reverse()) {
      const ms = Math.max(0, Math.min(maxMs, until - performance.now()));
      const late = () => {
        isClosed = false;
        return new Error(`it takes longer than ${ms} ms`);
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

/** Longest wait of an exit for abandoned calls of the operating system. */
const lastCallsMs = 2000;

/**
 * Ends the process. An exit waits for each thread that is in a call of the operating system: one that hangs, on a volume
 * that does not answer, would keep the process for ever. SIGKILL ends such a thread.
 */
export async function endProcess(isClosed: boolean): Promise<never> {
  const until = performance.now() + lastCallsMs;
  const isBusy = () => process.getActiveResourcesInfo().some((name) => name.startsWith('FSReq'));
  while (isClosed && isBusy() && performance.now() < until) await delay(20);
  if (!isClosed || isBusy()) process.kill(process.pid, 'SIGKILL');
  return process.exit();
}
