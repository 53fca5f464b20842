import { limits } from '../../limits.ts';
import type { EventTables } from './tables.ts';

interface RetentionClockOptions {
  readonly tables: Pick<EventTables, 'retentionState'>;
  /** Time of the host's clock, epoch milliseconds. The clock can jump. */
  readonly now: () => number;
  /** Monotonic time in milliseconds. */
  readonly steadyMs: () => number;
  /** Receipt time of the newest event, epoch milliseconds; undefined without events. */
  readonly newest: () => number | undefined;
}

/** State of the clock as stored. */
export interface KeptClock {
  /** Time of the clock, epoch milliseconds. */
  readonly at: number;
  /** Time for which the clock has been behind the host's clock, in milliseconds of running time. */
  readonly heldMs: number;
}

/**
 * The clock that measures the age of events. Deletion is final, so a single jump of the host's clock (an empty
 * battery, a resumed virtual machine, a wrong time server) must not expire months of events immediately. When
 * the host's clock is ahead by more than an hour, this clock runs `limits.retentionClockRate` times as fast as time
 * passes while the service runs. After `limits.retentionLeapMs`, this clock accepts the host's time. Until then, this
 * clock reports its lag. This clock is never ahead of the host's clock. If the host's clock is set back and then
 * corrected, this clock continues from its previous time.
 *
 * ```
 *   host's clock   ────────────┐ jump        ┌──────────────
 *                              └─────────────┘
 *   this one       ─────────────────────────┘ …               (days later)
 * ```
 *
 * The state is stored periodically, so that a start while the host's clock is wrong does not expire events either.
 * After a long downtime, this clock catches up in the same way. Without events there is nothing to protect, and this
 * clock follows the host's clock.
 */
export class RetentionClock {
  readonly #options: RetentionClockOptions;
  /** The latest accepted time. */
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

  /** Returns the time of the clock, epoch milliseconds. */
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

  /** Time by which this clock is behind the host's clock, in milliseconds. */
  get behindMs(): number {
    return Math.max(0, this.#options.now() - this.now());
  }

  /** True if the state must be stored. */
  get isDue(): boolean {
    const written = this.#options.tables.retentionState.get('clock')?.at;
    return written === undefined || Math.abs(this.now() - written) >= limits.retentionClockEveryMs;
  }

  /** Stores the state. Must be called in a transaction. */
  write(): void {
    this.now();
    const kept: KeptClock = { at: Math.floor(this.#at), heldMs: Math.floor(this.#heldMs) };
    this.#options.tables.retentionState.putSync('clock', kept);
  }
}

/** Maximum difference from the host's clock that does not count as a jump. */
const leapMs = 3_600_000;
