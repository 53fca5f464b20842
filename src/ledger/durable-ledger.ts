import { join } from 'node:path';
import { receiptBytes } from '../contract/receipt-bytes.ts';
import type { ReceiptStatement } from '../contract/resources/receipt.ts';
import type { SignedTreeHead } from '../contract/resources/transparency.ts';
import { sha256 } from '../crypto/sha256.ts';
import { invalidField, ServiceError } from '../errors.ts';
import { freeBytesOf } from '../files/free-bytes.ts';
import { limits } from '../limits.ts';
import type { LogPositions } from '../store/log-positions.ts';
import { bytesToHex } from '../tlog/hex.ts';
import { formatVerifierKey, signatureTypes, verifierKey } from '../tlog/note.ts';
import type { TileAddress } from '../tlog/tile.ts';
import type { ObservedAnchor } from './anchor.ts';
import type { ClockMemoryFile } from './clock-memory.ts';
import { clockRefused, corrupt, damageAdvice, dataDamaged, type UntrustedLogError } from './distrust.ts';
import { draftEntry } from './entry.ts';
import { EntrySigner } from './entry-signer.ts';
import { checkWindow, datedForAppend } from './entry-window.ts';
import { ExternalHeadWriter } from './external-head-writer.ts';
import { type Clock, headJudge, milliseconds, toJson } from './heads.ts';
import { type LedgerHooks, noHooks } from './hooks.ts';
import type { Journal, JournalReading } from './journal.ts';
import type { AgentKeys, AgentOptions } from './keys/agent-keys.ts';
import { type KeyChange, KeyChanges } from './keys/key-changes.ts';
import { type LifeStart, recordOf } from './keys/key-file.ts';
import type { Key, KeyRing } from './keys/key-ring.ts';
import { noRotation, type RotationSchedule } from './keys/rotation-schedule.ts';
import { lifeIsLogged } from './keys/start-life.ts';
import type {
  AccessTokenKeys,
  Appended,
  ChangedKey,
  ConsistencyProof,
  EntriesPage,
  EntriesQuery,
  HeadsPage,
  HeadsQuery,
  InclusionProof,
  KeyRecord,
  LeafQuery,
  Ledger,
  LedgerCopy,
  LedgerHealth,
  LedgerKeyPurpose,
  LedgerStatus,
  LogView,
  ProofBundle,
  PublicJwk,
  ReadReport,
  ReceiptSignature,
  ScrubProgress,
  StoredLeaf,
  UnsignedEntry,
} from './ledger.ts';
import { type LifeRecord, lifeEntry, lifeRecord, regressionOf } from './lives/life-entry.ts';
import type { StoreAge } from './lives/store-age.ts';
import type { LogClock, SteadyClock } from './log-clock.ts';
import type { LedgerCounter } from './methods.ts';
import type { OpenFindings } from './open-findings.ts';
import { openPublication, type PublicationSchedule } from './publication.ts';
import { currentHeads } from './reads/head-view.ts';
import { LedgerReads } from './reads/ledger-reads.ts';
import { PublishedHeads } from './reads/published-heads.ts';
import { isSigned, VerifiedHeads } from './reads/verified-heads.ts';
import { VerifiedNodes } from './reads/verified-nodes.ts';
import { diskFull, Sequencer } from './sequencer.ts';
import { isCheckpointKeyNew, watchCheckpointKey } from './start-findings.ts';
import { compareExternalRecords, type ExternalRecords, type Recovered, readableHead } from './startup.ts';
import { copyLedger } from './storage/copy.ts';
import { Nodes } from './storage/nodes.ts';
import { DamagedError, type LedgerStorage, type SignedHead, type StoredEntry } from './storage/storage.ts';

/** Interval after which an idle log signs its head again, so that readers see that the log is still active. */
const idleMs = 3_600_000;
const tickMs = 60_000;

