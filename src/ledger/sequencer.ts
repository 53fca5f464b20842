import { sha256 } from '../crypto/sha256.ts';
import { ServiceError } from '../errors.ts';
import { limits } from '../limits.ts';
import { GrowingTree } from '../tlog/growing-tree.ts';
import { bytesToHex } from '../tlog/hex.ts';
import { equalHashes, type Hash, leafHash } from '../tlog/tree.ts';
import { type Clock, nextTimestamp, signHead } from './heads.ts';
import type { LedgerHooks } from './hooks.ts';
import { SignerError } from './keys/signer.ts';
import type { SigningKey } from './keys/signing-key.ts';
import type { Appended } from './ledger.ts';
import type { PublicationSchedule } from './publication.ts';
import type { LeafIndex } from './storage/leaf-index.ts';
import type { LeafBucket, LedgerStorage, SignedHead, StoredEntry } from './storage/storage.ts';

/** Number of entries after which no further call is added to a batch. Larger commits would delay proofs too much. */
const batchEntries = 4096;

/** An entry on its way into the log. */
interface QueuedEntry {
  readonly id: string;
  readonly kind: string;
  readonly canonical: Uint8Array;
  readonly hash: Hash;
}

/** The current or future position of an entry. */
export interface Slot {
  readonly id: string;
  readonly leaf_index: number;
  readonly leaf_hash: string;
}

interface Call {
  readonly entries: readonly QueuedEntry[];
  readonly slots: readonly Slot[];
  resolve(appended: Appended[]): void;
  reject(error: unknown): void;
}

export interface SequencerParts {
  readonly storage: LedgerStorage;
  readonly tree: GrowingTree;
  readonly leaves: LeafIndex;
  /** Signs heads, until `signWith` replaces it. */
  readonly key: SigningKey;
  readonly clock: Clock;
  readonly hooks: LedgerHooks;
  /** Returns the free bytes of the database's volume. */
  readonly freeBytes: () => number;
  readonly publication?: PublicationSchedule | undefined;
  /** Called synchronously when a head has become durable. */
  onHead(head: SignedHead, entries: number, commitMs: number): void;
  /** Called once; nothing is appended afterwards. */
  onFatal(error: unknown): void;
}

/**
 * Owns the end of the log: the queue, the right edge of the tree, the latest head.
 *
 * An idle log commits in the next turn of the event loop. A commit blocks the thread until the data is on disk, and
 * calls accumulate in the port during this time. All of these calls are read before the next commit, which they share.
 */
export class Sequencer {
  readonly #parts: SequencerParts;
  #tree: GrowingTree;
  #key: SigningKey;
  #head: SignedHead | undefined;
  #calls: Call[] = [];
  /** Index and hash of queued entries, by id. */
  readonly #queued = new Map<string, Slot>();
  #scheduled: NodeJS.Immediate | undefined;
  #failure: ServiceError | undefined;
  /** Reasons why commits are held, each with the error for callers. Callers wait if there is no error. */
  readonly #holds = new Map<string, ServiceError | undefined>();

  constructor(parts: SequencerParts) {
    this.#parts = parts;
    this.#tree = parts.tree;
    this.#key = parts.key;
    this.#head = parts.storage.latestHead();
  }

  get head(): SignedHead | undefined {
    return this.#head;
  }

  /** Returns the current or future position of an entry that was appended before; undefined for a new entry. */
  find(id: string, hashAt: (index: number) => Hash): Slot | undefined {
    const queued = this.#queued.get(id);
    if (queued !== undefined) return queued;
    const index = this.#parts.storage.indexOf(id);
    return index === undefined ? undefined : { id, leaf_index: index, leaf_hash: bytesToHex(hashAt(index)) };
  }

