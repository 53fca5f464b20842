import { limits } from '../../limits.ts';
import type { Tables } from './tables.ts';

interface RetentionClockOptions {
  readonly tables: Pick<Tables, 'retentionState'>;
  /** What the host's clock says, epoch milliseconds: it can leap. */
  readonly now: () => number;
  /** Milliseconds since some moment, which never leap. */
  readonly steadyMs: () => number;
  /** When the newest event was received, epoch milliseconds; undefined without events. */
  readonly newest: () => number | undefined;
}

/** As it is written down. */
export interface KeptClock {
  /** Epoch milliseconds. */
  readonly at: number;
  /** For how long it has been behind, in milliseconds of running. */
  readonly heldMs: number;
}

/**
 * The time that age goes by. What is deleted for its age is gone, so one leap of the host's clock (a battery that died, a
 * virtual machine that was woken, a time server that lies) must not make months of events old at once: what is ahead of
 * this clock by more than an hour it follows `limits.retentionClockRate` times as fast as time goes by while the service
 * runs, and believes it when it went on for `limits.retentionLeapMs`. Meanwhile it says how far it is behind. It is never
 * ahead of the host's, and where that was set back and then right again, goes on where it was.
 *
 * ```
 *   host's clock   ────────────┐ leap        ┌──────────────
 *                              └─────────────┘
 *   this one       ─────────────────────────┘ …               (days later)
 * ```
 *
 * It is written down now and then, so that a start while the host's clock is wrong makes nothing old either; a service
 * that was off for long catches up the same way. Without events there is nothing to keep, and it is the host's.
 */
export class RetentionClock {
  readonly #options: RetentionClockOptions;
  /** The latest time that was believed. */
  #at: number;
  #heldMs: number;
  #steady: number;

  constructor(options: RetentionClockOptions) {
    this.#options = options;
    const { tables, now, steadyMs, newest } = options;
    const kept = tables.retentionState.get('clock');
    this.#at = kept?.at ?? newest() ?? now();
    this.#heldMs = kept?.heldMs ?? 0;
    this.#steady = steadyMs();
  }

  /** Epoch milliseconds. */
  now(): number {
    const { now, steadyMs, newest } = this.#options;
    const host = now();
    const steady = steadyMs();
    const passed = Math.max(0, steady - this.#steady);
    this.#steady = steady;
    if (newest() === undefined) this.#at = host;
    else if (host > this.#at) this.#follow(host, passed);
    return Math.min(host, Math.floor(this.#at));
  }

  #follow(host: number, passed: number): void {
    this.#heldMs = host - this.#at > passed + leapMs ? this.#heldMs + passed : 0;
    const followed = Math.min(host, this.#at + passed * limits.retentionClockRate);
    this.#at = this.#heldMs >= limits.retentionLeapMs ? host : followed;
  }

  /** How far it is behind the host's clock, in milliseconds. */
  get behindMs(): number {
    return Math.max(0, this.#options.now() - this.now());
  }

  /** Whether it is to be written down. */
  get isDue(): boolean {
    const written = this.#options.tables.retentionState.get('clock')?.at;
    return written === undefined || Math.abs(this.now() - written) >= limits.retentionClockEveryMs;
  }

  /** Within a transaction. */
  write(): void {
    this.now();
    const kept: KeptClock = { at: Math.floor(this.#at), heldMs: Math.floor(this.#heldMs) };
    this.#options.tables.retentionState.putSync('clock', kept);
  }
}

/** By so much the host's clock may be ahead without having leapt. */
const leapMs = 3_600_000;
