import type { SignedTreeHead } from '../contract/resources/transparency.ts';
import { invalidField, ServiceError } from '../errors.ts';
import { canonicalUuid } from '../uuid.ts';
import { Anchor } from './anchor.ts';
import { signEntry } from './entry.ts';
import { type Clock, milliseconds, toJson } from './heads.ts';
import { type LedgerHooks, noHooks } from './hooks.ts';
import type { Journal } from './journal.ts';
import type { KeyRing } from './keys.ts';
import type {
  Appended,
  ConsistencyProof,
  InclusionProof,
  LeafQuery,
  Ledger,
  LedgerHealth,
  LedgerStatus,
  PublicJwk,
  StoredLeaf,
  UnsignedEntry,
} from './ledger.ts';
import type { LedgerCounter } from './methods.ts';
import { Nodes } from './nodes.ts';
import { logEmpty, Prover, UnsoundProofError } from './prover.ts';
import { Sequencer } from './sequencer.ts';
import { corrupt, type Recovered } from './startup.ts';
import { DamagedError, type LedgerStorage, type SignedHead } from './storage.ts';

/** An idle log signs its head anew after this time, so that readers can see that it is fresh. */
const idleNs = 3600n * 1_000_000_000n;
const tickMs = 60_000;

export interface LedgerOptions {
  readonly dataDir: string;
  /** Default: `<dataDir>/anchor.json`. On another volume it also shows a rollback of the whole data folder. */
  readonly anchorPath?: string;
  readonly clock?: Clock;
  readonly counters?: {
    add(name: LedgerCounter, amount?: number): void;
    set(name: LedgerCounter, value: number): void;
  };
  readonly hooks?: LedgerHooks;
  /**
   * The disk failed, or the log in memory can't be trusted: nothing is appended any more, and the thread must end.
   * Default: throws it out of the event loop, which ends the thread.
   */
  onFatal?(error: unknown): void;
}

/** What `openLedger` found in the data folder. */
export interface LedgerParts {
  readonly storage: LedgerStorage | undefined;
  readonly keys: KeyRing;
  readonly recovered: Recovered | undefined;
  readonly health: LedgerHealth;
  readonly journal: Journal;
  readonly anchorPath: string;
  readonly clock: Clock;
}

/** The ledger over a data folder. Owner of its health; the sequencer owns the end of the log. */
export class DurableLedger implements Ledger {
  readonly #options: LedgerOptions;
  readonly #parts: LedgerParts;
  readonly #anchor: Anchor;
  readonly #sequencer: Sequencer | undefined;
  readonly #nodes: Nodes | undefined;
  readonly #prover: Prover | undefined;
  /** What a log that doesn't go on ends with, as far as it can be read. */
  readonly #lastHead: SignedHead | undefined;
  #health: LedgerHealth;
  #timer: NodeJS.Timeout | undefined;
  #journalDay = '';
  #closing: Promise<void> | undefined;