  /**
   * Assigns the next indices to new entries and queues them. A slot in `items` represents an entry that is already in
   * the log or queued.
   */
  append(items: readonly (Slot | StoredEntry)[]): Promise<Appended[]> {
    const refusal = this.#failure ?? this.#refusal;
    if (refusal !== undefined) return Promise.reject(refusal);
    const entries: QueuedEntry[] = [];
    const slots = items.map((item) => {
      if ('leaf_index' in item) return item;
      const repeated = this.#queued.get(item.id); // the same id twice in one call
      if (repeated !== undefined) return repeated;
      const hash = leafHash(sha256, item.canonical);
      const slot = { id: item.id, leaf_index: this.#nextIndex, leaf_hash: bytesToHex(hash) };
      entries.push({ ...item, hash });
      this.#queued.set(item.id, slot);
      return slot;
    });
    return new Promise((resolve, reject) => {
      this.#calls.push({ entries, slots, resolve, reject });
      this.#schedule();
    });
  }

  /**
   * Stops committing and signing until `release` is called for the same reason. Calls wait, up to the limit of the
   * queue; if `refusal` is given, calls are rejected with it.
   */
  hold(reason: string, refusal?: ServiceError): void {
    this.#holds.set(reason, refusal);
    clearImmediate(this.#scheduled);
    this.#scheduled = undefined;
    if (refusal !== undefined) this.#refuse([], refusal);
  }

  release(reason: string): void {
    this.#holds.delete(reason);
    if (this.#calls.length > 0) this.#schedule();
  }

  get isHeld(): boolean {
    return this.#holds.size > 0;
  }

  /**
   * Checks that there is room in the queue. @throws OVERLOADED if `entries` more would exceed the limit of the queue;
   * the refusal if entries are refused
   */
  checkRoom(entries: number): void {
    const refusal = this.#failure ?? this.#refusal;
    if (refusal !== undefined) throw refusal;
    if (this.#queued.size + entries > limits.maxQueuedAppends) {
      throw new ServiceError('OVERLOADED', `the queue of log entries cannot take ${entries} more; try again later`);
    }
  }

  /**
   * Signs a fresh head of the same size, so that readers see that the log is still active. Does nothing for an empty
   * log, while commits are held, or while calls are queued, because their commit signs a head.
   */
  resign(): void {
    if (this.#failure !== undefined || this.isHeld) return;
    if (this.#head !== undefined && this.#calls.length === 0) this.#attempt([]);
  }

  /** Signs the head that is due according to the publication schedule, if any. */
  publish(): void {
    if (this.#failure !== undefined || this.isHeld || this.#key.fault !== undefined) return;
    try {
      this.#publishDue();
    } catch (error) {
      if (!(error instanceof SignerError)) this.stop(error); // otherwise the next boundary retries
    }
  }

  /** Commits queued entries synchronously; rejects them while commits are held. */
  drain(): void {
    if (this.isHeld) return this.#refuse([], unavailable());
    clearImmediate(this.#scheduled);
    this.#scheduled = undefined;
    while (this.#calls.length > 0 && this.#failure === undefined) this.#attempt(this.#takeBatch());
  }

  /**
   * Commits queued entries synchronously and returns the size. Throws WORKER_LOST if the ledger has stopped, and
   * UNAVAILABLE while commits are held.
   */
  settle(): number {
    if (this.isHeld) throw unavailable();
    this.drain();
    if (this.#failure !== undefined) throw this.#failure;
    return this.#head?.size ?? 0;
  }

  /** Sets the key for all further heads. Queued entries must have been settled synchronously before. */
  signWith(key: SigningKey): void {
    this.#key = key;
  }

  /**
   * Stops permanently, because the content of the disk is unknown or differs from memory. Returns the error that calls
   * fail with.
   */
  stop(error: unknown): ServiceError {
    if (this.#failure !== undefined) return this.#failure;
    this.#failure = new ServiceError('WORKER_LOST', 'the ledger stopped; the outcome of pending appends is unknown');
    clearImmediate(this.#scheduled);
    for (const call of this.#calls.splice(0)) call.reject(this.#failure);
    this.#parts.onFatal(error);
    return this.#failure;
  }

  get #refusal(): ServiceError | undefined {
    for (const refusal of this.#holds.values()) if (refusal !== undefined) return refusal;
    return undefined;
  }

  get #nextIndex(): number {
    return (this.#head?.size ?? 0) + this.#queued.size;
  }

  #run(): void {
    this.#scheduled = undefined;
    this.#attempt(this.#takeBatch());
    if (this.#calls.length > 0 && this.#failure === undefined) this.#schedule();
  }

  #schedule(): void {
    if (!this.isHeld) this.#scheduled ??= setImmediate(() => this.#run());
  }

  #takeBatch(): Call[] {
    let entries = 0;
    let calls = 0;
    while (calls < this.#calls.length && (calls === 0 || entries < batchEntries)) {
      entries += this.#calls[calls++]!.entries.length;
    }
    return this.#calls.splice(0, calls);
  }

  #attempt(calls: Call[]): void {
    try {
      if (!this.#hasRoomFor(calls)) return this.#refuse(calls, diskFull());
      if (this.#key.fault !== undefined) return this.#refuse(calls, this.#key.fault);
      this.#commit(calls);
    } catch (error) {
      if (error instanceof SignerError) return this.#unsigned(calls, error);
      // After any failure, especially of a flush, the content of the disk is unknown, and the tree in memory may be
      // ahead of it. Reopening the log reads the content, as after a crash.
      this.#calls.unshift(...calls);
      this.stop(error);
    }
  }

  /**
   * Returns whether the volume has room for a commit. Checked before each commit of entries; takes 1 µs, much less than
   * a flush. Copied pages and nodes take at most as much as the entries; a head alone is small enough for the reserve.
   */
  #hasRoomFor(calls: readonly Call[]): boolean {
    let bytes = 0;
    for (const { entries } of calls) for (const { canonical } of entries) bytes += 2 * canonical.length;
    return bytes === 0 || this.#parts.freeBytes() >= limits.minFreeLedgerDiskBytes + bytes;
  }

  /**
   * Rejects calls before anything is written. Queued calls are rejected too, because their indices follow
   * those of `calls`.
   */
  #refuse(calls: readonly Call[], reason: ServiceError): void {
    this.#queued.clear();
    for (const call of [...calls, ...this.#calls.splice(0)]) call.reject(reason);
  }

  /**
   * Handles a head that was not signed. The tree in memory already has the new leaves, so it is reloaded as
   * committed.
   */
  #unsigned(calls: Call[], error: SignerError): void {
    const { storage } = this.#parts;
    const size = this.#head?.size ?? 0;
    const tree = GrowingTree.load(sha256, size, (page) => storage.page(page));
    this.#refuse(calls, error);
    if (tree === undefined) this.stop(new Error('the nodes on the right edge of the tree are inconsistent'));
    else this.#tree = tree;
  }

  #commit(calls: readonly Call[]): void {
    const { storage, leaves, clock, hooks } = this.#parts;
    const tree = this.#tree;
    const entries = calls.flatMap((call) => call.entries);
    if (calls.length > 0 && entries.length === 0 && this.#head !== undefined) return answer(calls, this.#head);
    this.#publishDue();
    const last = this.#head;
    const startMs = performance.now();

    // 1. The batch must extend the tree that was signed last.
    if (last !== undefined && !equalHashes(tree.root(), last.root)) throw edgeDiffers(last);
    hooks.at('batch-taken');
    // A crash here loses nothing: nothing was promised and nothing is written. The callers receive WORKER_LOST and
    // retry.

    // 2. Leaves, completed nodes, root, signature: in memory.
    const first = tree.size;
    for (const { hash } of entries) tree.append(hash);
    // With an ssh-agent, this call waits for the signature. If signing fails, only the tree in memory has changed.
    const head = signHead(tree.size, tree.root(), nextTimestamp(clock(), last?.timestampNs), this.#key);
    const buckets: LeafBucket[] = [];
    for (const { hash } of entries) buckets.push(...leaves.add(hash));
    hooks.at('head-signed');
    // After a crash here, a different head of the same size may be signed, because this signature never left the
    // process.

    // 3. One transaction.
    // 4. `commit` returns after the flush: LMDB writes the data pages, syncs them, and writes the meta page that makes
    //    them valid through a separate handle opened with O_DSYNC. After a crash before the meta page is on disk, the
    //    transaction never happened, and nothing was promised. After a crash between that write and step 5, the
    //    entries are in the log, but their callers received no response. The callers retry with the same ids and
    //    receive the same indices.
    storage.commit({ first, entries, pages: tree.takePages(), buckets, head }, () => hooks.at('in-transaction'));
    hooks.at('flushed');

    // 5. Only now do the head and the indices leave the process. A crash from here on loses nothing: start-up finds
    //    this head.
    this.#head = head;
    for (const { id } of entries) this.#queued.delete(id);
    answer(calls, head);
    hooks.at('released');

    // 6. The anchor follows (anchor.ts). A crash before it is written leaves the log ahead of its anchor,
    //    which is harmless; a log behind its anchor would be a rollback.
    this.#parts.onHead(head, entries.length, performance.now() - startMs);
  }

  /**
   * Signs the tree as of the last boundary of the publication schedule, before leaves are added to the tree. This
   * is a separate transaction, with a timestamp between those of the heads around it.
   */
  #publishDue(): void {
    const { publication, clock, storage, tree, hooks } = this.#parts;
    const last = this.#head;
    const timestampNs = last && publication?.due(clock(), last.timestampNs);
    if (last === undefined || timestampNs === undefined) return;
    if (!equalHashes(tree.root(), last.root)) throw edgeDiffers(last);
    const startMs = performance.now();
    const head = signHead(last.size, last.root, timestampNs, this.#key);
    storage.commit({ first: last.size, entries: [], pages: [], buckets: [], head }, () => hooks.at('in-transaction'));
    this.#head = head;
    this.#parts.onHead(head, 0, performance.now() - startMs);
  }
}

function edgeDiffers({ size }: SignedHead): Error {
  return new Error(`the right edge in memory does not match the root signed for ${size} leaves`);
}

function answer(calls: readonly Call[], head: SignedHead): void {
  for (const call of calls) call.resolve(call.slots.map((slot) => ({ ...slot, tree_size: head.size })));
}

function unavailable(): ServiceError {
  return new ServiceError('UNAVAILABLE', 'the log accepts no entries for now; nothing was stored');
}

/** Returns UNAVAILABLE with the reason `disk_full`. */
export function diskFull(): ServiceError {
  return new ServiceError('UNAVAILABLE', 'the disk is full; nothing was stored', { reason: 'disk_full' });
}
