import { ServiceError } from '../errors.ts';
import { isDamage } from './rows.ts';

/** The part of a database that the queue uses. */
export interface Transactor {
  /**
   * Runs `action` in one transaction and returns after its flush; if `action` throws, the transaction is aborted.
   */
  transactionSync<T>(action: () => T): T;
}

/**
 * A call in two steps. The outer function reads and may reject the call by throwing a ServiceError; it MUST
 * NOT write. The inner function writes and returns the result; it MUST NOT reject the call. Therefore a
 * rejected call does not affect the other calls of its transaction.
 */
export type Plan<T> = () => () => T;

interface Waiting {
  readonly plan: Plan<unknown>;
  readonly bytes: number;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
}

interface PlannedCall {
  readonly call: Waiting;
  readonly settle: () => void;
}

/**
 * The queue of a call. `urgent` calls are small, and a user waits for them: the next transaction consists of the
 * waiting urgent calls, unless the previous transaction consisted of urgent calls too. No order is kept between the two
 * lanes.
 */
export type Lane = 'ordinary' | 'urgent';

/** Content of a transaction: calls of one lane, or only background work, which runs in `beforeFlush`. */
export type Turn = Lane | 'work';

interface GroupOptions {
  forget(): void;
  hasRoom?(): boolean;
  hasWork?(): boolean;
  holds?(): boolean;
  onIdle?(): void;
  onDamage?(error: ServiceError): void;
  beforeFlush?(turn: Turn): void;
  retries?(error: unknown): boolean;
}

/**
 * Maximum payload of one transaction: LMDB keeps dirty pages in memory until the flush, and responses wait
 * for the slowest call of their group.
 */
const maxGroupBytes = 32 * 2 ** 20;

/** Approximate bytes that a change of an alert or an identity writes, with its indexes. */
export const smallChangeBytes = 4096;

/** LMDB's error code MDB_MAP_FULL. */
const mapFull = -30792;

/**
 * Groups calls: calls of a lane that wait together share one transaction and one flush, in order of arrival. While a
 * commit blocks the thread, the calls of the next group wait in the message port: the slower the disk, the larger the
 * groups.
 *
 * If the process crashes before the flush, no response was sent. After the flush, responses may be lost, but
 * never the data that they acknowledge.
 */
export class GroupCommit {
  readonly #waiting: Readonly<Record<Lane, Waiting[]>> = { ordinary: [], urgent: [] };
  #last: Turn = 'work';
  /** Whether the last transaction that was not urgent had calls. */
  #hadCalls = false;
  #scheduled = false;
  #closed = false;
  #idle: (() => void) | undefined;
  readonly #db: Transactor;
  readonly #forget: () => void;
  readonly #hasRoom: () => boolean;
  readonly #hasWork: () => boolean;
  readonly #holds: () => boolean;
  readonly #onIdle: () => void;
  readonly #beforeFlush: (turn: Turn) => void;
  readonly #onDamage: (error: ServiceError) => void;
  readonly #retries: (error: unknown) => boolean;

  /**
   * `beforeFlush` is called within each transaction, at its end. `forget` is called after an aborted transaction if the
   * queue continues: in-memory state must be read again. `hasRoom` returns whether the volume has room for a
   * transaction. While there is no room, calls are rejected, because LMDB must not find a volume full (see
   * `isFailedWrite`). While `hasWork` returns true, transactions of background work and of ordinary calls take turns.
   * While `holds` returns true, ordinary calls wait. `onIdle` is called when no call waits. `onDamage` is called when a
   * transaction was aborted because stored data is damaged: `beforeFlush` must not need the damaged data again.
   * `retries` is called after an aborted transaction, before `forget`. If `retries` removes the cause of the error, it
   * also does the work of `forget`, and returns true, so that the calls are committed again.
   */
  constructor(db: Transactor, options: GroupOptions) {
    this.#db = db;
    this.#forget = options.forget;
    this.#hasRoom = options.hasRoom ?? (() => true);
    this.#hasWork = options.hasWork ?? (() => false);
    this.#holds = options.holds ?? (() => false);
    this.#onIdle = options.onIdle ?? (() => {});
    this.#onDamage = options.onDamage ?? (() => {});
    this.#beforeFlush = options.beforeFlush ?? (() => {});
    this.#retries = options.retries ?? (() => false);
  }

  get pending(): number {
    return this.#waiting.ordinary.length + this.#waiting.urgent.length;
  }