export interface LedgerOptions {
  readonly dataDir: string;
  /**
   * Path of the anchor. Default: `<dataDir>/anchor.json`. An anchor on another volume also reveals a rollback of the
   * whole data folder.
   */
  readonly anchorPath?: string;
  /**
   * Whether appends are refused (default) or queued (up to `limits.maxQueuedAppends`) while the anchor cannot
   * be written.
   */
  readonly anchorLoss?: 'refuse' | 'wait';
  /** The log's name in checkpoints. Default: the existing name; for a new log `candor.log/<kid>`. */
  readonly origin?: string;
  /** Encrypts private keys. Default: private keys are stored unencrypted. */
  readonly keyPassphrase?: string;
  /** Public readers see only heads that are at least this old. Default 0: all heads immediately. */
  readonly publicationDelayMs?: number;
  /** Keys in an ssh-agent. Default: keys are files. */
  readonly agent?: AgentOptions;
  /** Schedule of key rotations. Default: keys are rotated only on request. */
  readonly rotation?: RotationSchedule;
  readonly clock?: Clock;
  /**
   * Monotonic clocks. Default: the system's. If only `clock` is given, that clock is used, and clock jumps are not
   * detected.
   */
  readonly steady?: SteadyClock;
  /** Whether to accept the host clock even if the last head contradicts it. For offline commands of the operator. */
  readonly acceptClock?: boolean;
  readonly counters?: {
    add(name: LedgerCounter, amount?: number): void;
    set(name: LedgerCounter, value: number): void;
  };
  readonly hooks?: LedgerHooks;
  /** Whether appends are refused if the data folder is a copy. Default: true. */
  readonly detectCopies?: boolean;
  /** Reads the records of the log in the event database; undefined if there is no such database. */
  readonly logPositions?: () => Promise<LogPositions | undefined>;
  /** Returns the free bytes of the volume. Default: queries the system. */
  readonly freeBytes?: () => number;
  /**
   * Called when the disk failed or the in-memory state cannot be trusted. Nothing is appended afterwards, and the
   * thread must end. Default: throws the error out of the event loop, which ends the thread.
   */
  onFatal?(error: unknown): void;
}

/** The state that `openLedger` found in the data folder. */
export interface LedgerParts {
  readonly storage: LedgerStorage | undefined;
  readonly keys: KeyRing;
  /** Signs with keys in an ssh-agent; absent if all keys are files. */
  readonly agent: AgentKeys | undefined;
  readonly recovered: Recovered | undefined;
  readonly health: LedgerHealth;
  readonly journal: Journal;
  /** Reason why the journal could not be read; undefined if it was read. */
  readonly journalUnread: string | undefined;
  readonly anchor: ObservedAnchor;
  /** A life whose keys exist but whose entry may be missing from the log. */
  readonly lifeStart: LifeStart | undefined;
  readonly remembered: JournalReading;
  /** The current life of the log according to the event database. */
  readonly eventsLife: string | undefined;
  readonly warnings: readonly string[];
  readonly findings: OpenFindings;
  readonly anchorPath: string;
  readonly clock: LogClock;
  readonly clockMemory: ClockMemoryFile;
  readonly storeAge: StoreAge;
}

/** The ledger over a data folder. Owns its health; the sequencer owns the end of the log. */
export class DurableLedger implements Ledger {
  readonly #options: LedgerOptions;
  readonly #parts: LedgerParts;
  readonly #externalHeads: ExternalHeadWriter;
  readonly #sequencer: Sequencer | undefined;
  readonly #signer: EntrySigner<Appended[]> | undefined;
  readonly #nodes: VerifiedNodes | undefined;
  /** Reads as of the latest head. */
  readonly #reads: LedgerReads | undefined;
  /** Reads as of the latest published head. */
  readonly #published: LedgerReads | undefined;
  readonly #publication: PublicationSchedule | undefined;
  readonly #keyChanges: KeyChanges | undefined;
  /** The last readable head of a log that does not accept entries. */
  readonly #lastHead: SignedHead | undefined;
  #health: LedgerHealth;
  /** The start of the current life. */
  #life: LifeRecord | undefined;
  readonly #freeBytes: () => number;
  #failed = false;
  #scrub: ScrubProgress | undefined;
  /** Unix time in milliseconds. */
  #damageFoundAt = 0;
  #publishTimer: NodeJS.Timeout | undefined;
  #timer: NodeJS.Timeout | undefined;
  /** Time of the last head by the steady clock, in milliseconds. */
  #headAtMs = 0;
  #closing: Promise<void> | undefined;
  #copying: Promise<LedgerCopy> | undefined;

