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
  /** Without, everything is kept. */
  readonly bounds: Bounds | undefined;
  /** Epoch milliseconds. */
  readonly now: () => number;
  /** Milliseconds that never leap. */
  readonly steadyMs: () => number;
  /** Whether the volume has room to write what can wait. */
  readonly hasRoom: () => boolean;
  /** Runs in one transaction, flushed. */
  readonly transaction: (write: () => void) => void;
  /** What a step takes. Default: limits.retentionStepMs. */
  readonly stepMs?: number;
}

/**
 * Keeps the events within their bounds, in the thread that writes siem.mdb: the oldest blocks go, whole, in steps of some
 * 10 ms, each a transaction of its own with the account of what it took.
 *
 * ```
 *   blocks       | gone  gone | 812 813 814 … 1470 |          first_seq = 812
 *   explicit ids       gone … |                               follow, some at a time
 * ```
 *
 * Pages that are freed are used again before the file grows: it needs no compaction, and never shrinks. A full volume
 * doesn't stop this: what LMDB writes to delete takes little of the reserve, and frees more.
 *
 * A block stays until everything that is counted of its events is committed: the inventory has read it then, and no
 * start asks for it again. Detectors that are told of earlier events at a start are told of those that are left.
 *
 * Readers keep the snapshot that they have; the next that they take begins behind what went.
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

  /** How far the time that age goes by is behind the host's clock, in milliseconds. */
  get behindMs(): number {
    return this.#clock.behindMs;
  }

  /** The time that age goes by: epoch milliseconds, which a leap of the host's clock hardly moves. */
  get believedMs(): number {
    return this.#clock.now();
  }

  get totals(): ReturnType<Expired['totals']> {
    return this.#expired.totals();
  }

  /** One step, where there is something to do. @returns whether there may be more at once */
  step(): boolean {
    const { events, now, transaction, stepMs = limits.retentionStepMs } = this.#options;
    events.refresh();
    const { leavings } = events;
    const isIdle = this.#next(this.#over()) === undefined && leavings === 0;
    if (isIdle && !this.#expired.isDue(now()) && !this.#isClockDue()) return false;
    // Ids take longer to go than to come: the more wait, the more of the time they get, up to all that there is.
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

  /** Before the file is closed, so that the next start goes on from here. */
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

  /** Room that blocks made whose ids are still to go is counted as taken: until then none goes for want of room. */
  #isOnItsWay(reason: ExpiryReason): boolean {
    return reason === 'bytes' && this.#options.events.leavings >= leavingsAhead;
  }

  #next(over: number): ReturnType<typeof chooseExpired> {
    const { bounds } = this.#options;
    return bounds && chooseExpired(this.#counted(), bounds, over, this.#clock.now());
  }

  /** Nothing but that is no reason to write on a volume that is full. */
  #isClockDue(): boolean {
    const { bounds, hasRoom } = this.#options;
    return bounds !== undefined && hasRoom() && this.#clock.isDue;
  }

  /** By so much that what comes would outrun small steps. */
  #isFarOver(): boolean {
    const { bounds } = this.#options;
    return bounds !== undefined && this.#over() > bounds.maxBytes / 20;
  }

  /** Bytes past the bound, before or within a transaction. */
  #over(): number {
    const { bounds, events } = this.#options;
    return bounds === undefined ? 0 : events.diskBytes() - bounds.maxBytes;
  }

  /** The oldest blocks whose events were counted. */
  #counted(): OldBlock[] {
    const { events, tables, now } = this.#options;
    return eventTables
      .map((table) => events.oldest(table, now()))
      .filter((block) => block !== undefined)
      .filter(({ table, to }) => (tables.inventoryState.get(table)?.next_seq ?? 1) >= to);
  }
}

/** Blocks that may be ahead of their ids: so many more than needed may go. */
const leavingsAhead = 2;

/** How much longer a step is where events are far past the bound. */
const stepsAtOnce = 10;

/** Blocks whose ids wait to go, with which a step is as long as without. */
const leavingsPerStep = 16;

/**
 * The bound in bytes: the one that is set, or half of the volume, however much of it others take: so nobody who fills the
 * volume drives events out. The other half is for what the file has beside events, its free pages, the log and a backup.
 * At most three quarters of the address space that the file is mapped into.
 *
 * @param maxBytes - 0 where none is set
 * @param volumeBytes - 0 where the system doesn't say
 */
export function byteBound(maxBytes: number, volumeBytes: number): number {
  const most = (mapSize / 4) * 3;
  const bound = maxBytes === 0 ? Math.floor(volumeBytes / 2) : maxBytes;
  return bound === 0 ? most : Math.min(bound, most);
}
