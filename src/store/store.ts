import type { CriticalEvent } from '../contract/critical-events.ts';
import type { Alert } from '../contract/resources/alert.ts';
import type { AlertNote } from '../contract/resources/alert-note.ts';
import type { AuditRecord } from '../contract/resources/audit-record.ts';
import type { DnsEvent } from '../contract/resources/dns-event.ts';
import type { IngestAnswer } from '../contract/resources/ingest.ts';
import type { NetworkEvent } from '../contract/resources/network-event.ts';
import type { Role } from '../contract/resources/principal.ts';
import type { EventFilter, FilterTerm } from '../events/filter.ts';
import type { Finding } from '../events/finding.ts';
import type { Table } from '../events/records.ts';

/** What one ingest request adds. The block buffers are moved: the caller's are detached. */
export interface IngestBatch {
  /** Encoded by `BlockBuilder.finish`; at most `limits.maxBlockRows` rows each. */
  readonly blocks: readonly ArrayBuffer[];
  readonly findings: readonly Finding[];
  /** What the caller will be answered, before duplicates are known. */
  readonly answer: IngestAnswer;
  /** `key` is scoped to the principal; `digest` tells its requests apart (SHA-256, hex). */
  readonly idempotency?: { readonly key: string; readonly digest: string };
}

export interface CommittedBlock {
  readonly table: Table;
  /** Commit sequence of row 0; row n has `first_seq + n`. The channel's `seq`. */
  readonly first_seq: number;
  readonly rows: number;
  /** The block as stored, moved back to the caller. */
  readonly buffer: ArrayBuffer;
}

export interface AlertUpdate {
  /** Grows with every change of any alert; the `seq` of channel `alerts`. */
  readonly seq: number;
  readonly alert: Alert & { readonly id: string };
}

export interface Committed {
  readonly answer: IngestAnswer;
  /** True when an earlier answer to the same Idempotency-Key was repeated and nothing was stored. */
  readonly replayed: boolean;
  readonly blocks: readonly CommittedBlock[];
  readonly alerts: readonly AlertUpdate[];
  /** Rows that wait in the outbox. */
  readonly outbox: number;
}

/** What became of a person's change. `unchanged`: the alert was so already; nothing was stored or is to be published. */
export type AlertChanged = AlertUpdate & { readonly unchanged?: true };

/** Who caused a change. `id` is a principal's UUID, or `system`. */
export interface Actor {
  readonly id: string;
  readonly name: string;
}

export interface AlertChange {
  readonly status?: Alert['status'];
  readonly verdict?: Alert['verdict'];
  readonly priority?: Alert['priority'];
  readonly severity?: Alert['severity'];
  readonly assignee?: string;
  readonly tags?: readonly string[];
  readonly note?: string;
  readonly ai_override?: { readonly verdict: NonNullable<Alert['verdict']>; readonly reason: string };
}

/** A critical event on its way to the log: committed with the change that caused it. `id` becomes the entry's id. */
export interface OutboxRow extends CriticalEvent {
  readonly id: string;
  readonly occurred_at: string;
}

/** Where the ledger put an outbox row. */
export interface Settlement {
  readonly id: string;
  readonly leaf_index: number;
  readonly tree_size: number;
  readonly leaf_hash: string;
}

/** Where an alert says that its entry stands. `subject` is the alert's id. */
export interface NotedPlace {
  readonly subject: string;
  readonly leaf_index: number;
  readonly leaf_hash: string;
}

/** Who can sign in or be named by a token. */
export interface Principal {
  readonly id: string;
  readonly name: string;
  readonly kind: 'user' | 'sensor' | 'auditor_client';
  readonly roles: readonly Role[];
  readonly status: 'active' | 'suspended';
  /** PHC string of argon2id; absent for principals without a password. */
  readonly password_hash?: string;
  readonly created_at: string;
  readonly last_login_at?: string;
  /** Grows with every change but a login; absent for 1. */
  readonly version?: number;
}

/** What is to change of a principal. */
export interface PrincipalChange {
  readonly name?: string;
  readonly roles?: readonly Role[];
  readonly status?: Principal['status'];
  readonly password_hash?: string;
}

export interface PrincipalChanged {
  readonly principal: Principal;
  /** Sessions that ended with it, each with its `token.revoked` entry. */
  readonly ended: readonly string[];
}

/** Who did or read what. `id` is a UUIDv7. */
export interface StoredAuditRecord extends AuditRecord {
  readonly id: string;
}