  constructor(options: LedgerOptions, parts: LedgerParts) {
    const { storage, keys, recovered, health } = parts;
    const clock = () => parts.clock.now();
    const hooks = options.hooks ?? noHooks;
    this.#options = options;
    this.#freeBytes = options.freeBytes ?? (() => freeBytesOf(options.dataDir));
    this.#parts = parts;
    this.#health = health;
    this.#life = recovered?.life;
    const fail = (error: unknown): void => this.#fail(error);
    this.#externalHeads = this.#createExternalHeadWriter(hooks);
    if (storage === undefined) return;
    this.#lastHead = readableHead(storage);
    const heads = currentHeads(storage, () => this.#head);
    this.#publication = openPublication(storage, options.publicationDelayMs ?? 0, clock, health.state === 'ok');
    const nodes = new VerifiedNodes(storage, () => this.#head);
    const reading = {
      ...{ storage, nodes },
      keys: () => keys,
      leaves: () => recovered?.leaves,
      verified: new VerifiedHeads((head) => isSigned(head, { keys, storage, latest: this.#head })),
      count: (counter: LedgerCounter) => options.counters?.add(counter),
      onDamage: (message: string, isEdge: boolean) => this.#damaged(message, isEdge),
    };
    this.#nodes = nodes;
    this.#reads = new LedgerReads({ ...reading, heads });
    this.#published = this.#publication.isImmediate
      ? this.#reads
      : new LedgerReads({ ...reading, heads: new PublishedHeads(storage, this.#publication, clock) });
    const key = keys.active('transparency-sth');
    if (recovered !== undefined && key !== undefined) {
      this.#sequencer = new Sequencer({
        ...recovered,
        storage,
        key,
        clock,
        hooks,
        freeBytes: this.#freeBytes,
        publication: this.#publication,
        onHead: (head, entries, commitMs) => this.#released(head, entries, commitMs),
        onFatal: fail,
      });
      this.#signer = new EntrySigner({
        key: () => keys.active('event-signing') ?? noEventKey(),
        next: (entries) => this.#enqueue(entries),
      });
      this.#keyChanges = new KeyChanges({
        ...{ keys, hooks, sequencer: this.#sequencer, findings: parts.findings },
        clock: () => this.#keyTime,
        indexOf: (id) => this.#forAppend(() => storage.indexOf(id)),
        schedule: options.rotation ?? noRotation,
        append: async (entries) => {
          this.#requireLife();
          return this.#append(entries, 'even without a clock');
        },
      });
    }
  }

  /** Begins a pending life, writes this start to the journal and starts the timers. Called once, by `openLedger`. */
  async begin(event: 'initialised' | 'start'): Promise<void> {
    // An operator has just begun a life from a log that may be as old as a backup, so the clock is accepted.
    const acceptClock = this.#options.acceptClock === true || this.#isLifePending;
    if (acceptClock && this.#sequencer !== undefined) await this.confirmClock();
    this.#checkClock();
    this.#headAtMs = this.#parts.clock.runningMs() - this.#headAgeMs();
    if (this.#isSound) this.#externalHeads.begin(this.#head);
    try {
      await this.#beginLife().catch(unlessRetriable);
      if (!this.#isHeld && !this.#isLifePending) await this.#keyChanges?.tick();
    } catch (error) {
      if (this.#isSound) throw error; // otherwise the damage is already reported in the health
    }
    if (this.#hasRoom()) this.#watchCheckpointKey('always');
    this.#count();
    await this.#externalHeads.record(event, this.#head, this.#health);
    await this.#journalLife();
    await this.#parts.storeAge.write();
    this.#timer = setInterval(() => void this.tick(), tickMs).unref();
    this.#publishLater();
  }

  async append(entries: readonly UnsignedEntry[]): Promise<Appended[]> {
    this.#requireLife();
    return this.#append(entries);
  }

  #requireLife(): void {
    if (!this.#isLifePending) return;
    throw new ServiceError('UNAVAILABLE', 'the first entry of this life of the log cannot be written yet');
  }

  async #append(entries: readonly UnsignedEntry[], when?: 'even without a clock'): Promise<Appended[]> {
    const { sequencer, signer } = this.#appendable(when);
    if (!Array.isArray(entries) || entries.length === 0)
      throw invalidField('entries', 'must be a non-empty list of entries');
    sequencer.checkRoom(entries.length + signer.entries);
    const nowMs = milliseconds(when === undefined ? this.#parts.clock.now() : this.#keyTime);
    const drafts = entries.map((entry, i) => {
      const draft = draftEntry(entry, `entries[${i}]`);
      checkWindow(entry, nowMs, `entries[${i}]`);
      return draft;
    });
    return signer.sign(drafts);
  }

  async signReceipt(receipt: ReceiptStatement): Promise<ReceiptSignature> {
    this.#appendable();
    const key = this.#parts.keys.active('event-signing') ?? noEventKey();
    return { key_id: key.kid, signature: bytesToHex(await key.signLater(receiptBytes(receipt))) };
  }

  async head(treeSize?: number): Promise<SignedTreeHead> {
    return this.#readable().head(treeSize);
  }

  async inclusion(leaf: LeafQuery, treeSize?: number): Promise<InclusionProof> {
    return this.#readable().inclusion(leaf, treeSize);
  }

  async consistency(first: number, second: number): Promise<ConsistencyProof> {
    return this.#readable().consistency(first, second);
  }

  async leaf(leaf: LeafQuery): Promise<StoredLeaf> {
    return this.#readable().leaf(leaf);
  }

  async heads(query: HeadsQuery): Promise<HeadsPage> {
    return this.#readable().heads(query);
  }

  async entries(query: EntriesQuery): Promise<EntriesPage> {
    return this.#readable().entries(query);
  }

  async bundle(leaf: LeafQuery, published?: string, view: LogView = 'current'): Promise<ProofBundle> {
    const reads = this.#readable(view);
    // A log that may have been rolled back signs no checkpoint: see `#trustedReads`.
    const signed = () => (this.#health.state === 'ok' ? reads.checkpoint() : undefined);
    return reads.bundle(leaf, { published, signed });
  }

  async checkpoint(view: LogView = 'published'): Promise<string> {
    return this.#trustedReads(view).checkpoint();
  }

  async keepCheckpoint(note: string): Promise<void> {
    const reads = this.#trustedReads();
    if (!this.#hasRoom()) throw diskFull();
    try {
      reads.keepCheckpoint(note);
    } catch (error) {
      // Stops the ledger, as after a failed commit, because only reopening the log shows what is on disk.
      if (!(error instanceof ServiceError)) this.#fail(error);
      throw error;
    }
  }

  async keptCheckpoint(): Promise<string | undefined> {
    return this.#readable().keptCheckpoint();
  }

  async tile(tile: TileAddress): Promise<Uint8Array<ArrayBuffer>> {
    return this.#readable().tile(tile);
  }

  async entryBundle(index: number, width: number): Promise<Uint8Array<ArrayBuffer>> {
    return this.#readable().entryBundle(index, width);
  }

  async keys(): Promise<PublicJwk[]> {
    return this.#parts.keys.publicJwks();
  }

  async currentKeys(): Promise<PublicJwk[]> {
    return this.#parts.keys.currentJwks(this.#head?.keyId);
  }

  async keyRecords(): Promise<KeyRecord[]> {
    return this.#parts.keys.records();
  }

  async rotateKey(purpose: LedgerKeyPurpose, actor: string): Promise<ChangedKey> {
    return this.#changeKeys((changes) => changes.rotate(purpose, actor));
  }

  async retireKey(kid: string, actor: string): Promise<ChangedKey> {
    return this.#changeKeys((changes) => changes.retire(kid, actor));
  }

  async revokeKey(kid: string, reason: string, actor: string): Promise<ChangedKey> {
    return this.#changeKeys((changes) => changes.revoke(kid, reason, actor));
  }

  async accessTokenKeys(): Promise<AccessTokenKeys> {
    return this.#parts.keys.accessTokenKeys(milliseconds(this.#parts.clock.now()));
  }

  async copyTo(folder: string): Promise<LedgerCopy> {
    this.#trustedReads(); // an untrusted log must not be copied as if it were good
    const storage = this.#storage();
    if (this.#copying !== undefined) throw new ServiceError('CONFLICT', 'a copy of the log is already in progress');
    const copy = () => copyLedger(storage, join(this.#options.dataDir, 'keys'), folder);
    const copying = this.#keyChanges === undefined ? copy() : this.#keyChanges.hold(copy);
    this.#copying = copying.finally(() => {
      this.#copying = undefined;
    });
    return this.#copying;
  }

  async confirmClock(): Promise<void> {
    const { clock, clockMemory } = this.#parts;
    clock.confirm(this.#head?.timestampNs);
    this.#checkClock();
    await clockMemory.write(clock.memory);
  }

  async status(): Promise<LedgerStatus> {
    const head = this.#head;
    const regression = this.#life === undefined ? this.#parts.remembered.regression : regressionOf(this.#life);
    const kid = head?.keyId ?? this.#parts.keys.active('transparency-sth')?.kid ?? '';
    return {
      size: head?.size ?? 0,
      head: head && toJson(head),
      health: this.#shownHealth,
      sth_key_id: kid,
      sth_key_fingerprint: this.#parts.keys.fingerprint(kid) ?? '',
      checkpoint_vkey: checkpointKey(this.#parts.keys.active('checkpoint')),
      ...(this.#life === undefined ? {} : { life: { id: this.#life.id, at: this.#life.at } }),
      ...(this.#isLifePending ? { life_pending: true } : {}),
      ...(regression === undefined ? {} : { regression }),
      warnings: this.#parts.warnings,
      findings: this.#parts.findings.list(),
      ...(this.#scrub === undefined ? {} : { scrub: this.#scrub }),
    };
  }

  async reportReads({ damage, clean_pass_began_at = 0, scrub }: ReadReport): Promise<void> {
    this.#scrub = scrub;
    if (damage !== undefined && damage.at > this.#damageFoundAt) this.#damaged(damage.message, damage.is_edge);
    if (clean_pass_began_at > this.#damageFoundAt) this.#parts.findings.clear('data_damaged');
  }

  /** Runs timed work: a fresh head for an idle log, key changes, the daily journal line. */
  async tick(): Promise<void> {
    if (this.#closing === undefined) void this.#parts.storeAge.write();
    if (this.#closing !== undefined || this.#failed || !this.#isSound) return;
    this.#checkClock();
    if (!this.#hasRoom()) return; // a failed write would end the thread, so timed work waits for disk space
    await this.#externalHeads.tick(this.#head, this.#health);
    if (this.#externalHeads.isAnchorLost) return;
    // Until the entry that begins a life is logged, nothing else is signed.
    if (this.#isLifePending)
      return this.#beginLife()
        .catch(unlessRetriable)
        .catch((error: unknown) => this.#fail(error));
    if (this.#parts.clock.runningMs() - this.#headAtMs >= idleMs) this.#sequencer?.resign();
    await this.#keyChanges?.tick().catch((error: unknown) => this.#fail(error));
    this.#watchCheckpointKey('if new');
  }

  /** Signs the head that is due at each boundary of the publication schedule. */
  #publishLater(): void {
    const waitMs = this.#publication?.untilNext(this.#parts.clock.now());
    if (waitMs === undefined) return;
    this.#publishTimer = setTimeout(() => {
      if (this.#closing !== undefined || this.#failed) return;
      if (this.#health.state === 'ok' && this.#hasRoom()) this.#sequencer?.publish();
      this.#publishLater();
    }, waitMs).unref();
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    clearInterval(this.#timer);
    clearTimeout(this.#publishTimer);
    await this.#signer?.idle();
    this.#sequencer?.drain();
    await this.#keyChanges?.close();
    await this.#externalHeads.close();
    await this.#copying?.catch(() => undefined);
    await this.#parts.storeAge.write();
    if (this.#sequencer !== undefined) await this.#parts.clockMemory.write(this.#parts.clock.memory);
    await this.#parts.agent?.close();
    await this.#parts.storage?.close();
  }

  /** Queues entries. Entries that are already in the log or queued keep their indices. */
  #enqueue(entries: readonly StoredEntry[]): Promise<Appended[]> {
    const [sequencer, nodes] = [this.#sequencer, this.#nodes];
    if (sequencer === undefined || nodes === undefined) throw new Error('the log does not accept entries');
    const hashAt = (index: number) => nodes.hashAt({ level: 0, index });
    return sequencer.append(this.#forAppend(() => entries.map((entry) => sequencer.find(entry.id, hashAt) ?? entry)));
  }

  get #head(): SignedHead | undefined {
    return this.#sequencer === undefined ? this.#lastHead : this.#sequencer.head;
  }

  async #changeKeys(change: (changes: KeyChanges) => Promise<KeyChange>): Promise<ChangedKey> {
    this.#appendable('even without a clock'); // a stolen key must be revoked immediately
    if (this.#externalHeads.isAnchorLost) throw degraded(anchorLost); // the change could not be logged
    if (this.#keyChanges === undefined) throw new Error('keys cannot be changed: the ledger is not open');
    const { key, entryIds } = await change(this.#keyChanges);
    return { ...recordOf(key.file, key.fingerprint), entry_ids: entryIds };
  }

  /**
   * Returns reads of a trusted log. A log that may have been rolled back signs no checkpoint, because the checkpoint
   * could contradict an earlier checkpoint. Checkpoints are public, and are therefore made from published heads by
   * default.
   */
  #trustedReads(view: LogView = 'published'): LedgerReads {
    const reads = this.#readable(view);
    if (this.#unsound !== undefined) throw degraded(this.#unsound);
    return reads;
  }

  /** @param when - set for key changes, which are logged even if the clock is refused */
  #appendable(when?: 'even without a clock'): { sequencer: Sequencer; signer: EntrySigner<Appended[]> } {
    if (this.#closing !== undefined) throw new ServiceError('UNAVAILABLE', 'the ledger is closing');
    if (this.#isSound) this.#checkClock();
    const health = this.#shownHealth;
    const isExempt = when !== undefined && health.state === 'degraded' && health.fault === 'clock';
    if (health.state === 'degraded' && !isExempt) throw degraded(health);
    if (this.#sequencer === undefined || this.#signer === undefined)
      throw new Error('internal error: the ledger is healthy, but has no sequencer');
    this.#sequencer.checkRoom(0); // throws if commits are held, because then nothing may be signed
    return { sequencer: this.#sequencer, signer: this.#signer };
  }

  #storage(): LedgerStorage {
    if (this.#closing !== undefined) throw new ServiceError('UNAVAILABLE', 'the ledger is closing');
    if (this.#parts.storage !== undefined) return this.#parts.storage;
    if (this.#health.state === 'degraded') throw degraded(this.#health);
    throw new Error('internal error: the ledger is healthy, but has no storage');
  }

  #readable(view: LogView = 'current'): LedgerReads {
    this.#storage();
    const reads = view === 'current' ? this.#reads : this.#published;
    if (reads === undefined) throw new Error('internal error: the ledger has storage, but its reads are not open');
    return reads;
  }

  /**
   * Records damage and returns the error for the read. Damage to an old entry or page becomes a finding while appends
   * continue, because appends do not need old data. Damage to the latest head or to the right edge also degrades the
   * log.
   */
  #damaged(message: string, isEdge: boolean): ServiceError {
    this.#damageFoundAt = Date.now();
    this.#parts.findings.raise('data_damaged', damageAdvice(message, isEdge));
    if (isEdge) this.#degrade(message);
    return dataDamaged(message);
  }

  #degrade(message: string): ServiceError {
    const found = corrupt(message);
    const { fault } = found;
    const advice = found.advice(this.#head?.size);
    if (this.#isSound) this.#health = { state: 'degraded', fault, advice };
    this.#count();
    return new ServiceError('UNAVAILABLE', `the log accepts no entries: ${advice}`, { fault });
  }

  /**
   * Runs a read that an append depends on. Damage degrades the log, so that no entry is appended twice or
   * lost.
   */
  #forAppend<T>(read: () => T): T {
    try {
      return read();
    } catch (error) {
      if (error instanceof DamagedError) throw this.#degrade(error.message);
      throw error;
    }
  }

  #released(head: SignedHead, entries: number, commitMs: number): void {
    this.#options.counters?.add('commit_us', Math.round(commitMs * 1000));
    this.#options.counters?.add('entries', entries);
    this.#options.counters?.add('commits');
    this.#count();
    this.#headAtMs = this.#parts.clock.runningMs();
    this.#externalHeads.schedule(head);
  }

  /** Reason why the log is not trusted; undefined if it is trusted. An implausible clock is not such a reason. */
  get #unsound(): Degraded | undefined {
    return this.#health.state === 'degraded' && this.#health.fault !== 'clock' ? this.#health : undefined;
  }

  get #isSound(): boolean {
    return this.#unsound === undefined;
  }

  /** Refuses entries while the time is implausible, and accepts them again automatically. */
  #checkClock(): void {
    if (!this.#isSound || this.#sequencer === undefined) return;
    const { clock, clockMemory, findings } = this.#parts;
    const { fault, finding } = clock.check(this.#head?.timestampNs);
    if (finding === undefined) findings.clear('clock_jumped');
    else findings.raise('clock_jumped', finding);
    this.#health = fault === undefined ? { state: 'ok' } : clockRefused(fault);
    this.#count();
    void clockMemory.write(clock.memory);
  }

  /**
   * The time of key changes: the clock's time or, if the clock is refused because it is behind the last head, the time
   * of that head. Auditors report entries that are dated long before their head.
   */
  get #keyTime(): bigint {
    const now = this.#parts.clock.now();
    const last = this.#head?.timestampNs ?? 0n;
    return this.#health.state === 'degraded' && last > now ? last : now;
  }

  /** Returns the age of the last head in milliseconds, at most `idleMs`. */
  #headAgeMs(): number {
    const now = this.#parts.clock.now();
    return Math.min(idleMs, Math.max(0, milliseconds(now - (this.#head?.timestampNs ?? now))));
  }

  #count(): void {
    this.#options.counters?.set('size', this.#head?.size ?? 0);
    this.#options.counters?.set('degraded', this.#shownHealth.state === 'ok' ? 0 : 1);
  }

  /** Reports a lost anchor as degraded, because without it a rollback could go unnoticed. */
  get #shownHealth(): LedgerHealth {
    const refuses = this.#externalHeads.isAnchorLost && this.#options.anchorLoss !== 'wait';
    return this.#health.state === 'ok' && refuses ? anchorLost : this.#health;
  }

  get #isHeld(): boolean {
    return this.#sequencer?.isHeld ?? false;
  }

  #createExternalHeadWriter(hooks: LedgerHooks): ExternalHeadWriter {
    const { keys, journal } = this.#parts;
    const waits = this.#options.anchorLoss === 'wait';
    return new ExternalHeadWriter({
      ...this.#parts,
      hooks,
      clock: () => this.#parts.clock.now(),
      whileLost: `appends ${waits ? 'wait' : 'are refused'} until it can be written`,
      readJournal: () => journal.read(headJudge(keys, this.#head)),
      compare: (records) => this.#compare(records),
      onAnchorLost: () => {
        this.#sequencer?.hold('anchor', waits ? undefined : degraded(anchorLost));
        this.#count();
      },
      onAnchorBack: () => {
        this.#sequencer?.release('anchor');
        this.#count();
      },
      onDistrust: (reason) => this.#distrust(reason),
    });
  }

  /**
   * Checks the checkpoint key, which changes only with a revocation or a new life; the log has an entry for
   * each change.
   */
  #watchCheckpointKey(when: 'always' | 'if new'): void {
    const { storage, keys, findings } = this.#parts;
    if (storage === undefined || this.#failed || this.#health.state !== 'ok') return;
    const log = { storage, keys, findings };
    try {
      this.#reads?.guarded(() => {
        if (when === 'always' || isCheckpointKeyNew(log)) watchCheckpointKey(log);
      });
    } catch (error) {
      if (!(error instanceof ServiceError)) this.#fail(error); // stops the ledger, as after a failed commit
    }
  }

  #compare(records: ExternalRecords): void {
    const { storage, keys } = this.#parts;
    if (storage === undefined) return;
    const size = this.#head?.size ?? 0;
    this.#forAppend(() => compareExternalRecords(new Nodes(storage), size, keys, records));
  }

  /** Stops appending and refuses queued entries. */
  #distrust(reason: UntrustedLogError): void {
    const health = {
      state: 'degraded',
      fault: reason.fault,
      advice: reason.advice(this.#head?.size),
    } as const;
    if (this.#isSound) this.#health = health;
    this.#sequencer?.hold('distrust', degraded(health));
    this.#count();
  }

  /** Whether the current life has its keys but not its entry. */
  get #isLifePending(): boolean {
    const { lifeStart, keys, recovered } = this.#parts;
    return lifeStart !== undefined && recovered !== undefined && this.#life?.id !== keys.life;
  }

  /**
   * Appends the entry that begins a life, before any other entry. After a crash the key file still holds the entry, and
   * the next start appends it. Appending an entry that is already in the log adds nothing.
   */
  async #beginLife(): Promise<void> {
    const { lifeStart, keys, recovered, eventsLife } = this.#parts;
    if (lifeStart === undefined || recovered === undefined) return;
    if (this.#health.state !== 'ok' || this.#isHeld) return; // retried by the next tick or start
    const hooks = this.#options.hooks ?? noHooks;
    if (this.#isLifePending) {
      const { tree } = recovered;
      const entry = lifeEntry(lifeStart, keys, { size: tree.size, root: tree.root() }, eventsLife);
      const [at] = await this.#append([datedForAppend(entry, milliseconds(this.#parts.clock.now()))]);
      this.#life = lifeRecord(at!.leaf_index, this.#storage().canonical(at!.leaf_index)!);
    }
    hooks.at('life-logged');
    lifeIsLogged(keys);
    hooks.at('life-begun');
  }

  /** Writes a journal line about the start of the life, if the journal has none. */
  async #journalLife(): Promise<void> {
    const life = this.#life;
    if (life === undefined || this.#health.state !== 'ok') return;
    const entry = Buffer.from(life.canonical).toString('base64');
    if (this.#parts.remembered.lives.some((line) => line.entry === entry)) return;
    const { event } = regressionOf(life);
    const at = new Date(life.at);
    const line = { at, event, head: this.#head, health: this.#health, entry: life.canonical };
    await this.#parts.journal.write(line).catch(() => {}); // retried by the next start
  }

  #hasRoom(): boolean {
    return this.#freeBytes() >= limits.minFreeLedgerDiskBytes;
  }

  /** Stops appending. Only the first failure is reported. */
  #fail(error: unknown): void {
    if (this.#failed) return;
    this.#failed = true;
    this.#sequencer?.stop(error);
    clearInterval(this.#timer);
    const fatal = this.#options.onFatal ?? throwOutOfThread;
    fatal(error);
  }
}

/** Ignores errors that a later tick can recover from, such as a full disk or an unreachable signer. */
function unlessRetriable(error: unknown): void {
  if (!(error instanceof ServiceError) || error.code === 'WORKER_LOST') throw error;
}

function noEventKey(): never {
  throw new ServiceError('UNAVAILABLE', 'there is no event-signing key');
}

/** Health while the anchor's volume is lost; the log itself is trusted. */
const anchorLost = {
  state: 'degraded',
  fault: 'anchor_unavailable',
  advice:
    'The anchor cannot be written, so a rollback of the log could go unnoticed: no entries are appended until it can be written. ' +
    'Mount or repair its volume; the service recovers without a restart. The finding anchor_unavailable has the cause.',
} as const;

/** Formats a key as a C2SP signed-note verifier key; empty if the key is lost. */
function checkpointKey(key: Key | undefined): string {
  if (key?.file.svc_origin === undefined) return '';
  return formatVerifierKey(verifierKey(sha256, key.file.svc_origin, signatureTypes.ed25519, key.publicKey));
}

type Degraded = Extract<LedgerHealth, { state: 'degraded' }>;

function degraded(health: Degraded): ServiceError {
  return new ServiceError('UNAVAILABLE', health.advice, { fault: health.fault });
}

function throwOutOfThread(error: unknown): void {
  setImmediate(() => {
    throw error;
  });
}
