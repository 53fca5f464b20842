import { setTimeout as pause } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { AuditRecord } from '../contract/resources/audit-record.ts';
import { type ErrorCode, errorCodes, ServiceError } from '../errors.ts';
import { type LimitName, limits } from '../limits.ts';
import type { Store, StoredAuditRecord } from '../store/store.ts';
import { AuditCaps } from './audit-caps.ts';
import type { AuditedAs, AuditedCall } from './audited-call.ts';
import type { Reply } from './reply.ts';

/**
 * Records the caller and outcome of each call of an audited operation.
 *
 * Durability: the record of a successful change is on disk before its response is sent; records of reads, refusals and
 * failures are on disk within a second. A stop writes all waiting records. Calls of one caller beyond
 * `limits.auditFailuresPerMinute` or `limits.auditSuccessesPerMinute` are counted; the counts are on disk within a
 * minute, counts of ignored records of sensors within an hour. Successful administrative calls, and calls that
 * cause a transparency log entry, always have an individual record. Reads and changes are counted separately.
 *
 * While no record can be written, changes are refused before they are made, because the store could not write
 * the changes either. Reads continue, with a warning in the service's log, and their records wait.
 */
export interface Audit {
  /** Throws UNAVAILABLE for a change while audit records cannot be written. Must be called before a change is made. */
  requireWritable(call: AuditedCall): void;
  /**
   * Records a successful call, and resolves when the response may be sent. Rejects with UNAVAILABLE if the
   * record of a change could not be written: the change was made, and its record waits.
   */
  succeeded(call: AuditedCall, reply: Reply): Promise<void>;
  /** Records a failed call. `error` is the error in the response. */
  failed(call: AuditedCall, error: ServiceError): void;
}

export interface AuditLogOptions {
  readonly store: Pick<Store, 'addAudit'>;
  /** Returns a UUIDv7 of the current time. */
  readonly newId: () => string;
  /** Returns the current time, epoch milliseconds. */
  readonly now: () => number;
  readonly log: Pick<Logger, 'info' | 'warn' | 'error'>;
  readonly limitReached: (limit: LimitName) => void;
}

/**
 * Interval of writes: half of the second within which a record must be on disk. The other half is for the write.
 */
const writeEveryMs = 500;
/** Maximum number of records in one write, which is then about 200 kB. */
const maxBatch = 500;
/** Pauses between retries. A restarted store is available again within the sum of these pauses. */
const retryPausesMs = [100, 300, 900] as const;

/** Error codes of failed calls that may have made their change nevertheless. */
const uncertain: ReadonlySet<ErrorCode> = new Set<ErrorCode>(['INTERNAL', 'WORKER_LOST', 'CANCELLED']);

/**
 * Returns whether a failed call may have made its change. Account calls are included after WORKER_LOST, which is
 * rare, but not after CANCELLED, because any client can disconnect during a login.
 */
function mayHaveChanged({ as, identity }: AuditedCall, code: ErrorCode): boolean {
  if (as === 'administration') return identity !== undefined && uncertain.has(code);
  return as === 'account' && code === 'WORKER_LOST';
}

export class AuditLog implements Audit {
  readonly #options: AuditLogOptions;
  readonly #caps = new AuditCaps();
  /** Records that wait to be written, oldest first. */
  #waiting: StoredAuditRecord[] = [];
  #lastId = '';
  /** Number of earlier ids in the millisecond of the latest id. */
  #inMillisecond = 0;
  #failing = false;
  #writing: Promise<void> | undefined;
  readonly #timer: NodeJS.Timeout;

  constructor(options: AuditLogOptions) {
    this.#options = options;
    this.#timer = setInterval(() => this.#tick(), writeEveryMs).unref();
  }

