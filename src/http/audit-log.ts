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
 * Where the front says who called an audited operation, and how it ended.
 *
 * Durability: the record of a change that succeeded is on disk before its answer leaves; that of a read, a refusal or
 * a failure within a second, and at a stop. What one caller does more often than `limits.auditFailuresPerMinute` or
 * `limits.auditSuccessesPerMinute` is counted, and on disk within a minute; but administration and what caused an entry
 * of the transparency log never are, and reads and changes are counted apart.
 *
 * Fullness: while no record can be written, changes are refused before they are made, since those of the store could
 * not be stored either. Reads go on, with a warning in the service's log; their records wait.
 */
export interface Audit {
  /** To be called before a change is made. UNAVAILABLE while it could not be written down. */
  requireWritable(call: AuditedCall): void;
  /**
   * Resolves when the answer may leave. UNAVAILABLE when the record of a change could not be written: the change was
   * made, and its record waits.
   */
  succeeded(call: AuditedCall, reply: Reply): Promise<void>;
  /** `error` is what is answered. */
  failed(call: AuditedCall, error: ServiceError): void;
}

export interface AuditLogOptions {
  readonly store: Pick<Store, 'addAudit'>;
  /** A UUIDv7 of now. */
  readonly newId: () => string;
  /** Epoch milliseconds. */
  readonly now: () => number;
  readonly log: Pick<Logger, 'info' | 'warn' | 'error'>;
  readonly limitReached: (limit: LimitName) => void;
}

/** Half of the second within which a record is written: the other half is for writing it. */
const writeEveryMs = 500;
/** Records of one write: 200 kB. */
const maxBatch = 500;
/** A store that is restarted is back within these. */
const retryPausesMs = [100, 300, 900] as const;

/** Failures after which the change may have been made all the same. */
const uncertain: ReadonlySet<ErrorCode> = new Set<ErrorCode>(['INTERNAL', 'WORKER_LOST', 'CANCELLED']);

/** A thread is lost seldom. Anybody can go away in the middle of a login. */
function mayHaveChanged({ as, identity }: AuditedCall, code: ErrorCode): boolean {
  if (as === 'administration') return identity !== undefined && uncertain.has(code);
  return as === 'account' && code === 'WORKER_LOST';
}

export class AuditLog implements Audit {
  readonly #options: AuditLogOptions;
  readonly #caps = new AuditCaps();
  /** Owned here: records that are yet to be written, oldest first. */
  #waiting: StoredAuditRecord[] = [];
  /** The id given last, and how many of its millisecond were given before it. */
  #lastId = '';
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
      'the audit log cannot be written, and no change goes unrecorded; nothing was changed',
      { reason: 'audit_log' },
    );
  }

  async succeeded(call: AuditedCall, reply: Reply): Promise<void> {
    if (call.as === 'ingest') return this.#countRejected(call);
    const record = { ...call.succeeded(reply, this.#options.now()), call: call.id };
    if (call.as !== 'administration' && !call.countedAlone && !this.#admit(record, call.as)) return;
    if (call.as === 'read') this.#queue(record);
    else await this.#writeNow({ id: this.#newId(), ...record });
  }

  failed(call: AuditedCall, error: ServiceError): void {
    if (call.as === 'ingest' && errorCodes[error.code].retry) return;
    const record = { ...call.failed(error, this.#options.now()), call: call.id };
    if (call.countedAlone || mayHaveChanged(call, error.code) || this.#admit(record, call.as))
      this.#queue(record);
  }

  /** Writes all that waits. After the last call: the front is closed before. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#writing;
    for (const counted of this.#caps.due(this.#options.now(), true)) this.#queue(counted);
    await this.#writeWaiting();
    if (this.#waiting.length > 0)
      this.#options.log.error({ records: this.#waiting.length }, 'audit records could not be written');
  }

  /** In order within a millisecond too: its first 12 random bits are a counter (RFC 9562, section 6.2, method 1). */
  #newId(): string {
    const id = this.#options.newId();
    this.#inMillisecond = id.slice(0, 13) === this.#lastId.slice(0, 13) ? this.#inMillisecond + 1 : 0;
    const counter = Math.min(this.#inMillisecond, 0xfff).toString(16).padStart(3, '0');
    this.#lastId = `${id.slice(0, 15)}${counter}${id.slice(18)}`;
    return this.#lastId;
  }

  /** One record a minute for each sensor. */
  #countRejected(call: AuditedCall): void {
    if (call.rejected === undefined) return;
    const { count, reasons } = call.rejected;
    const error = new ServiceError('INVALID_REQUEST', 'records were rejected');
    this.#caps.count({ ...call.failed(error, this.#options.now()), count }, reasons);
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
      'the change was made, but could not be written to the audit log; look at it before trying again',
      { reason: 'audit_log' },
    );
  }

  /** Whether it was written. An id that was written before, in a call whose answer was lost, is written once. */
  async #write(records: readonly StoredAuditRecord[]): Promise<boolean> {
    try {
      await this.#options.store.addAudit(records);
    } catch (error) {
      if (!this.#failing) this.#options.log.warn({ err: error }, 'the audit log cannot be written');
      this.#failing = true;
      return false;
    }
    if (this.#failing) this.#options.log.info('the audit log is written again');
    this.#failing = false;
    return true;
  }
}