export interface AuditListQuery {
  /** Epoch milliseconds. */
  readonly from?: number;
  readonly to?: number;
  readonly actor?: readonly string[];
  readonly operation?: readonly string[];
  readonly outcome?: readonly AuditRecord['outcome'][];
  readonly page: number;
  readonly per_page: number;
}

/** A session (login to logout) or a long-lived token. Secrets are kept as SHA-256 only. */
export interface Token {
  readonly jti: string;
  readonly principal_id: string;
  readonly kind: 'session' | 'long_lived';
  readonly name?: string;
  readonly roles: readonly Role[];
  /** SHA-256 (hex) of the long-lived secret, or of the session's current refresh token. */
  readonly secret_hash: string;
  /** SHA-256 (hex) of what all refresh tokens of a session share; sessions only. */
  readonly family_hash?: string;
  readonly issued_at: string;
  readonly expires_at?: string;
  readonly revoked_at?: string;
  /** To the minute. */
  readonly last_used_at?: string;
}

export interface StoreStatus {
  readonly events: Readonly<Record<Table, number>>;
  readonly blocks: number;
  readonly alerts: number;
  readonly outbox: number;
  readonly bytes: number;
}

/**
 * The only writer of siem.mdb, in its own thread.
 *
 * Durability: every call resolves after its transaction is flushed to disk; nothing is visible to readers earlier.
 * Atomicity: what one call changes (blocks, counters, alerts, outbox rows, the remembered answer) commits together.
 * Order: calls are applied in order of arrival; those that wait together share one transaction and one flush.
 * Failure: OVERLOADED and UNAVAILABLE keep nothing; after WORKER_LOST the outcome is unknown.
 */
export interface Store {
  /** CONFLICT when the Idempotency-Key came before with another request. */
  commit(batch: IngestBatch): Promise<Committed>;
  /** NOT_FOUND, INVALID_TRANSITION, VERSION_MISMATCH (when `version` is given and isn't the alert's). */
  changeAlert(id: string, change: AlertChange, by: Actor, version?: number): Promise<AlertChanged>;
  addNote(
    alertId: string,
    text: string,
    by: Actor,
  ): Promise<{ note: AlertNote & { id: string }; update: AlertUpdate }>;
  /** The oldest rows, at most `limit`. They stay until settled. */
  outbox(limit: number): Promise<OutboxRow[]>;
  /**
   * Puts a critical event into the outbox whose change is kept elsewhere (files of rules, of the policy), flushed.
   * Called before that change takes effect, so that no change goes unlogged. `id` (UUIDv7) becomes the entry's: with
   * it, the call may be repeated after WORKER_LOST, and the event is logged once. UNAVAILABLE when the outbox is full.
   */
  record(event: CriticalEvent, id?: string): Promise<void>;
  /** Removes the rows and writes the proof's coordinates to the alerts they came from, in one transaction. */
  settle(settlements: readonly Settlement[]): Promise<AlertUpdate[]>;
  /** The alerts whose entries stand last in the log, as they were settled: the highest leaf first, at most `limit`. */
  lastPlaces(limit: number): Promise<NotedPlace[]>;
  /**
   * For alerts whose entries the log has lost: they forget their places, and those at or above high get an
   * `alert.raised` outbox row anew, in one transaction.
   */
  logAgain(alertIds: readonly string[]): Promise<AlertUpdate[]>;
  /**
   * CONFLICT when the name is taken, and when there are limits.maxPrincipals. No log entry for the very first principal.
   */
  createPrincipal(principal: Principal, by: Actor): Promise<void>;
  /**
   * Changes a principal, with a `principal.status_changed` and a `principal.role_changed` outbox row where it was so.
   * With a new password all of its sessions end but `keptSession`. NOT_FOUND; VERSION_MISMATCH; CONFLICT for a name that
   * is taken, and for one after which no active user with a password has the role admin (`details.field` is `name`,
   * `roles` or `status`). What changes nothing gives the principal as it is.
   */
  changePrincipal(
    id: string,
    change: PrincipalChange,
    by: Actor,
    terms?: { readonly version?: number; readonly keptSession?: string },
  ): Promise<PrincipalChanged>;
  /**
   * Stores a token, with its `token.issued` outbox row. Past limits.maxTokensPerPrincipal a session ends the oldest
   * session, with its `token.revoked` row, which is the result; for a long-lived token it is CONFLICT.
   */
  addToken(token: Token, by: Actor): Promise<{ readonly ended: readonly string[] }>;
  /**
   * Replaces the refresh secret if `expectedHash` is current (returns true); otherwise revokes the session (false), so
   * the caller makes sure first that the secret was once the session's.
   */
  rotateSession(jti: string, expectedHash: string, newHash: string, by: Actor): Promise<boolean>;
  /** Revokes, with its `token.revoked` outbox row. False when it was revoked or unknown already. */
  revokeToken(jti: string, by: Actor): Promise<boolean>;
  /** When tokens were last presented (ISO 8601), by jti. Unknown ones are passed over. */
  noteTokenUse(uses: ReadonlyMap<string, string>): Promise<void>;
  /** Adds to the audit log; the oldest records beyond `limits.maxAuditRecords` go. */
  addAudit(records: readonly StoredAuditRecord[]): Promise<void>;
  /**
   * Copies siem.mdb, as of one moment, into an existing folder; flushed. Commits go on meanwhile. One copy at a time:
   * CONFLICT. UNAVAILABLE while closing.
   */
  copyTo(folder: string): Promise<void>;
  status(): Promise<StoreStatus>;
  /** Waits for a copy under way. */
  close(): Promise<void>;
}

