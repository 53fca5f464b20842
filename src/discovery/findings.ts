import { setTimeout as delay } from 'node:timers/promises';
import {
  type FoundHost,
  maxHostsAtOnce,
  newsEveryMs,
  type ScanCounts,
  type ScanEnd,
  type ScanNews,
} from './scanner.ts';

/** Hosts that may wait to be fetched, before a scan waits itself. */
const maxWaiting = 2 * maxHostsAtOnce;

/** What a scan has found and nobody has fetched. Owner of its counts; an engine adds, `Scanner.news` takes. */
export class Findings {
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

  /** From now on nobody waits for room: the few hosts that are still told of are all that will come. */
  release(): void {
    this.#released = true;
    this.#makeRoom();
  }

  /** Resolves when there is room for more hosts; undefined where there is. */
  room(): Promise<void> | undefined {
    if (this.#hosts.length < maxWaiting || this.#released) return undefined;
    return new Promise((resolve) => this.#room.push(resolve));
  }

  /** When there are many hosts, when it has ended, and at the latest after `newsEveryMs`. */
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
