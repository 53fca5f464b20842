/**
 * Schedules the publication of heads. With a delay, anonymous readers see the log as it was at the boundaries of a
 * fixed schedule (multiples of the delay since 1970). Each boundary is public no earlier than one delay after its time.
 * The ledger signs a head whose timestamp is the boundary itself. Neither the appearance nor the content of a head then
 * reveals the time of an append more precisely than the delay.
 */
import { caught } from '../errors.ts';
import { timestampStepNs } from '../tlog/head.ts';
import { DamagedError, type LedgerStorage } from './storage/storage.ts';

/** A period of the schedule: heads signed from `since_ms` (Unix time) onwards are published with this delay. */
export interface PublicationPeriod {
  readonly since_ms: number;
  readonly delay_ms: number;
}

/**
 * Maximum periods. Normal changes of the setting do not reach this limit; beyond it, the oldest periods are dropped.
 */
const maxPeriods = 100;

/** An idle log publishes a head every hour, so that readers see that the log is still active. */
const hourNs = 3_600_000_000_000n;

export class PublicationSchedule {
  /** Periods in order of time. A head belongs to the period in which it was signed. */
  readonly #periods: readonly PublicationPeriod[];

  constructor(periods: readonly PublicationPeriod[]) {
    this.#periods = periods;
  }

  /** Whether all heads are public immediately, and always were. */
  get isImmediate(): boolean {
    return this.#periods.every(({ delay_ms }) => delay_ms === 0);
  }

  /** Returns the schedule with this delay from now on; the same object if the delay does not change. */
  with(
    delay_ms: number,
    nowMs: number,
  ): { readonly schedule: PublicationSchedule; readonly periods?: readonly PublicationPeriod[] } {
    if ((this.#periods.at(-1)?.delay_ms ?? 0) === delay_ms) return { schedule: this };
    const periods = [...this.#periods, { since_ms: nowMs, delay_ms }].slice(-maxPeriods);
    return { schedule: new PublicationSchedule(periods), periods };
  }

  isPublished(timestampNs: bigint): boolean {
    const delay = this.#delayAt(timestampNs);
    return delay === 0n || timestampNs === boundary(timestampNs, delay);
  }

  visibleFrom(timestampNs: bigint): bigint {
    return timestampNs + this.#delayAt(timestampNs);
  }

  /**
   * Returns the last boundary, as the timestamp of a head that must be signed before any other head. Returns undefined
   * without a delay, and if the last head, signed at `lastNs`, makes such a head unnecessary. This is so if the last
   * head is not older than the boundary, or if it is public and less than an hour older.
   */
  due(nowNs: bigint, lastNs: bigint): bigint | undefined {
    const delay = this.#delayAt(nowNs);
    if (delay === 0n) return undefined;
    const at = boundary(nowNs, delay);
    if (this.isPublished(lastNs) && at - lastNs < hourNs) return undefined;
    return at > lastNs ? at : undefined;
  }

  /** Returns the milliseconds until the next boundary; undefined without a delay. */
  untilNext(nowNs: bigint): number | undefined {
    const delay = this.#delayAt(nowNs);
    if (delay === 0n) return undefined;
    return Number((delay - (nowNs % delay)) / 1_000_000n) + 1;
  }

  #delayAt(ns: bigint): bigint {
    for (const { since_ms, delay_ms } of this.#periods.toReversed())
      if (ns >= BigInt(since_ms) * 1_000_000n) return BigInt(delay_ms) * 1_000_000n;
    return 0n;
  }
}

/**
 * Returns the schedule of a log with this delay from now on. A changed delay is stored, so that public heads stay
 * public. A log that refuses entries stores nothing.
 */
export function openPublication(
  storage: LedgerStorage,
  delayMs: number,
  clock: () => bigint,
  isHealthy: boolean,
): PublicationSchedule {
  const stored = caught(DamagedError, [], () => storage.publicationPeriods());
  const { schedule, periods } = new PublicationSchedule(stored).with(delayMs, Number(clock() / 1_000_000n));
  if (periods !== undefined && isHealthy) storage.setPublicationPeriods(periods);
  return schedule;
}

/** Returns the last boundary at or before a moment, rounded up to a valid head timestamp. */
function boundary(ns: bigint, delayNs: bigint): bigint {
  const at = ns - (ns % delayNs);
  const rest = at % timestampStepNs;
  return rest === 0n ? at : at + timestampStepNs - rest;
}
