import type { ExpiryReason } from '../../contract/vocabulary.ts';
import { mapSize } from '../../database/lmdb.ts';
import type { InventoryTables } from '../../inventory/store/tables.ts';
import { limits } from '../../limits.ts';
import type { Outbox } from '../../store/outbox.ts';
import { tables as eventTables } from '../format/columns.ts';
import type { EventStore } from './event-store.ts';
import { Expired } from './expired.ts';
import { type Bounds, chooseExpired, type OldBlock } from './expiry.ts';
import { RetentionClock } from './retention-clock.ts';
import type { EventTables } from './tables.ts';

interface RetentionOptions {
  readonly events: EventStore;
  readonly tables: Pick<EventTables, 'expired' | 'retentionState'> & Pick<InventoryTables, 'inventoryState'>;
  readonly outbox: Pick<Outbox, 'hasRoom' | 'add'>;
  /** Bounds of retention; undefined to keep all events. */
  readonly bounds: Bounds | undefined;
  /** Time of the host's clock, epoch milliseconds. */
  readonly now: () => number;
  /** Monotonic time in milliseconds. */
  readonly steadyMs: () => number;
  /** Returns whether the volume has room for writes that can be postponed. */
  readonly hasRoom: () => boolean;
  /** Runs the writes in one transaction, and flushes the transaction to disk. */
  readonly transaction: (write: () => void) => void;
  /** Duration of a step. Default: limits.retentionStepMs. */
  readonly stepMs?: number;
}

/**
 * Keeps the events within their bounds, in the store thread: removes whole blocks, oldest first, in steps of
 * about 10 ms. Each step is a transaction that also counts the removed events.
 *
 * ```
 *   blocks       | gone  gone | 812 813 814 … 1470 |          first_seq = 812
 *   explicit ids       gone … |                               follow gradually
 * ```
 *
 * Freed pages are reused before the file grows, so the file needs no compaction, and never shrinks. A full
 * volume does not stop retention: the pages that LMDB writes to delete rows take little of the reserve, and
 * more pages are freed.
 *
 * A block is kept until all data derived from its events is committed: the projections must have processed the block,
 * and the next start must not need the block. At a start, detectors replay only the remaining events.
 *
 * Readers keep their snapshot; their next snapshot begins after the removed events.
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

  /** Time by which the retention clock is behind the host's clock, in milliseconds. */
  get behindMs(): number {
    return this.#clock.behindMs;
  }

  /** The time of the retention clock, epoch milliseconds. Jumps of the host's clock hardly affect this time. */
  get believedMs(): number {
    return this.#clock.now();
  }

  get totals(): ReturnType<Expired['totals']> {
    return this.#expired.totals();
  }

  /**
   * Runs one step if there is work to do.
   *
   * @returns whether there may be more work that can be done immediately
   */
  step(): boolean {
    const { events, now, transaction, stepMs = limits.retentionStepMs } = this.#options;
    events.refresh();
    const { retiredBlockCount: retired } = events;
    const isIdle = this.#next(this.#over()) === undefined && retired === 0;
    if (isIdle && !this.#expired.isDue(now()) && !this.#isClockDue()) return false;
    // Removing ids takes longer than adding ids. The more ids wait for removal, the larger the share of time for
    // removing them, up to the whole time.
    const wanted = Math.max(1, retired / retiredBlocksPerStep, this.#isFarOver() ? stepsAtOnce : 1);
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
    return this.#next(this.#over()) !== undefined || events.retiredBlockCount > 0;
  }

  /** Must be called before the file is closed, so that the next start continues from the current state. */
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
   * Returns whether space is already being freed. The space of blocks whose ids still have to be removed
   * counts as used, so no further block is removed for lack of space until then.
   */
  #isOnItsWay(reason: ExpiryReason): boolean {
    return reason === 'bytes' && this.#options.events.retiredBlockCount >= retiredBlocksAhead;
  }

  #next(over: number): ReturnType<typeof chooseExpired> {
    const { bounds } = this.#options;
    return bounds && chooseExpired(this.#counted(), bounds, over, this.#clock.now());
  }

  /** Returns whether the state of the clock must be stored. On a full volume, the state is not stored. */
  #isClockDue(): boolean {
    const { bounds, hasRoom } = this.#options;
    return bounds !== undefined && hasRoom() && this.#clock.isDue;
  }

  /** Returns whether the events exceed the bound so far that small steps could not keep up with new events. */
  #isFarOver(): boolean {
    const { bounds } = this.#options;
    return bounds !== undefined && this.#over() > bounds.maxBytes / 20;
  }

  /** Returns the bytes above the bound. Can also be called in a transaction. */
  #over(): number {
    const { bounds, events } = this.#options;
    return bounds === undefined ? 0 : events.diskBytes() - bounds.maxBytes;
  }

  /** Returns the oldest blocks whose events were processed. */
  #counted(): OldBlock[] {
    const { events, tables, now } = this.#options;
    return eventTables
      .map((table) => events.oldest(table, now()))
      .filter((block) => block !== undefined)
      .filter(({ table, to }) => (tables.inventoryState.get(table)?.next_seq ?? 1) >= to);
  }
}

/** Number of blocks that may be removed before their ids are removed. */
const retiredBlocksAhead = 2;

/** Factor for the length of a step when events are far above the bound. */
const stepsAtOnce = 10;

/** A step is longer if more than this many removed blocks still have ids in the index. */
const retiredBlocksPerStep = 16;

/**
 * Returns the bound in bytes: the configured bound, or half of the volume. Other files do not affect the bound, so
 * filling the volume does not cause events to be removed. The other half is for the rest of siem.mdb, its free pages,
 * the log and a backup. The bound is at most three quarters of the address space that siem.mdb is mapped into.
 *
 * @param maxBytes - 0 if not configured
 * @param volumeBytes - size of the volume; 0 if the system does not report the size
 */
export function byteBound(maxBytes: number, volumeBytes: number): number {
  const most = (mapSize / 4) * 3;
  const bound = maxBytes === 0 ? Math.floor(volumeBytes / 2) : maxBytes;
  return bound === 0 ? most : Math.min(bound, most);
}