export type SortOrder = 'asc' | 'desc';

export interface EventListQuery {
  readonly table: Table;
  readonly filter: EventFilter;
  readonly order: SortOrder;
  readonly per_page: number;
  /** 1-based; ignored when a cursor is given. */
  readonly page: number;
  readonly cursor?: string;
}

export interface AlertListQuery {
  readonly from?: number;
  readonly to?: number;
  readonly q?: string;
  readonly min_severity?: Alert['severity'];
  readonly terms: readonly FilterTerm[];
  /** An attribute that lists can be sorted by; default `last_seen`. */
  readonly sort: string;
  readonly order: SortOrder;
  readonly per_page: number;
  readonly page: number;
  readonly cursor?: string;
}

/** A page, its resources already written as JSON (`[{"id":…,"type":…,"attributes":{…}}, …]` in UTF-8), ready to move. */
export interface ListPage {
  readonly json: Uint8Array<ArrayBuffer>;
  readonly total: number;
  readonly next_cursor?: string;
  /** Page number this page has (a cursor carries it). */
  readonly page: number;
}

/** What subscribers missed: events with `seq` in [since + 1, …), oldest first. */
export interface Replay<T> {
  readonly events: readonly { readonly seq: number; readonly id: string; readonly data: T }[];
  /** Pass as the next `since`; equal to `head` when all was read. */
  readonly next: number;
  /** The newest committed sequence when this was read. */
  readonly head: number;
  /** Events that are no longer stored. */
  readonly lost: number;
}

/** Consistent reads of siem.mdb from any thread: synchronous, each on the newest flushed snapshot. */
export interface StoreReader {
  listEvents(query: EventListQuery): ListPage;
  getEvent(table: 'network', id: string): NetworkEvent | undefined;
  getEvent(table: 'dns', id: string): DnsEvent | undefined;
  getEvent(table: Table, id: string): NetworkEvent | DnsEvent | undefined;
  replayEvents(
    table: Table,
    since: number,
    filter: EventFilter,
    limit: number,
  ): Replay<NetworkEvent | DnsEvent>;
  listAlerts(query: AlertListQuery): ListPage;
  getAlert(id: string): Alert | undefined;
  replayAlerts(since: number, filter: AlertListQuery, limit: number): Replay<Alert>;
  listNotes(alertId: string, page: number, perPage: number): ListPage;
  principal(id: string): Principal | undefined;
  principalByName(name: string): Principal | undefined;
  token(jti: string): Token | undefined;
  /** A token and whose it is, of one snapshot. */
  holder(jti: string): { readonly token: Token; readonly principal: Principal | undefined } | undefined;
  /** Newest first. */
  listTokens(page: number, perPage: number): { readonly tokens: readonly Token[]; readonly total: number };
  /** Newest first. */
  listPrincipals(
    page: number,
    perPage: number,
  ): { readonly principals: readonly Principal[]; readonly total: number };
  /** Active users with a password and the role admin. */
  administrators(): number;
  /** Newest first, by the records' times: a range is half-open. A filter reads the whole range: about 1 µs a record. */
  listAudit(query: AuditListQuery): ListPage;
  /** Newest committed sequence of a channel; 0 before the first. */
  head(channel: 'events.network' | 'events.dns' | 'alerts'): number;
  close(): void;
}
