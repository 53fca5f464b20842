import { limits } from '../../limits.ts';
import type { Tables } from './tables.ts';

interface RetentionClockOptions {
  readonly tables: Pick<Tables, 'retentionState'>;
  /** The host's clock, epoch milliseconds: it can jump. */
  readonly now: () => number;
  /** Monotonic milliseconds. */
  readonly steadyMs: () => number;
  /** When the newest event was received, epoch milliseconds; undefined without events. */
  readonly newest: () => number | undefined;
}

/** The clock as stored. */
export interface KeptClock {
  /** Epoch milliseconds. */
  readonly at: number;
  /** How long it has been behind, in milliseconds of running time. */
  readonly heldMs: number;
}

/**
 * The clock that measures the age of events. Deletion is final, so a single jump of the host's clock (an
 * empty battery, a resumed virtual machine, a wrong time server) must not make months of events expire at
 * once. When the host's clock is ahead by more than an hour, this clock catches up
 * `limits.retentionClockRate` times as fast as time passes while the service runs, and accepts the host's
 * time after `limits.retentionLeapMs`. Until then it reports how far it is behind. It is never ahead of the
 * host's clock; when that was set back and then corrected, it continues where it was.
 *
 * ```
 *   host's clock   ────────────┐ jump        ┌──────────────
 *                              └─────────────┘
 *   this one       ─────────────────────────┘ …               (days later)
 * ```
 *
 * Its state is stored from time to time, so that a start while the host's clock is wrong does not expire
 * events either; after a long downtime it catches up in the same way. Without events there is nothing to
 * protect, and it follows the host's clock.
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

  /** Whether its state must be stored. */
  get isDue(): boolean {
    const written = this.#options.tables.retentionState.get('clock')?.at;
    return written === undefined || Math.abs(this.now() - written) >= limits.retentionClockEveryMs;
  }

  /** Runs within a transaction. */
  write(): void {
    this.now();
    const kept: KeptClock = { at: Math.floor(this.#at), heldMs: Math.floor(this.#heldMs) };
    this.#options.tables.retentionState.putSync('clock', kept);
  }
}

/** A difference of up to this much is not a jump. */
const leapMs = 3_600_000;
