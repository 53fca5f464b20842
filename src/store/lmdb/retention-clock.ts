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

/**
 * The time that age goes by. What is deleted for its age is gone, so one leap of the host's clock (a battery that died, a
 * virtual machine that was woken, a time server that lies) must not make months of events old at once: behind the host's
 * clock this one follows `limits.retentionClockRate` times as fast as time goes by while the service runs, and says how
 * far it is behind. It is never ahead: a clock that was set back makes nothing old.
 *
 * ```
 *   host's clock   ────────────┐ leap          ┌──────
 *                              └───────────────┘           (to scale: one day to catch up with 24)
 *   this one       ───────────────────────────/
 * ```
 *
 * It is written down now and then, so that a start while the host's clock is wrong makes nothing old either. A file of
 * which nothing is written down was used last when its newest event was received.
 */
export class RetentionClock {
  readonly #options: RetentionClockOptions;
  #at: number;
  #steady: number;

  constructor(options: RetentionClockOptions) {
    this.#options = options;
    const { tables, now, steadyMs, newest } = options;
    this.#at = tables.retentionState.get('clock')?.at ?? newest() ?? now();
    this.#steady = steadyMs();
  }

  /** Epoch milliseconds. */
  now(): number {
    const steady = this.#options.steadyMs();
    const passed = Math.max(0, steady - this.#steady);
    this.#at = Math.min(this.#options.now(), this.#at + passed * limits.retentionClockRate);
    this.#steady = steady;
    return this.#at;
  }

  /** How far it is behind the host's clock, in milliseconds. */
  get behindMs(): number {
    return this.#options.now() - this.now();
  }

  /** Whether it is to be written down. */
  get isDue(): boolean {
    const written = this.#options.tables.retentionState.get('clock')?.at;
    return written === undefined || Math.abs(this.now() - written) >= limits.retentionClockEveryMs;
  }

  /** Within a transaction. */
  write(): void {
    this.#options.tables.retentionState.putSync('clock', { at: this.now() });
  }
}
