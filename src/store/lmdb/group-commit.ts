import { ServiceError } from '../../errors.ts';
import { isDamage } from './seal.ts';

/** The part of a database that the queue needs. */
export interface Transactor {
  /**
   * Runs `action` in one transaction and returns after its flush; if it throws, the transaction is aborted.
   */
  transactionSync<T>(action: () => T): T;
}

/**
 * A call in two steps. The outer function reads and may reject the call (throw a ServiceError); it MUST NOT
 * write. The function it returns writes and returns the result; it MUST NOT reject. So a rejected call does
 * not affect the other calls of its transaction.
 */
export type Plan<T> = () => () => T;

interface Waiting {
  readonly plan: Plan<unknown>;
  readonly bytes: number;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
}

interface Outcome {
  readonly call: Waiting;
  readonly settle: () => void;
}

interface GroupOptions {
  forget(): void;
  diskFull(): boolean;
  onIdle?(): void;
  onDamage?(error: ServiceError): void;
  beforeFlush?(): void;
}

/**
 * Maximum payload of one transaction: LMDB keeps dirty pages in memory until the flush, and responses wait
 * for the slowest call of their group.
 */
const maxGroupBytes = 32 * 2 ** 20;

const mapFull = -30792;
const ioError = 5;
/** ENOSPC and EDQUOT, as LMDB reports them. */
const noSpace: readonly unknown[] = [mapFull, 28, 122];

/**
 * Calls that wait together share one transaction and one flush, in order of arrival. While a commit blocks
 * the thread, the next group gathers in the message port: the slower the disk, the larger the groups.
 *
 * After a crash before the flush, no response was sent. After a crash behind it, responses may be lost, but
 * never the data that they acknowledge.
 */
export class GroupCommit {
  #waiting: Waiting[] = [];
  #scheduled = false;
  #closed = false;
  #idle: (() => void) | undefined;
  readonly #db: Transactor;
  readonly #diskFull: () => boolean;
  readonly #forget: () => void;
  readonly #onIdle: () => void;
  readonly #beforeFlush: () => void;
  readonly #onDamage: (error: ServiceError) => void;

  /**
   * `beforeFlush` is called at the end of each transaction, inside it.
   * `forget` is called after an aborted transaction if the queue continues: in-memory state must be read
   * again.
   * `diskFull` returns whether the volume is full.
   * `onIdle` is called when the queue is empty.
   * `onDamage` is called when a transaction was aborted because stored data is damaged: `beforeFlush` must
   * not need that data again.
   */
  constructor(db: Transactor, options: GroupOptions) {
    this.#db = db;
    this.#diskFull = options.diskFull;
    this.#forget = options.forget;
    this.#onIdle = options.onIdle ?? (() => {});
    this.#onDamage = options.onDamage ?? (() => {});
    this.#beforeFlush = options.beforeFlush ?? (() => {});
  }

  get pending(): number {
    return this.#waiting.length;
  }

  /**
   * Queues a call. `bytes` is roughly what it writes. Rejects with the call's own error, or UNAVAILABLE when
   * the disk is full.
   */
  submit<T>(bytes: number, plan: Plan<T>): Promise<T> {
    if (this.#closed) return Promise.reject(new ServiceError('UNAVAILABLE', 'the store is closing'));
    return new Promise<T>((resolve, reject) => {
      this.#waiting.push({ plan, bytes, resolve: resolve as (value: unknown) => void, reject });
      this.#schedule();
    });
  }

  /** Accepts no more calls; resolves when the waiting ones are committed. */
  close(): Promise<void> {
    this.#closed = true;
    if (this.#waiting.length === 0) return Promise.resolve();
    return new Promise((resolve) => {
      this.#idle = resolve;
    });
  }

  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    setImmediate(() => this.#drain());
  }

  /** Errors other than a rejection or a full disk are not caught here, and end the thread: see `#failed`. */
  #drain(): void {
    this.#scheduled = false;
    this.#commit(this.#takeGroup());
    if (this.#waiting.length > 0) this.#schedule();
    else {
      this.#idle?.();
      this.#onIdle();
    }
  }

  #takeGroup(): Waiting[] {
    let bytes = 0;
    let taken = 0;
    for (const call of this.#waiting) {
      bytes += call.bytes;
      if (taken > 0 && bytes > maxGroupBytes) break;
      taken++;
    }
    return this.#waiting.splice(0, taken);
  }

  #commit(group: readonly Waiting[]): void {
    let outcomes: Outcome[] = [];
    let broken: Waiting | undefined;
    try {
      this.#db.transactionSync(() => {
        outcomes = [];
        for (const call of group) {
          broken = call;
          outcomes.push(apply(call));
        }
        broken = undefined;
        this.#beforeFlush();
      });
    } catch (error) {
      this.#failed(group, broken, error);
      return;
    }
    for (const outcome of outcomes) outcome.settle();
  }

  /**
   * Handles an aborted transaction. `broken` is the call that threw an unexpected error; undefined if the
   * commit itself failed.
   */
  #failed(group: readonly Waiting[], broken: Waiting | undefined, error: unknown): void {
    const isFull = outOfSpace(error, this.#diskFull);
    // A failed write or flush (LMDB's errors have numeric codes): the content of the disk is unknown, and
    // after a failed meta page even a read would corrupt the heap. The thread ends without answering the
    // calls, so that their callers get WORKER_LOST, and restarts as from a cold start.
    const isDamaged = isDamage(error);
    if (!isFull && !isDamaged && (broken === undefined || typeof codeOf(error) === 'number')) throw error;
    this.#forget();
    if (isFull) {
      // One large call among small ones may be the one that does not fit.
      if (group.length > 1) for (const call of group) this.#commit([call]);
      else group[0]!.reject(diskIsFull());
      return;
    }
    if (isDamaged) {
      this.#onDamage(error);
      if (broken === undefined) {
        this.#commit(group);
        return;
      }
    }
    // A bug in one call: the others are applied without it.
    broken!.reject(error);
    const rest = group.filter((call) => call !== broken);
    if (rest.length > 0) this.#commit(rest);
  }
}

function apply(call: Waiting): Outcome {
  let write: () => unknown;
  try {
    write = call.plan();
  } catch (error) {
    // Only a rejection is known to leave no partial changes, on disk or in memory.
    if (!(error instanceof ServiceError)) throw error;
    return { call, settle: () => call.reject(error) };
  }
  const result = write();
  return { call, settle: () => call.resolve(result) };
}

/**
 * True if a transaction was aborted for lack of space, on the volume or in the map. A full disk shows as a
 * short write of data pages, which LMDB reports as EIO. Data pages are written before the meta page, which is
 * rewritten in place and needs no space. If the meta page failed nevertheless, LMDB rejects the next
 * transaction with MDB_PANIC, which is fatal.
 */
export function outOfSpace(error: unknown, diskFull: () => boolean): boolean {
  const code = codeOf(error);
  return noSpace.includes(code) || (code === ioError && diskFull());
}

/** Returns UNAVAILABLE with the reason `disk_full`. */
export function diskIsFull(): ServiceError {
  return new ServiceError('UNAVAILABLE', 'the disk or the database is full; nothing was stored', {
    reason: 'disk_full',
  });
}

function codeOf(error: unknown): unknown {
  return error instanceof Error ? (error as Error & { code?: unknown }).code : undefined;
}
