import { join } from 'node:path';
import { receiptBytes } from '../contract/receipt-bytes.ts';
import type { ReceiptStatement } from '../contract/resources/receipt.ts';
import type { SignedTreeHead } from '../contract/resources/transparency.ts';
import { invalidField, ServiceError } from '../errors.ts';
import { freeBytesOf } from '../free-bytes.ts';
import { limits } from '../limits.ts';
import { sha256 } from '../sha256.ts';
import { bytesToHex } from '../tlog/hex.ts';
import { formatVerifierKey, signatureTypes, verifierKey } from '../tlog/note.ts';
import type { TileAddress } from '../tlog/tile.ts';
import type { ObservedAnchor } from './anchor.ts';
import type { ClockMemoryFile } from './clock-memory.ts';
import { clockRefused, corrupt, type Distrust, damageAdvice, dataDamaged } from './distrust.ts';
import { draftEntry } from './entry.ts';
import { EntrySigner } from './entry-signer.ts';
import { checkWindow, datedForAppend } from './entry-window.ts';
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
import type { NotedPlaces } from './lives/noted-places.ts';
import type { StoreAge } from './lives/store-age.ts';
import type { LogClock, SteadyClock } from './log-clock.ts';
import type { LedgerCounter } from './methods.ts';
import type { OpenFindings } from './open-findings.ts';
import { OutsideHeads } from './outside-heads.ts';
import { openPublication, type PublicationSchedule } from './publication.ts';
import { currentHeads } from './reads/head-view.ts';
import { LedgerReads } from './reads/ledger-reads.ts';
import { PublishedHeads } from './reads/published-heads.ts';
import { isSigned, VerifiedHeads } from './reads/verified-heads.ts';
import { VerifiedNodes } from './reads/verified-nodes.ts';
import { diskFull, Sequencer } from './sequencer.ts';
import { isCheckpointKeyNew, watchCheckpointKey } from './start-findings.ts';
import { compareWitnesses, type Recovered, readableHead, type Witnesses } from './startup.ts';
import { copyLedger } from './storage/copy.ts';
import { Nodes } from './storage/nodes.ts';
import { DamagedError, type LedgerStorage, type SignedHead, type StoredEntry } from './storage/storage.ts';

/** An idle log signs its head again after this time, so that readers can see that it is fresh. */
const idleMs = 3_600_000;
const tickMs = 60_000;

export interface LedgerOptions {
  readonly dataDir: string;
  /** Default: `<dataDir>/anchor.json`. On another volume it also shows a rollback of the whole data folder. */
  readonly anchorPath?: string;
  /** While the anchor cannot be written, appends are refused (default) or wait, as many as `limits.maxQueuedAppends`. */
  readonly anchorLoss?: 'refuse' | 'wait';
  /** The log's name in checkpoints. Default: the one that it has, for a new log `candor.log/<kid>`. */
  readonly origin?: string;
  /** Private keys are encrypted under it; without one they are kept as they are. */
  readonly keyPassphrase?: string;
  /** Public readers see only heads that are at least this old. Default 0: all heads at once. */
  readonly publicationDelayMs?: number;
  /** Keys in an ssh-agent. Default: keys are files. */
  readonly agent?: AgentOptions;
  /** Default: keys change when somebody asks for it. */
  readonly rotation?: RotationSchedule;
  readonly clock?: Clock;
  /** Default: the clocks of the system; beside a `clock` that was passed in, that clock, which then never jumps. */
  readonly steady?: SteadyClock;
  /** The operator changes the log offline: the clock of the host is believed, whatever the last head says. */
  readonly acceptClock?: boolean;
  readonly counters?: {
    add(name: LedgerCounter, amount?: number): void;
    set(name: LedgerCounter, value: number): void;
  };
  readonly hooks?: LedgerHooks;
  /** Whether a data folder that was copied refuses appends. Default: true. */
  readonly detectCopies?: boolean;
  /** Reads what the database of events remembers of the log; undefined where there is no such database. */
  readonly notedPlaces?: () => Promise<NotedPlaces | undefined>;
  /** What the volume has left. Default: asks the system. */
  readonly freeBytes?: () => number;
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
  /** Holds private keys; absent where all are files. */
  readonly agent: AgentKeys | undefined;
  readonly recovered: Recovered | undefined;
  readonly health: LedgerHealth;
  readonly journal: Journal;
  /** Why the journal could not be read. */
  readonly journalUnread: string | undefined;
  readonly anchor: ObservedAnchor;
  /** A life that has its keys; its entry may be missing. */
  readonly lifeStart: LifeStart | undefined;
  readonly remembered: JournalReading;
  /** The life that the database of events has entered. */
  readonly eventsLife: string | undefined;
  readonly warnings: readonly string[];
  readonly findings: OpenFindings;
  readonly anchorPath: string;
  readonly clock: LogClock;
  readonly clockMemory: ClockMemoryFile;
  readonly storeAge: StoreAge;
}

