import { setTimeout as delay } from 'node:timers/promises';
import {
  type FoundHost,
  maxHostsAtOnce,
  newsEveryMs,
  type ScanCounts,
  type ScanEnd,
  type ScanNews,
} from './scanner.ts';

/** Number of unfetched hosts at which the scan pauses. */
const maxWaiting = 2 * maxHostsAtOnce;

/**
 * Findings of a scan that have not been fetched, and its counts. The engine adds findings, and `Scanner.news`
 * fetches them.
 */
export class ScanResults {
  readonly counts: { -readonly [K in keyof ScanCounts]: ScanCounts[K] } = {
    hosts_done: 0,
    probes_done: 0,
    hosts_up: 0,
    services_found: 0,
    services_skipped: 0,
    banners_skipped: 0,
  };
  #hosts: FoundHost[] = [];
  #end: ScanEnd | undefined;
  #released = false;
  #wake: (() => void) | undefined;
  #room: (() => void)[] = [];

  add(host: FoundHost): void {
    this.#hosts.push(host);
    if (this.#hosts.length >= maxHostsAtOnce) this.#wake?.();
  }

  end(end: ScanEnd): void {
    this.#end ??= end;
    this.#wake?.();
  }

  /** Stops limiting unfetched hosts, for the last few hosts of a cancelled scan. */
  release(): void {
    this.#released = true;
    this.#makeRoom();
  }

  /** Resolves when more hosts can be added; undefined if they already can. */
  room(): Promise<void> | undefined {
    if (this.#hosts.length < maxWaiting || this.#released) return undefined;
    return new Promise((resolve) => this.#room.push(resolve));
  }

  /** Resolves when enough hosts for a full update are waiting, when the scan has ended, or after `newsEveryMs`. */
  async news(): Promise<ScanNews> {
    if (this.#end === undefined && this.#hosts.length < maxHostsAtOnce) {
      const waiting = new AbortController();
      await Promise.race([
        delay(newsEveryMs, undefined, { signal: waiting.signal }).catch(() => undefined),
        new Promise<void>((resolve) => {
          this.#wake = resolve;
        }),
      ]);
      this.#wake = undefined;
      waiting.abort();
    }
    const hosts = this.#hosts.splice(0, maxHostsAtOnce);
    this.#makeRoom();
    const isLast = this.#end !== undefined && this.#hosts.length === 0;
    return {
      counts: { ...this.counts },
      hosts,
      ...(isLast && this.#end !== undefined ? { end: this.#end } : {}),
    };
  }

  #makeRoom(): void {
    for (const resolve of this.#room.splice(0)) resolve();
  }
}