  requireWritable({ as }: AuditedCall): void {
    if (as === 'read' || as === 'ingest' || !this.#failing) return;
    throw new ServiceError(
      'UNAVAILABLE',
      'the audit log cannot be written, and changes must be recorded; nothing was changed',
      { reason: 'audit_log' },
    );
  }

  async succeeded(call: AuditedCall, reply: Reply): Promise<void> {
    if (call.as === 'ingest') return this.#countUnstored(call);
    const record = { ...call.succeeded(reply, this.#options.now()), call: call.id };
    if (call.as !== 'administration' && !call.countedAlone && !this.#admit(record, call.as)) return;
    if (call.as === 'read') this.#queue(record);
    else await this.#writeNow({ id: this.#newId(), ...record });
  }

  failed(call: AuditedCall, error: ServiceError): void {
    if (call.as === 'ingest' && errorCodes[error.code].retry) return;
    const record = { ...call.failed(error, this.#options.now()), call: call.id };
    if (call.countedAlone || mayHaveChanged(call, error.code) || this.#admit(record, call.as)) this.#queue(record);
  }

  /**
   * Writes all waiting records. Must be called after the last request, so the HTTP server is closed first.
   */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#writing;
    for (const counted of this.#caps.due(this.#options.now(), true)) this.#queue(counted);
    await this.#writeWaiting();
    if (this.#waiting.length > 0)
      this.#options.log.error({ records: this.#waiting.length }, 'audit records could not be written');
  }

  /**
   * Returns an id. Ids of one millisecond are ordered too: the first 12 random bits are a counter (RFC 9562,
   * section 6.2, method 1).
   */
  #newId(): string {
    const id = this.#options.newId();
    this.#inMillisecond = id.slice(0, 13) === this.#lastId.slice(0, 13) ? this.#inMillisecond + 1 : 0;
    const counter = Math.min(this.#inMillisecond, 0xfff).toString(16).padStart(3, '0');
    this.#lastId = `${id.slice(0, 15)}${counter}${id.slice(18)}`;
    return this.#lastId;
  }

  /**
   * Counts records of a sensor that were not stored. Rejected records become one audit record a minute,
   * ignored records one an hour.
   */
  #countUnstored(call: AuditedCall): void {
    if (call.unstored.length === 0) return;
    const error = new ServiceError('INVALID_REQUEST', 'records were rejected');
    const rejected = call.failed(error, this.#options.now());
    const { code: _, ...ignored } = rejected;
    for (const { kind, reason, times: count, sample } of call.unstored)
      if (kind === 'ignored') this.#caps.countIgnored({ ...ignored, outcome: 'success', count }, reason);
      else this.#caps.count({ ...rejected, count, ...(sample !== undefined && { sample }) }, reason);
  }

  #admit(record: AuditRecord, as: AuditedAs): boolean {
    const limit = this.#caps.admit(record, as, this.#options.now());
    if (limit !== undefined) this.#options.limitReached(limit);
    return limit === undefined;
  }

  #queue(record: Omit<StoredAuditRecord, 'id'>): void {
    this.#keep({ id: this.#newId(), ...record });
  }

  #keep(record: StoredAuditRecord): void {
    if (this.#waiting.length < limits.maxQueuedAuditRecords) {
      this.#waiting.push(record);
      return;
    }
    this.#options.limitReached('maxQueuedAuditRecords');
    this.#caps.count(record);
  }

  #tick(): void {
    for (const counted of this.#caps.due(this.#options.now())) this.#queue(counted);
    if (this.#waiting.length === 0 || this.#writing !== undefined) return;
    this.#writing = this.#writeWaiting().finally(() => {
      this.#writing = undefined;
    });
  }

  async #writeWaiting(): Promise<void> {
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.slice(0, maxBatch);
      if (!(await this.#write(batch))) return;
      this.#waiting = this.#waiting.slice(batch.length);
    }
  }

  async #writeNow(record: StoredAuditRecord): Promise<void> {
    if (await this.#write([record])) return;
    for (const ms of retryPausesMs) {
      await pause(ms);
      if (await this.#write([record])) return;
    }
    this.#keep(record);
    throw new ServiceError(
      'UNAVAILABLE',
      'the change was made, but could not be recorded in the audit log; check it before retrying',
      { reason: 'audit_log' },
    );
  }

  /**
   * Writes records and returns whether the write succeeded. The store ignores ids that it already has, so a write
   * whose outcome is unknown can be retried.
   */
  async #write(records: readonly StoredAuditRecord[]): Promise<boolean> {
    try {
      await this.#options.store.addAudit(records);
    } catch (error) {
      if (!this.#failing) this.#options.log.warn({ err: error }, 'the audit log cannot be written');
      this.#failing = true;
      return false;
    }
    if (this.#failing) this.#options.log.info('the audit log can be written again');
    this.#failing = false;
    return true;
  }
}