/** The ledger over a data folder. Owner of its health; the sequencer owns the end of the log. */
export class DurableLedger implements Ledger {
  readonly #options: LedgerOptions;
  readonly #parts: LedgerParts;
  readonly #outside: OutsideHeads;
  readonly #sequencer: Sequencer | undefined;
  readonly #signer: EntrySigner<Appended[]> | undefined;
  readonly #nodes: VerifiedNodes | undefined;
  /** As of the latest head. */
  readonly #reads: LedgerReads | undefined;
  /** As of the latest head that is published. */
  readonly #published: LedgerReads | undefined;
  readonly #publication: PublicationSchedule | undefined;
  readonly #keyChanges: KeyChanges | undefined;
  /** What a log that doesn't go on ends with, as far as it can be read. */
  readonly #lastHead: SignedHead | undefined;
  #health: LedgerHealth;
  /** How the current life began. */
  #life: LifeRecord | undefined;
  readonly #freeBytes: () => number;
  #failed = false;
  #scrub: ScrubProgress | undefined;
  /** Unix time in milliseconds. */
  #damageFoundAt = 0;
  #publishTimer: NodeJS.Timeout | undefined;
  #timer: NodeJS.Timeout | undefined;
  /** When the last head was signed, by the steady clock. */
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
    this.#outside = this.#keepOutside(hooks);
    if (storage === undefined) return;
    this.#lastHead = readableHead(storage);
    const heads = currentHeads(storage, () => this.#head);
    this.#publication = openPublication(
      storage,
      options.publicationDelayMs ?? 0,
      clock,
      health.state === 'ok',
    );
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
        findings: parts.findings,
        append: async (entries) => {
          this.#requireLife();
          return this.#append(entries, 'even without a clock');
        },
      });
    }
  }

  /** Writes the journal's line for this start and starts the clockwork. Called once, by `openLedger`. */
  async begin(event: 'initialised' | 'start'): Promise<void> {
    // An operator has just begun a life, over a log that may be as old as a backup.
    const acceptClock = this.#options.acceptClock === true || this.#isLifePending;
    if (acceptClock && this.#sequencer !== undefined) await this.confirmClock();
    this.#checkClock();
    this.#headAtMs = this.#parts.clock.runningMs() - this.#headAgeMs();
    if (this.#isSound) this.#outside.begin(this.#head);
    try {
      await this.#beginLife().catch(orLater);
      if (!this.#isHeld && !this.#isLifePending) await this.#keyChanges?.tick();
    } catch (error) {
      if (this.#isSound) throw error; // else damage was met, and the health says so
    }
    if (this.#hasRoom()) this.#watchCheckpointKey('always');
    this.#count();
    await this.#outside.record(event, this.#head, this.#health);
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
    throw new ServiceError('UNAVAILABLE', 'the entry that begins this life of the log cannot be written yet');
  }

  async #append(entries: readonly UnsignedEntry[], when?: 'even without a clock'): Promise<Appended[]> {
    const { sequencer, signer } = this.#appendable(when);
    if (!Array.isArray(entries) || entries.length === 0)
      throw invalidField('entries', 'must be a list of entries');
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
    // A log that may have gone back signs no checkpoint: see `#certain`.
    const signed = () => (this.#health.state === 'ok' ? reads.checkpoint() : undefined);
    return reads.bundle(leaf, { published, signed });
  }

  async checkpoint(view: LogView = 'published'): Promise<string> {
    return this.#certain(view).checkpoint();
  }

  async keepCheckpoint(note: string): Promise<void> {
    const reads = this.#certain();
    if (!this.#hasRoom()) throw diskFull();
    try {
      reads.keepCheckpoint(note);
    } catch (error) {
      // A write that failed, as in a commit: what is on disk is found out by opening the log again.
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
    this.#certain(); // a log that can't be trusted isn't copied as if it were good
    const storage = this.#storage();
    if (this.#copying !== undefined) throw new ServiceError('CONFLICT', 'the log is being copied already');
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
    const regression =
      this.#life === undefined ? this.#parts.remembered.regression : regressionOf(this.#life);
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
    if (damage !== undefined && damage.at > this.#damageFoundAt)
      this.#damaged(damage.message, damage.is_edge);
    if (clean_pass_began_at > this.#damageFoundAt) this.#parts.findings.clear('data_damaged');
  }

  /** Does what is due by the clock: a fresh head for an idle log, changes of keys, the day's line in the journal. */
  async tick(): Promise<void> {
    if (this.#closing === undefined) void this.#parts.storeAge.write();
    if (this.#closing !== undefined || this.#failed || !this.#isSound) return;
    this.#checkClock();
    if (!this.#hasRoom()) return; // a write that fails ends the thread: what is due waits for room
    await this.#outside.tick(this.#head, this.#health);
    if (this.#outside.isAnchorLost) return;
    // Nothing is signed in a life before its entry.
    if (this.#isLifePending)
      return this.#beginLife()
        .catch(orLater)
        .catch((error: unknown) => this.#fail(error));
    if (this.#parts.clock.runningMs() - this.#headAtMs >= idleMs) this.#sequencer?.resign();
    await this.#keyChanges?.tick().catch((error: unknown) => this.#fail(error));
    this.#watchCheckpointKey('if new');
  }

  /** At each boundary of the publication schedule the head of the moment is signed. */
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
    await this.#outside.close();
    await this.#copying?.catch(() => undefined);
    await this.#parts.storeAge.write();
    if (this.#sequencer !== undefined) await this.#parts.clockMemory.write(this.#parts.clock.memory);
    await this.#parts.agent?.close();
    await this.#parts.storage?.close();
  }

  /** Entries that came before, and are in the log or queued, keep their places. */
  #enqueue(entries: readonly StoredEntry[]): Promise<Appended[]> {
    const [sequencer, nodes] = [this.#sequencer, this.#nodes];
    if (sequencer === undefined || nodes === undefined) throw new Error('entries for a log that takes none');
    const hashAt = (index: number) => nodes.hashAt({ level: 0, index });
    return sequencer.append(
      this.#forAppend(() => entries.map((entry) => sequencer.find(entry.id, hashAt) ?? entry)),
    );
  }

  get #head(): SignedHead | undefined {
    return this.#sequencer === undefined ? this.#lastHead : this.#sequencer.head;
  }

  async #changeKeys(change: (changes: KeyChanges) => Promise<KeyChange>): Promise<ChangedKey> {
    this.#appendable('even without a clock'); // a stolen key is revoked at once
    if (this.#outside.isAnchorLost) throw degraded(anchorLost); // the change could not be logged before it is made
    if (this.#keyChanges === undefined) throw new Error('a healthy ledger can change its keys');
    const { key, entryIds } = await change(this.#keyChanges);
    return { ...recordOf(key.file, key.fingerprint), entry_ids: entryIds };
  }

  /**
   * A log that may have gone back signs no checkpoint: it could contradict one that it signed before. Checkpoints are
   * for everybody, and so of published heads.
   */
  #certain(view: LogView = 'published'): LedgerReads {
    const reads = this.#readable(view);
    if (this.#unsound !== undefined) throw degraded(this.#unsound);
    return reads;
  }

  /** While the clock is refused, only changes of keys are logged. */
  #appendable(when?: 'even without a clock'): { sequencer: Sequencer; signer: EntrySigner<Appended[]> } {
    if (this.#closing !== undefined) throw new ServiceError('UNAVAILABLE', 'the ledger is closing');
    if (this.#isSound) this.#checkClock();
    const health = this.#shownHealth;
    const isExempt = when !== undefined && health.state === 'degraded' && health.fault === 'clock';
    if (health.state === 'degraded' && !isExempt) throw degraded(health);
    if (this.#sequencer === undefined || this.#signer === undefined)
      throw new Error('a healthy ledger has no sequencer');
    this.#sequencer.checkRoom(0); // nothing is signed while key files are uncertain
    return { sequencer: this.#sequencer, signer: this.#signer };
  }

  #storage(): LedgerStorage {
    if (this.#closing !== undefined) throw new ServiceError('UNAVAILABLE', 'the ledger is closing');
    if (this.#parts.storage !== undefined) return this.#parts.storage;
    if (this.#health.state === 'degraded') throw degraded(this.#health);
    throw new Error('a healthy ledger has no storage');
  }

  #readable(view: LogView = 'current'): LedgerReads {
    this.#storage();
    const reads = view === 'current' ? this.#reads : this.#published;
    if (reads === undefined) throw new Error('a ledger with storage has no reads');
    return reads;
  }

  /**
   * Damage of an old entry or page is a finding, and appends go on: they need none of it. Damage of the latest head or
   * of the right edge also degrades the log. The result is the answer to the read.
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
    return new ServiceError('UNAVAILABLE', `the log takes no entries: ${advice}`, { fault });
  }

  /** A read that an append depends on: damage degrades the log, so that no entry is appended twice or lost. */
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
    this.#outside.schedule(head);
  }

  /** Why the log cannot be trusted. A clock that cannot be trusted is no such reason. */
  get #unsound(): Degraded | undefined {
    return this.#health.state === 'degraded' && this.#health.fault !== 'clock' ? this.#health : undefined;
  }

  get #isSound(): boolean {
    return this.#unsound === undefined;
  }

  /** Refuses entries while the time is not plausible, and accepts them again by itself. */
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
   * The time of changes of keys. While the clock is refused because the last head is ahead of it, that of the head:
   * auditors report entries that are older than their head.
   */
  get #keyTime(): bigint {
    const now = this.#parts.clock.now();
    const last = this.#head?.timestampNs ?? 0n;
    return this.#health.state === 'degraded' && last > now ? last : now;
  }

  /** Age of the last head, within what an idle log waits. */
  #headAgeMs(): number {
    const now = this.#parts.clock.now();
    return Math.min(idleMs, Math.max(0, milliseconds(now - (this.#head?.timestampNs ?? now))));
  }

  #count(): void {
    this.#options.counters?.set('size', this.#head?.size ?? 0);
    this.#options.counters?.set('degraded', this.#shownHealth.state === 'ok' ? 0 : 1);
  }

  /** Without an anchor a rollback could go unnoticed, so nothing is appended then. */
  get #shownHealth(): LedgerHealth {
    const refuses = this.#outside.isAnchorLost && this.#options.anchorLoss !== 'wait';
    return this.#health.state === 'ok' && refuses ? anchorLost : this.#health;
  }

  get #isHeld(): boolean {
    return this.#sequencer?.isHeld ?? false;
  }

  #keepOutside(hooks: LedgerHooks): OutsideHeads {
    const { keys, journal } = this.#parts;
    const waits = this.#options.anchorLoss === 'wait';
    return new OutsideHeads({
      ...this.#parts,
      hooks,
      clock: () => this.#parts.clock.now(),
      whileLost: `appends ${waits ? 'wait' : 'are refused'} until it can be written`,
      readJournal: () => journal.read(headJudge(keys, this.#head)),
      compare: (witnesses) => this.#compare(witnesses),
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

  /** A key that was revoked, or a new life, changes the checkpoint key; the log says so in an entry. */
  #watchCheckpointKey(when: 'always' | 'if new'): void {
    const { storage, keys, findings } = this.#parts;
    if (storage === undefined || this.#failed || this.#health.state !== 'ok') return;
    const log = { storage, keys, findings };
    try {
      this.#reads?.guarded(() => {
        if (when === 'always' || isCheckpointKeyNew(log)) watchCheckpointKey(log);
      });
    } catch (error) {
      if (!(error instanceof ServiceError)) this.#fail(error); // as for a commit: only opening the log again can tell
    }
  }

  #compare(witnesses: Witnesses): void {
    const { storage, keys } = this.#parts;
    if (storage === undefined) return;
    const size = this.#head?.size ?? 0;
    this.#forAppend(() => compareWitnesses(new Nodes(storage), size, keys, witnesses));
  }

  /** Nothing is appended any more; what waits is refused. */
  #distrust(reason: Distrust): void {
    const health = {
      state: 'degraded',
      fault: reason.fault,
      advice: reason.advice(this.#head?.size),
    } as const;
    if (this.#isSound) this.#health = health;
    this.#sequencer?.hold('distrust', degraded(health));
    this.#count();
  }

  /** The life has its keys and not its entry. */
  get #isLifePending(): boolean {
    const { lifeStart, keys, recovered } = this.#parts;
    return lifeStart !== undefined && recovered !== undefined && this.#life?.id !== keys.life;
  }

  /**
   * Appends the entry that begins a life, before any other. A crash here: the key file still promises the entry, and the
   * next start appends it, which adds nothing where it is in the log.
   */
  async #beginLife(): Promise<void> {
    const { lifeStart, keys, recovered, eventsLife } = this.#parts;
    if (lifeStart === undefined || recovered === undefined) return;
    if (this.#health.state !== 'ok' || this.#isHeld) return; // the next tick or start tries again
    const hooks = this.#options.hooks ?? noHooks;
    if (this.#isLifePending) {
      const { tree } = recovered;
      const entry = lifeEntry(lifeStart, keys, { size: tree.size, root: tree.root() }, eventsLife);
      const [at] = await this.#append([datedForAppend(entry, milliseconds(this.#parts.clock.now()))]);
      // Not through the reads: the publication of heads may be delayed.
      this.#life = lifeRecord(at!.leaf_index, this.#storage().canonical(at!.leaf_index)!);
    }
    hooks.at('life-logged');
    lifeIsLogged(keys);
    hooks.at('life-begun');
  }

  /** The operator's record of how the life began, where the journal has none. */
  async #journalLife(): Promise<void> {
    const life = this.#life;
    if (life === undefined || this.#health.state !== 'ok') return;
    const entry = Buffer.from(life.canonical).toString('base64');
    if (this.#parts.remembered.lives.some((line) => line.entry === entry)) return;
    const { event } = regressionOf(life);
    const at = new Date(life.at);
    const line = { at, event, head: this.#head, health: this.#health, entry: life.canonical };
    await this.#parts.journal.write(line).catch(() => {}); // the next start writes it
  }

  #hasRoom(): boolean {
    return this.#freeBytes() >= limits.minFreeLedgerDiskBytes;
  }

  /** Nothing is appended any more. The first failure is the one that is told. */
  #fail(error: unknown): void {
    if (this.#failed) return;
    this.#failed = true;
    this.#sequencer?.stop(error);
    clearInterval(this.#timer);
    const fatal = this.#options.onFatal ?? throwOutOfThread;
    fatal(error);
  }
}

/** A log that takes no entry now, for want of room or of its signer, takes it at a later tick. */
function orLater(error: unknown): void {
  if (!(error instanceof ServiceError) || error.code === 'WORKER_LOST') throw error;
}

function noEventKey(): never {
  throw new ServiceError('UNAVAILABLE', 'there is no event-signing key');
}

/** The anchor's volume is lost; the log itself is trusted. */
const anchorLost = {
  state: 'degraded',
  fault: 'anchor_unavailable',
  advice:
    'The anchor cannot be written, so a rollback of the log could go unnoticed: no entry is appended until it can be. ' +
    'Mount or repair its volume; the service recovers without a restart. The finding anchor_unavailable says what failed.',
} as const;

/** As C2SP signed-note writes it; empty where the key is lost. */
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
