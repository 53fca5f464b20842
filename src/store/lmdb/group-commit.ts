import { ServiceError } from '../../errors.ts';
import { isDamage } from './seal.ts';

/** What the queue needs of a database. */
export interface Transactor {
  /** Runs `action` in one transaction and returns after its flush; a throw undoes all of it. */
  transactionSync<T>(action: () => T): T;
}

/**
 * One call in two steps. The outer function reads and may refuse (throw a ServiceError); it MUST NOT write. The function
 * it returns writes and gives the result; it MUST NOT refuse. So a refused call leaves its neighbours' transaction
 * untouched.
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
 * Payload that one transaction takes: LMDB keeps dirty pages in memory until the flush, and answers wait for the
 * slowest of their group.
 */
const maxGroupBytes = 32 * 2 ** 20;

const mapFull = -30792;
const ioError = 5;
/** ENOSPC and EDQUOT, as LMDB passes them on. */
const noSpace: readonly unknown[] = [mapFull, 28, 122];

/**
 * Calls that wait together share one transaction and one flush, in order of arrival. While a commit blocks the
 * thread, the next group gathers in the message port: the slower the disk, the larger the groups.
 *
 * A crash before the flush: no answer has left. After it: the answers may be lost, never what they answer.
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
   * `beforeFlush` is called at the end of each transaction, in it.
   * `forget` is called after a transaction was undone and the queue goes on: what is kept in memory must be read again.
   * `diskFull` says whether the volume has no room left.
   * `onIdle` is called when nothing waits any more.
   * `onDamage` is called when a transaction was undone because stored data is damaged: `beforeFlush` must not need it again.
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

  /** `bytes` is roughly what the call writes. Rejects with the call's own refusal, or UNAVAILABLE when the disk is full. */
  submit<T>(bytes: number, plan: Plan<T>): Promise<T> {
    if (this.#closed) return Promise.reject(new ServiceError('UNAVAILABLE', 'the store is closing'));
    return new Promise<T>((resolve, reject) => {
      this.#waiting.push({ plan, bytes, resolve: resolve as (value: unknown) => void, reject });
      this.#schedule();
    });
  }

  /** Takes no more calls; resolves when those that wait are committed. */
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

  /** Anything but a refusal or a full disk leaves through here uncaught, and ends the thread: see `#commit`. */
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

  /** The transaction is undone. `broken` is the call that threw what is no refusal; undefined when the commit itself did. */
  #failed(group: readonly Waiting[], broken: Waiting | undefined, error: unknown): void {
    const isFull = outOfSpace(error, this.#diskFull);
    // A failed write or flush (LMDB's errors carry numbers): the content of the disk is unknown, and after a failed meta
    // page even a read would corrupt the heap. The thread ends with the calls unanswered, so that their callers get
    // WORKER_LOST, and comes back through the same path as a cold start.
    const isDamaged = isDamage(error);
    if (!isFull && !isDamaged && (broken === undefined || typeof codeOf(error) === 'number')) throw error;
    this.#forget();
    if (isFull) {
      // One large call among small ones may be what doesn't fit.
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
    // A bug in one call: its neighbours are applied without it.
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
    // Only a refusal is known to leave nothing half done, here or in memory.
    if (!(error instanceof ServiceError)) throw error;
    return { call, settle: () => call.reject(error) };
  }
  const result = write();
  return { call, settle: () => call.resolve(result) };
}

/**
 * True when a transaction was undone for want of room, on disk too. A full disk shows as a short write of data pages,
 * which LMDB reports as EIO. The pages come before the meta page, which is rewritten in place and needs no room.
 * Should the meta page have failed after all, LMDB refuses the next transaction with MDB_PANIC, and that is fatal.
 */
export function outOfSpace(error: unknown, diskFull: () => boolean): boolean {
  const code = codeOf(error);
  return noSpace.includes(code) || (code === ioError && diskFull());
}

/** UNAVAILABLE with the reason `disk_full`. */
export function diskIsFull(): ServiceError {
  return new ServiceError('UNAVAILABLE', 'the disk or the database is full; nothing was kept', {
    reason: 'disk_full',
  });
}

function codeOf(error: unknown): unknown {
  return error instanceof Error ? (error as Error & { code?: unknown }).code : undefined;
}