  /**
   * Queues a call. `bytes` is the approximate number of bytes that the call writes. Rejects with the call's error,
   * or UNAVAILABLE when the disk is full.
   */
  submit<T>(bytes: number, plan: Plan<T>, lane: Lane = 'ordinary'): Promise<T> {
    if (this.#closed) return Promise.reject(new ServiceError('UNAVAILABLE', 'the store is closing'));
    return new Promise<T>((resolve, reject) => {
      this.#waiting[lane].push({ plan, bytes, resolve: resolve as (value: unknown) => void, reject });
      this.#schedule();
    });
  }

  /** Runs background work soon if `hasWork` returns true. */
  wake(): void {
    this.#schedule();
  }

  /** Stops accepting calls. Resolves when the waiting calls are committed. */
  close(): Promise<void> {
    this.#closed = true;
    if (this.pending === 0) return Promise.resolve();
    return new Promise((resolve) => {
      this.#idle = resolve;
    });
  }

  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    setImmediate(() => this.#drain());
  }

  /** Runs one transaction. Errors that `#failed` does not handle end the thread. */
  #drain(): void {
    this.#scheduled = false;
    const turn = this.#nextTurn();
    if (turn !== undefined) {
      this.#last = turn;
      if (turn !== 'urgent') this.#hadCalls = turn === 'ordinary';
      this.#commit(turn === 'work' ? [] : takeGroup(this.#waiting[turn]));
    }
    if (turn === undefined && this.pending > 0) {
      this.#scheduled = true;
      setTimeout(() => this.#drain(), heldPauseMs);
    } else if (this.pending > 0 || this.#mayWork()) this.#schedule();
    if (this.pending > 0) return;
    this.#idle?.();
    this.#onIdle();
  }

  #nextTurn(): Turn | undefined {
    const { ordinary, urgent } = this.#waiting;
    if (urgent.length > 0 && this.#last !== 'urgent') return 'urgent';
    const isHeld = !this.#closed && this.#holds() && this.#hasRoom();
    if (this.#mayWork() && (ordinary.length === 0 || this.#hadCalls || isHeld)) return 'work';
    if (ordinary.length > 0 && !isHeld) return 'ordinary';
    return urgent.length > 0 ? 'urgent' : undefined;
  }

  /** Returns whether background work waits and there is room for it. A closing queue does no background work. */
  #mayWork(): boolean {
    return !this.#closed && this.#hasWork() && this.#hasRoom();
  }

  #commit(group: readonly Waiting[]): void {
    let outcomes: PlannedCall[] = [];
    let broken: Waiting | undefined;
    if (!this.#hasRoom()) {
      for (const call of group) call.reject(diskIsFull());
      return;
    }
    try {
      this.#db.transactionSync(() => {
        outcomes = [];
        for (const call of group) {
          broken = call;
          outcomes.push(apply(call));
        }
        broken = undefined;
        this.#beforeFlush(this.#last);
      });
    } catch (error) {
      this.#failed(group, broken, error);
      return;
    }
    for (const outcome of outcomes) outcome.settle();
  }

  /**
   * Handles an aborted transaction. `broken` is the call that threw an unexpected error, or undefined if
   * `beforeFlush` or the commit failed.
   */
  #failed(group: readonly Waiting[], broken: Waiting | undefined, error: unknown): void {
    const isFull = isMapFull(error);
    const isDamaged = isDamage(error);
    if (!isFull && !isDamaged && this.#retries(error)) {
      this.#commit(group);
      return;
    }
    // A failed write or flush (LMDB's errors have numeric codes) ends the thread and with it the process, see
    // `isFailedWrite`. The calls get no reply.
    if (!isFull && !isDamaged && (broken === undefined || typeof codeOf(error) === 'number')) throw error;
    this.#forget();
    if (isFull) {
      // A single large call may be the cause, so each call is committed separately.
      if (group.length > 1) for (const call of group) this.#commit([call]);
      else group[0]?.reject(diskIsFull());
      return;
    }
    if (isDamaged) {
      this.#onDamage(error);
      if (broken === undefined) {
        this.#commit(group);
        return;
      }
    }
    // One call has a bug or needs damaged data; the other calls are applied without this call.
    broken!.reject(error);
    const rest = group.filter((call) => call !== broken);
    if (rest.length > 0) this.#commit(rest);
  }
}

/** Time after which held calls are tried again, in milliseconds. */
const heldPauseMs = 5;

/** Removes and returns the first calls of a queue, up to the payload of one transaction. */
function takeGroup(queue: Waiting[]): Waiting[] {
  let bytes = 0;
  let taken = 0;
  for (const call of queue) {
    bytes += call.bytes;
    if (taken > 0 && bytes > maxGroupBytes) break;
    taken++;
  }
  return queue.splice(0, taken);
}

function apply(call: Waiting): PlannedCall {
  let write: () => unknown;
  try {
    write = call.plan();
  } catch (error) {
    // A ServiceError rejects the call. Other errors may leave partial changes, on disk or in memory.
    if (!(error instanceof ServiceError)) throw error;
    return { call, settle: () => call.reject(error) };
  }
  const result = write();
  return { call, settle: () => call.resolve(result) };
}

/**
 * Returns whether a transaction was aborted because the map is full. A full volume is detected before the
 * transaction by `hasRoom`; a write that nevertheless exceeds the space is a failed write.
 */
export function isMapFull(error: unknown): boolean {
  return codeOf(error) === mapFull;
}

/** Returns an UNAVAILABLE error with the reason `disk_full`. */
export function diskIsFull(): ServiceError {
  return new ServiceError('UNAVAILABLE', 'the disk or the database is full; nothing was stored', {
    reason: 'disk_full',
  });
}

function codeOf(error: unknown): unknown {
  return error instanceof Error ? (error as Error & { code?: unknown }).code : undefined;
}
