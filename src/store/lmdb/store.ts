import { statfsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { CriticalEvent } from '../../contract/critical-events.ts';
import { ServiceError } from '../../errors.ts';
import { limits } from '../../limits.ts';
import { copyDatabase, DatabaseFileError, openDatabase, type RootDatabase } from '../../lmdb.ts';
import type {
  Actor,
  AlertChange,
  AlertChanged,
  AlertUpdate,
  Committed,
  IngestBatch,
  NotedPlace,
  OutboxRow,
  Principal,
  PrincipalChange,
  PrincipalChanged,
  Settlement,
  Store,
  StoredAuditRecord,
  StoreStatus,
  Token,
} from '../store.ts';
import { completeAdministrators } from './administrators.ts';
import { lastPlaces, logAgain, planChange, planNote, settle } from './alert-change.ts';
import { Alerts } from './alerts.ts';
import { planAudit } from './audit.ts';
import { planBatch } from './batch.ts';
import { LmdbEvents } from './events.ts';
import { GroupCommit, outOfSpace, type Plan } from './group-commit.ts';
import { RememberedAnswers } from './idempotency.ts';
import type { StoredNote } from './notes.ts';
import { Outbox, planRecord } from './outbox.ts';
import { type ChangeTerms, planPrincipalChange } from './principal-change.ts';
import { planPrincipal } from './principals.ts';
import { databaseFile, openTables, type Tables } from './tables.ts';
import { completeTokenIndex } from './token-index.ts';
import { planRevocation, planRotation, planToken, planTokenUse } from './tokens.ts';

export interface StoreOptions {
  readonly dataDir: string;
  /** How long after its last occurrence, in event time, a finding still belongs to an alert. */
  readonly alertWindowMs: number;
  /** Epoch milliseconds. */
  readonly clock?: () => number;
  /** Default: limits.maxOutboxRows. */
  readonly maxOutboxRows?: number;
  /** Default: limits.maxAuditRecords. */
  readonly maxAuditRecords?: number;
  /** What the volume has left. Default: asks the system. */
  readonly freeBytes?: () => number;
}

/** Roughly what a change of an alert or an identity writes, with its indexes. */
const smallChangeBytes = 4096;
/** A new password ends as many sessions as a principal may have. */
const passwordChangeBytes = limits.maxTokensPerPrincipal * 1024;
const auditRecordBytes = 1024;
/**
 * Small blocks are merged a step (some 10 ms) at a time: under load seldom enough not to be felt, so that single
 * events don't pile up as blocks either; quickly once nothing else is to be done.
 */
const mergeWhileBusyMs = 200;
const mergeWhileIdleMs = 10;

/** Opens siem.mdb for writing, and creates it. The caller holds the data folder: there is one writer. */
export function openStore(options: StoreOptions): Store {
  return new LmdbStore(options);
}

class LmdbStore implements Store {
  readonly #file: string;
  readonly #root: RootDatabase;
  readonly #tables: Tables;
  readonly #events: LmdbEvents;
  readonly #outbox: Outbox;
  readonly #alerts: Alerts;
  readonly #answers: RememberedAnswers;
  readonly #queue: GroupCommit;
  readonly #alertWindowMs: number;
  readonly #maxAuditRecords: number;
  readonly #now: () => number;
  readonly #freeBytes: () => number;
  #mergeTimer: NodeJS.Timeout | undefined;
  #copying: Promise<void> | undefined;
  #closing = false;

  constructor(options: StoreOptions) {
    const { dataDir, alertWindowMs, clock = Date.now, maxOutboxRows } = options;
    this.#file = join(dataDir, databaseFile);
    this.#maxAuditRecords = options.maxAuditRecords ?? limits.maxAuditRecords;
    this.#freeBytes = options.freeBytes ?? (() => freeBytesOf(this.#file));
    this.#root = openOwn(this.#file);
    this.#tables = openTables(this.#root);
    this.#root.transactionSync(() => {
      completeTokenIndex(this.#tables);
      completeAdministrators(this.#tables);
    });
    this.#events = new LmdbEvents(this.#root);
    this.#outbox = new Outbox(this.#tables, maxOutboxRows);
    this.#alerts = new Alerts(this.#tables, this.#outbox);
    this.#answers = new RememberedAnswers(this.#tables);
    this.#alertWindowMs = alertWindowMs;
    this.#now = clock;
    this.#queue = new GroupCommit(this.#root, {
      forget: () => this.#reload(),
      diskFull: () => this.#diskFull(),
      onIdle: () => this.#mergeIn(mergeWhileBusyMs),
    });
    this.#mergeIn(mergeWhileIdleMs);
  }

  commit(batch: IngestBatch): Promise<Committed> {
    const bytes = batch.blocks.reduce((sum, block) => sum + block.byteLength, smallChangeBytes);
    return this.#queue.submit(bytes + batch.findings.length * 256, () => planBatch(this.#parts(), batch));
  }

  changeAlert(id: string, change: AlertChange, by: Actor, version?: number): Promise<AlertChanged> {
    return this.#change(() => planChange(this.#parts(), id, change, by, version, this.#now()));
  }

  addNote(alertId: string, text: string, by: Actor): Promise<{ note: StoredNote; update: AlertUpdate }> {
    return this.#change(() => planNote(this.#parts(), alertId, text, by, this.#now()));
  }

  async outbox(limit: number): Promise<OutboxRow[]> {
    return this.#outbox.oldest(limit);
  }

  record(event: CriticalEvent, id?: string): Promise<void> {
    return this.#change(() => planRecord(this.#outbox, event, id, this.#now()));
  }

  settle(settlements: readonly Settlement[]): Promise<AlertUpdate[]> {
    return this.#queue.submit(
      settlements.length * smallChangeBytes,
      () => () => settle(this.#parts(), settlements, this.#now()),
    );
  }

  async lastPlaces(limit: number): Promise<NotedPlace[]> {
    return lastPlaces(this.#tables, limit);
  }

  logAgain(alertIds: readonly string[]): Promise<AlertUpdate[]> {
    return this.#queue.submit(
      alertIds.length * smallChangeBytes,
      () => () => logAgain(this.#parts(), alertIds, this.#now()),
    );
  }

  createPrincipal(principal: Principal, by: Actor): Promise<void> {
    return this.#change(() => planPrincipal(this.#tables, this.#outbox, principal, by, this.#now()));
  }

  changePrincipal(
    id: string,
    change: PrincipalChange,
    by: Actor,
    terms: ChangeTerms = {},
  ): Promise<PrincipalChanged> {
    const bytes = change.password_hash === undefined ? smallChangeBytes : passwordChangeBytes;
    const wanted = { id, change, by, terms };
    return this.#queue.submit(bytes, () =>
      planPrincipalChange(this.#tables, this.#outbox, wanted, this.#now()),
    );
  }

  addToken(token: Token, by: Actor): Promise<{ readonly ended: readonly string[] }> {
    return this.#change(() => planToken(this.#tables, this.#outbox, token, by, this.#now()));
  }

  rotateSession(jti: string, expectedHash: string, newHash: string, by: Actor): Promise<boolean> {
    const rotation = { jti, expectedHash, newHash };
    return this.#change(() => planRotation(this.#tables, this.#outbox, rotation, by, this.#now()));
  }

  revokeToken(jti: string, by: Actor): Promise<boolean> {
    return this.#change(() => planRevocation(this.#tables, this.#outbox, jti, by, this.#now()));
  }

  noteTokenUse(uses: ReadonlyMap<string, string>): Promise<void> {
    return this.#queue.submit(uses.size * smallChangeBytes, () => planTokenUse(this.#tables, uses));
  }

  addAudit(records: readonly StoredAuditRecord[]): Promise<void> {
    return this.#queue.submit(records.length * auditRecordBytes, () =>
      planAudit(this.#tables, records, this.#maxAuditRecords),
    );
  }

  async copyTo(folder: string): Promise<void> {
    if (this.#closing) throw new ServiceError('UNAVAILABLE', 'the store is closing');
    if (this.#copying !== undefined) throw new ServiceError('CONFLICT', 'siem.mdb is being copied already');
    this.#copying = copyDatabase(this.#root, join(folder, databaseFile)).finally(() => {
      this.#copying = undefined;
    });
    await this.#copying;
  }

  async status(): Promise<StoreStatus> {
    return {
      events: this.#events.counts(),
      blocks: this.#events.blocks(),
      alerts: this.#alerts.count,
      outbox: this.#outbox.rows,
      bytes: statSync(this.#file).size,
    };
  }

  async close(): Promise<void> {
    this.#closing = true;
    await this.#queue.close();
    clearTimeout(this.#mergeTimer);
    await this.#copying?.catch(() => undefined);
    await this.#root.close();
  }

  #change<T>(plan: Plan<T>): Promise<T> {
    return this.#queue.submit(smallChangeBytes, plan);
  }

  #parts() {
    return {
      tables: this.#tables,
      alerts: this.#alerts,
      outbox: this.#outbox,
      events: this.#events,
      answers: this.#answers,
      alertWindowMs: this.#alertWindowMs,
      nowMs: this.#now(),
      diskFull: this.#diskFull(),
    };
  }

  /** What memory holds of the tables, read anew after a transaction was undone. */
  #reload(): void {
    this.#events.reload();
    this.#outbox.reload();
    this.#alerts.reload();
  }

  #diskFull(): boolean {
    return this.#freeBytes() < limits.minFreeDiskBytes;
  }

  /** A step of the background work is due in this time, unless one is due already. */
  #mergeIn(delayMs: number): void {
    this.#mergeTimer ??= setTimeout(() => {
      this.#mergeTimer = undefined;
      this.#merge();
    }, delayMs).unref();
  }

  /** A commit that waits goes first. A full disk ends the work until something is written again. */
  #merge(): void {
    if (this.#queue.pending > 0 || this.#diskFull()) return;
    try {
      if (this.#events.mergeSmall()) this.#mergeIn(mergeWhileIdleMs);
    } catch (error) {
      if (!outOfSpace(error, () => this.#diskFull())) throw error;
      this.#reload();
    }
  }
}

function freeBytesOf(file: string): number {
  const { bavail, bsize } = statfsSync(file);
  return bavail * bsize;
}

function openOwn(file: string): RootDatabase {
  try {
    return openDatabase(file);
  } catch (error) {
    if (!(error instanceof DatabaseFileError)) throw error;
    throw new Error(`${file} is damaged (${error.message}): put it back from a backup`);
  }
}