  constructor(options: LedgerOptions, parts: LedgerParts) {
    const { storage, keys, recovered, clock } = parts;
    const hooks = options.hooks ?? noHooks;
    this.#options = options;
    this.#parts = parts;
    this.#health = parts.health;
    const fail = (error: unknown): void => this.#fail(error);
    this.#anchor = new Anchor(parts.anchorPath, hooks, fail);
    if (storage === undefined) return;
    this.#nodes = new Nodes(storage);
    this.#lastHead = readableHead(storage);
    const key = keys.active('transparency-sth');
    if (recovered !== undefined && key !== undefined) {
      this.#sequencer = new Sequencer({
        ...recovered,
        storage,
        key,
        clock,
        hooks,
        onHead: (head, entries, commitMs) => this.#released(head, entries, commitMs),
        onFatal: fail,
      });
    }
    this.#prover = new Prover({
      storage,
      nodes: this.#nodes,
      leaves: recovered?.leaves,
      head: () => this.#head,
      onVerified: () => options.counters?.add('proofs_verified'),
    });
  }

  /** Writes the journal's line for this start and starts the clockwork. Called once, by `openLedger`. */
  async begin(event: 'initialised' | 'start'): Promise<void> {
    this.#count();
    await this.#journal(event);
    const head = this.#head;
    if (head !== undefined && this.#health.state === 'ok') this.#anchor.schedule(head);
    this.#timer = setInterval(() => void this.tick(), tickMs).unref();
  }

  async append(entries: readonly UnsignedEntry[]): Promise<Appended[]> {
    const { sequencer, nodes } = this.#appendable();
    if (!Array.isArray(entries) || entries.length === 0)
      throw invalidField('entries', 'must be a list of entries');
    sequencer.checkRoom(entries.length);
    const key = this.#parts.keys.active('event-signing');
    if (key === undefined) throw new ServiceError('UNAVAILABLE', 'there is no event-signing key');
    const size = sequencer.head?.size ?? 0;
    const items = entries.map((entry, i) => {
      const id = canonicalUuid(entry?.id);
      const known = id
        ? sequencer.find(id, (index) => this.#read(() => nodes.hashAt({ level: 0, index }, size)))
        : undefined;
      return known ?? { id: entry?.id, canonical: signEntry(entry, key, `entries[${i}]`) };
    });
    return sequencer.append(items);
  }

  async head(treeSize?: number): Promise<SignedTreeHead> {
    const latest = this.#head;
    if (treeSize !== undefined && (!Number.isSafeInteger(treeSize) || treeSize < 0)) {
      throw invalidField('tree_size', 'must be an integer from 0');
    }
    if (latest === undefined) throw this.#storage() && logEmpty();
    const head =
      treeSize === undefined || treeSize === latest.size ? latest : this.#storage().headOf(treeSize);
    if (head === undefined) throw new ServiceError('NOT_FOUND', `no head was signed for ${treeSize} leaves`);
    return toJson(head);
  }

  async inclusion(leaf: LeafQuery, treeSize?: number): Promise<InclusionProof> {
    const proof = this.#prove((prover) => prover.inclusion(leaf, treeSize));
    this.#options.counters?.add('proofs');
    return proof;
  }

  async consistency(first: number, second: number): Promise<ConsistencyProof> {
    const proof = this.#prove((prover) => prover.consistency(first, second));
    this.#options.counters?.add('proofs');
    return proof;
  }

  async leaf(leaf: LeafQuery): Promise<StoredLeaf> {
    return this.#prove((prover) => prover.leaf(leaf));
  }

  async keys(): Promise<PublicJwk[]> {
    return this.#parts.keys.publicJwks();
  }

  async accessTokenKey(): Promise<PublicJwk> {
    const jwk = this.#parts.keys.privateJwk('access-token');
    if (jwk === undefined) throw new ServiceError('UNAVAILABLE', 'there is no access-token key');
    return jwk;
  }

  async status(): Promise<LedgerStatus> {
    const head = this.#head;
    const kid = head?.keyId ?? this.#parts.keys.active('transparency-sth')?.kid ?? '';
    return {
      size: head?.size ?? 0,
      head: head && toJson(head),
      health: this.#health,
      sth_key_id: kid,
      sth_key_fingerprint: this.#parts.keys.fingerprint(kid) ?? '',
    };
  }

  /** What is due by the clock: a fresh head for an idle log, the day's line in the journal. */
  async tick(): Promise<void> {
    if (this.#closing !== undefined || this.#health.state !== 'ok') return;
    const now = this.#parts.clock();
    const head = this.#head;
    if (head !== undefined && now - head.timestampNs >= idleNs) this.#sequencer?.resign();
    if (dayOf(now) > this.#journalDay) {
      await this.#journal('day').catch((error: unknown) => this.#fail(error));
    }
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    clearInterval(this.#timer);
    this.#sequencer?.drain();
    await this.#anchor.flush();
    await this.#parts.storage?.close();
  }

  get #head(): SignedHead | undefined {
    return this.#sequencer === undefined ? this.#lastHead : this.#sequencer.head;
  }

  #appendable(): { sequencer: Sequencer; nodes: Nodes } {
    if (this.#closing !== undefined) throw new ServiceError('UNAVAILABLE', 'the ledger is closing');
    if (this.#health.state === 'degraded') throw degraded(this.#health);
    if (this.#sequencer === undefined || this.#nodes === undefined)
      throw new Error('a healthy ledger has no sequencer');
    return { sequencer: this.#sequencer, nodes: this.#nodes };
  }

  #storage(): LedgerStorage {
    if (this.#closing !== undefined) throw new ServiceError('UNAVAILABLE', 'the ledger is closing');
    if (this.#parts.storage !== undefined) return this.#parts.storage;
    if (this.#health.state === 'degraded') throw degraded(this.#health);
    throw new Error('a healthy ledger has no storage');
  }

  #prove<T>(make: (prover: Prover) => T): T {
    this.#storage();
    const prover = this.#prover;
    if (prover === undefined) throw new Error('a ledger with storage has no prover');
    return this.#read(() => make(prover));
  }

  /** Damage that is met while reading degrades the log from then on. */
  #read<T>(read: () => T): T {
    try {
      return read();
    } catch (error) {
      if (!(error instanceof DamagedError || error instanceof UnsoundProofError)) throw error;
      const { fault, advice } = corrupt(error.message);
      if (this.#health.state === 'ok') this.#health = { state: 'degraded', fault, advice };
      this.#count();
      throw new ServiceError('UNAVAILABLE', `this cannot be proved: ${advice}`);
    }
  }

  #released(head: SignedHead, entries: number, commitMs: number): void {
    this.#options.counters?.add('commit_us', Math.round(commitMs * 1000));
    this.#options.counters?.add('entries', entries);
    this.#options.counters?.add('commits');
    this.#count();
    this.#anchor.schedule(head);
  }

  #count(): void {
    this.#options.counters?.set('size', this.#head?.size ?? 0);
    this.#options.counters?.set('degraded', this.#health.state === 'ok' ? 0 : 1);
  }

  async #journal(event: 'initialised' | 'start' | 'day'): Promise<void> {
    const now = this.#parts.clock();
    this.#journalDay = dayOf(now);
    const at = new Date(milliseconds(now));
    await this.#parts.journal.write({ at, event, head: this.#head, health: this.#health });
  }

  #fail(error: unknown): void {
    clearInterval(this.#timer);
    const fatal = this.#options.onFatal ?? throwOutOfThread;
    fatal(error);
  }
}

function readableHead(storage: LedgerStorage): SignedHead | undefined {
  try {
    return storage.latestHead();
  } catch (error) {
    if (error instanceof DamagedError) return undefined;
    throw error;
  }
}

function degraded(health: Extract<LedgerHealth, { state: 'degraded' }>): ServiceError {
  return new ServiceError('UNAVAILABLE', health.advice, { fault: health.fault });
}

function dayOf(ns: bigint): string {
  return new Date(milliseconds(ns)).toISOString().slice(0, 10);
}

function throwOutOfThread(error: unknown): void {
  setImmediate(() => {
    throw error;
  });
}
