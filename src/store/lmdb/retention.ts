import type { ExpiryReason } from '../../contract/vocabulary.ts';
import { tables as eventTables } from '../../events/columns.ts';
import { limits } from '../../limits.ts';
import { mapSize } from '../../lmdb.ts';
import type { LmdbEvents } from './events.ts';
import { Expired } from './expired.ts';
import { type Bounds, chooseExpired, type OldBlock } from './expiry.ts';
import type { Outbox } from './outbox.ts';
import { RetentionClock } from './retention-clock.ts';
import type { Tables } from './tables.ts';

interface RetentionOptions {
  readonly events: LmdbEvents;
  readonly tables: Pick<Tables, 'expired' | 'inventoryState' | 'retentionState'>;
  readonly outbox: Pick<Outbox, 'hasRoom' | 'add'>;
  /** If absent, everything is kept. */
  readonly bounds: Bounds | undefined;
  /** Epoch milliseconds. */
  readonly now: () => number;
  /** Monotonic milliseconds. */
  readonly steadyMs: () => number;
  /** Whether the volume has room for writes that can be postponed. */
  readonly hasRoom: () => boolean;
  /** Runs in one transaction, flushed. */
  readonly transaction: (write: () => void) => void;
  /** Duration of a step. Default: limits.retentionStepMs. */
  readonly stepMs?: number;
}

/**
 * Keeps the events within their bounds, in the store thread: removes the oldest blocks as a whole, in steps
 * of some 10 ms. Each step is a transaction that includes the account of what it removed.
 *
 * ```
 *   blocks       | gone  gone | 812 813 814 … 1470 |          first_seq = 812
 *   explicit ids       gone … |                               follow gradually
 * ```
 *
 * Freed pages are reused before the file grows: it needs no compaction, and never shrinks. A full volume does
 * not stop retention: the pages that LMDB writes to delete rows take little of the reserve, and more are
 * freed.
 *
 * A block stays until everything derived from its events is committed: then the inventory has read it, and no
 * start needs it again. At a start, detectors replay only the events that are left.
 *
 * Readers keep their snapshot; their next one begins after the removed events.
 */
export class Retention {
  readonly #options: RetentionOptions;
  readonly #expired: Expired;
  readonly #clock: RetentionClock;

  constructor(options: RetentionOptions) {
    this.#options = options;
    const { tables, outbox, events, now, steadyMs } = options;
    this.#expired = new Expired(tables, outbox);
    events.refresh();
    const newest = () => events.newestReceived();
    this.#clock = new RetentionClock({ tables, now, steadyMs, newest });
  }

  get bounds(): Bounds | undefined {
    return this.#options.bounds;
  }

  /** How far the retention clock is behind the host's clock, in milliseconds. */
  get behindMs(): number {
    return this.#clock.behindMs;
  }

  /** The time of the retention clock: epoch milliseconds, hardly affected by jumps of the host's clock. */
  get believedMs(): number {
    return this.#clock.now();
  }

  get totals(): ReturnType<Expired['totals']> {
    return this.#expired.totals();
  }

  /** Runs one step if there is something to do. @returns whether there may be more to do at once */
  step(): boolean {
    const { events, now, transaction, stepMs = limits.retentionStepMs } = this.#options;
    events.refresh();
    const { leavings } = events;
    const isIdle = this.#next(this.#over()) === undefined && leavings === 0;
    if (isIdle && !this.#expired.isDue(now()) && !this.#isClockDue()) return false;
    // Removing ids takes longer than adding them: the more wait, the larger their share of the time, up to
    // all of it.
    const wanted = Math.max(1, leavings / leavingsPerStep, this.#isFarOver() ? stepsAtOnce : 1);
    const budgetMs = Math.min(stepMs * wanted, limits.retentionHurryMs);
    transaction(() => {
      const until = performance.now() + budgetMs;
      const isOver = () => performance.now() >= until;
      do {
        this.#drop(isOver);
        events.forgetIds(isOver);
      } while (!isOver() && this.#next(this.#over()) !== undefined);
      this.#expired.tell(now());
      if (this.#isClockDue()) this.#clock.write();
    });
    events.refresh();
    return this.#next(this.#over()) !== undefined || events.leavings > 0;
  }

  /** Called before the file is closed, so that the next start continues from here. */
  close(): void {
    if (this.#options.bounds === undefined || !this.#options.hasRoom()) return;
    this.#options.events.refresh();
    this.#options.transaction(() => this.#clock.write());
  }

  #drop(isOver: () => boolean): void {
    let over = this.#over();
    do {
      const next = this.#next(over);
      if (next === undefined || this.#isOnItsWay(next.reason)) return;
      this.#options.events.dropOldest(next.block.table);
      this.#expired.note(next.block, next.reason);
      over -= next.block.bytes;
    } while (!isOver());
  }

  /**
   * Space of blocks whose ids still have to be removed counts as used: until then no block is removed for
   * lack of space.
   */
  #isOnItsWay(reason: ExpiryReason): boolean {
    return reason === 'bytes' && this.#options.events.leavings >= leavingsAhead;
  }

  #next(over: number): ReturnType<typeof chooseExpired> {
    const { bounds } = this.#options;
    return bounds && chooseExpired(this.#counted(), bounds, over, this.#clock.now());
  }

  /** Storing the clock alone is not worth a write on a full volume. */
  #isClockDue(): boolean {
    const { bounds, hasRoom } = this.#options;
    return bounds !== undefined && hasRoom() && this.#clock.isDue;
  }

  /** Whether new events would outrun small steps. */
  #isFarOver(): boolean {
    const { bounds } = this.#options;
    return bounds !== undefined && this.#over() > bounds.maxBytes / 20;
  }

  /** Bytes above the bound. Also usable within a transaction. */
  #over(): number {
    const { bounds, events } = this.#options;
    return bounds === undefined ? 0 : events.diskBytes() - bounds.maxBytes;
  }

  /** The oldest blocks whose events were processed. */
  #counted(): OldBlock[] {
    const { events, tables, now } = this.#options;
    return eventTables
      .map((table) => events.oldest(table, now()))
      .filter((block) => block !== undefined)
      .filter(({ table, to }) => (tables.inventoryState.get(table)?.next_seq ?? 1) >= to);
  }
}

/** Blocks that may be removed ahead of their ids. */
const leavingsAhead = 2;

/** Factor for the length of a step when events are far above the bound. */
const stepsAtOnce = 10;

/** Up to this many blocks with remaining ids do not make a step longer. */
const leavingsPerStep = 16;

/**
 * Returns the bound in bytes: the configured one, or half of the volume, regardless of other files, so that
 * filling the volume does not displace events. The other half is for everything else in the file, its free
 * pages, the log and a backup. At most three quarters of the address space that the file is mapped into.
 *
 * @param maxBytes - 0 if not configured
 * @param volumeBytes - 0 if the system does not report it
 */
export function byteBound(maxBytes: number, volumeBytes: number): number {
  const most = (mapSize / 4) * 3;
  const bound = maxBytes === 0 ? Math.floor(volumeBytes / 2) : maxBytes;
  return bound === 0 ? most : Math.min(bound, most);
}
