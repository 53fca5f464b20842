import type { FactName } from '../alerts/store/alert-facts.ts';
import type { CriticalEvent } from '../contract/critical-events.ts';
import type { ListForm } from '../contract/json-list.ts';
import type { ParsedFilter } from '../contract/query.ts';
import type { Alert, AlertUpdateInput } from '../contract/resources/alert.ts';
import type { AlertNote } from '../contract/resources/alert-note.ts';
import type { Asset, AssetInput, AssetUpdateInput } from '../contract/resources/asset.ts';
import type { AuditRecord } from '../contract/resources/audit-record.ts';
import type { DnsEvent } from '../contract/resources/dns-event.ts';
import type { EventProof as EventProofResource } from '../contract/resources/event-proof.ts';
import type { Histogram } from '../contract/resources/histogram.ts';
import type { IngestAnswer } from '../contract/resources/ingest.ts';
import type { IntelList } from '../contract/resources/intel-list.ts';
import type { NetworkEvent } from '../contract/resources/network-event.ts';
import type { Principal as PrincipalResource } from '../contract/resources/principal.ts';
import type { Receipt, ReceiptStatement } from '../contract/resources/receipt.ts';
import type { Scan } from '../contract/resources/scan.ts';
import type { Service } from '../contract/resources/service.ts';
import type { Silence, SilenceInput, SilenceUpdateInput } from '../contract/resources/silence.ts';
import type { Token as TokenResource } from '../contract/resources/token.ts';
import type { Topology } from '../contract/resources/topology.ts';
import type { TriageModel } from '../contract/resources/triage-model.ts';
import type { ValueCounts } from '../contract/resources/value-counts.ts';
import type { ExpiryReason, Role } from '../contract/vocabulary.ts';
import type { DamagedEvents, StoreDamage } from '../database/damage.ts';
import type { IntelChange } from '../detect/store/intel/intel-change.ts';
import type { IntelContent, IntelSettings } from '../detect/store/intel/intel-row.ts';
import type { RulesChange, StoredRules } from '../detect/store/rule-row.ts';
import type { AssetSnapshot } from '../events/asset-lookup.ts';
import type { EventValue } from '../events/event-values.ts';
import type { EventBlock } from '../events/format/block.ts';
import type { EventFilter } from '../events/query/filter.ts';
import type { Table } from '../events/records.ts';
import type { PolicyChange, StoredPolicy } from '../identities/store/policy.ts';
import type { PrincipalChangeOptions } from '../identities/store/principal-change.ts';
import type { Weight } from '../inventory/model/asset-risk.ts';
import type { LimitName } from '../limits.ts';
import type { RollupQuery, RollupView } from '../rollups/model/view.ts';
import type { Step } from '../topology/model/update.ts';

/**
 * Additions of one ingest request, or of several requests that arrived together. Buffers are transferred, so the
 * caller's buffers are detached.
 */
export interface IngestBatch {
  /** Blocks encoded by `BlockBuilder.finish`, with at most `limits.maxBlockRows` rows each. */
  readonly blocks: readonly ArrayBuffer[];
  /**
   * Findings, correlation facts, sightings and named hosts, packed by `packDerived`; absent for batches without
   * them. The main thread passes the buffer on without reading it.
   */
  readonly derived?: ArrayBuffer;
  /** The result for the caller, before duplicates are known; for several bodies, the sum of their counts. */
  readonly answer: IngestAnswer;
  /**
   * The Idempotency-Key, scoped to the principal, and the digest (SHA-256, hex) that distinguishes requests
   * with the same key.
   */
  readonly idempotency?: { readonly key: string; readonly digest: string };
  /** The receipt's statements about the body, except the counts in `answer`. */
  readonly receipt?: ReceiptDraft;
}

export type ReceiptDraft = Pick<ReceiptStatement, 'id' | 'sha256' | 'bytes' | 'sensor' | 'received_at'>;

/** An issued receipt with its position in the entry that logs it. */
export interface StoredReceipt {
  readonly receipt: ReceiptStatement;
  readonly batch?: Receipt['batch'];
}

/** The stored rows of a block in which some explicit ids already existed. */
export interface PartialBlock {
  /** Index among the blocks of the batch. */
  readonly block: number;
  /**
   * The stored rows, ascending: row n of the stored block was row `kept[n]` of the submitted block. Empty if
   * the block was not stored.
   */
  readonly kept: Uint32Array;
}

export interface CommittedBlock {
  readonly table: Table;
  /** Commit sequence of row 0, which is the `seq` of the channel; row n has `first_seq + n`. */
  readonly first_seq: number;
  readonly rows: number;
  /** The block as stored, transferred back to the caller. */
  readonly buffer: ArrayBuffer;
}

export interface AlertUpdate {
  /** The `seq` of channel `alerts`, which increases with every change of any alert. */
  readonly seq: number;
  readonly alert: Alert & { readonly id: string };
}

export type StoredScan = Scan & { readonly id: string };

export interface ScanUpdate {
  /** The `seq` of channel `discovery`, which increases with every change of any scan. */
  readonly seq: number;
  readonly scan: StoredScan;
}

/** Changes of a transaction, emitted after its flush and before its calls return. */
export interface CommitNotice {
  /** Changes of alerts, in the order of their sequence. */
  readonly alerts: readonly AlertUpdate[];
  readonly scans: readonly ScanUpdate[];
  /**
   * Sequence of the last stored change, by channel. Before its thread was restarted, the store may have
   * stored changes without emitting them.
   */
  readonly heads: { readonly alerts: number; readonly topology: number };
  /** The first sequence of each table whose event is not processed. */
  readonly processed: Readonly<Record<Table, number>>;
  /** Number of critical events that wait for the log. */
  readonly outbox: number;
}

export type StoredSilence = Silence & { readonly id: string };

/** A silence after a user's change. `unchanged` means that the change had no effect, so it was not stored. */
export interface SilenceChanged {
  readonly silence: StoredSilence;
  readonly unchanged?: true;
}

/** The scan results for a host that responded. */
export interface ScannedHost {
  /** Address in the canonical form of `printAddress`. */
  readonly ip: string;
  /** When the host was scanned, epoch milliseconds. */
  readonly at: number;
  /** Names from DNS, in lower case without a final dot. */
  readonly hostnames: readonly string[];
  /**
   * MAC address in lower case with colons; only for hosts on the local link, and only if the engine reports
   * it.
   */
  readonly mac?: string;
  readonly os?: string;
  /** Open ports, without duplicates. */
  readonly services: readonly ScannedService[];
  /** TCP ports that refused a connection. */
  readonly closed: Uint16Array;
}

export interface ScannedService {
  readonly port: number;
  readonly transport: string;
  /** Application protocol in lower case. */
  readonly name?: string;
  readonly product?: string;
  readonly version?: string;
  /** Host names in the TLS certificate of the service, not validated. */
  readonly certificate_names?: readonly string[];
}

/** Effects of recording scan results. */
export interface ScanRecorded {
  readonly assets_created: number;
  /** Existing assets that changed. */
  readonly assets_updated: number;
  /** Open ports that were recorded. */
  readonly services_found: number;
}

export interface Committed {
  readonly answer: IngestAnswer;
  /**
   * Whether the result of an earlier request with the same Idempotency-Key was returned, without storing the
   * batch.
   */
  readonly replayed: boolean;
  /** The stored blocks of the batch, in the order of the batch. */
  readonly blocks: readonly CommittedBlock[];
  /** Rows that were not stored; absent if all rows were stored. */
  readonly refused?: readonly PartialBlock[];
  /** Ids of correlations that fired; an id is repeated for each time that its correlation fired. */
  readonly fired?: readonly string[];
  /** The receipt, if requested. It is on disk, and a log entry will cover it. */
  readonly receipt?: ReceiptStatement;
}

/** Verdict on an alert from a model other than the local model. */
export type GivenVerdict = Omit<NonNullable<Alert['ai_verdict']>, 'at'>;

/** An alert after a user's change. `unchanged` means that the change had no effect, so it was not stored. */
export type AlertChanged = AlertUpdate & { readonly unchanged?: true };

/** The author of a change. `id` is a principal's UUID, or `system`. */
export interface Actor {
  readonly id: string;
  readonly name: string;
  /**
   * Id (UUIDv7) of the call that made the change. The audit record of the call lists the log entries of the
   * change.
   */
  readonly call?: string;
}

export interface AlertChange extends Readonly<Omit<AlertUpdateInput, 'tags'>> {
  readonly tags?: readonly string[];
}

/** An asset after a user's change. `unchanged` means that the change had no effect, so it was not stored. */
export interface AssetChanged {
  readonly asset: Asset & { readonly id: string };
  readonly unchanged?: true;
}

/**
 * A list of known-bad addresses and domains after a change. `unchanged` means that the change had no effect,
 * so it was not stored.
 */
export interface IntelChanged {
  readonly id: string;
  readonly list: IntelList;
  readonly unchanged?: true;
}

/**
 * A critical event that waits to be logged, committed with the change that caused it. `id` becomes the id of
 * the log entry.
 */
export interface OutboxRow extends CriticalEvent {
  readonly id: string;
  readonly occurred_at: string;
}

/** Position of an outbox row in the ledger. */
export interface Settlement {
  readonly id: string;
  readonly leaf_index: number;
  readonly tree_size: number;
  readonly leaf_hash: string;
}

/** A life of the log, as its first entry states it. */
export interface LogLife {
  readonly id: string;
  /** When the life started (ISO 8601). */
  readonly at: string;
}

/** Position of an entry in the log. */
export type EntryPosition = Pick<Settlement, 'leaf_index' | 'leaf_hash'>;

/** Position of the logged entry of an alert. */
export interface AlertPosition {
  readonly kind: 'alert';
  /** Leaf index. */
  readonly place: number;
  readonly alert_id: string;
  readonly leaf_hash: string;
}

/** A logged entry that covers receipts or stored events. */
export interface CoveringPosition {
  readonly kind: 'receipts' | 'events';
  /**
   * For receipts: sequence of the last receipt that the entry covers. For events: ordinal of the entry among
   * the entries that cover events.
   */
  readonly place: number;
  readonly entry_id: string;
}

/** A record, stored outside the log, of an entry in the log. */
export type LogPosition = AlertPosition | CoveringPosition;

/** A range of stored events of one table, with the roots of their digests. */
export interface SealedRows {
  readonly table: Table;
  readonly first_seq: number;
  readonly rows: number;
  /** Merkle roots of the range's batches of 128 pieces, 32 bytes each. */
  readonly batches: Uint8Array;
  /** When the first row was received (ISO 8601). */
  readonly first_received: string;
  /** When the last row was received (ISO 8601). */
  readonly last_received: string;
}

/** An event with its position in the entry that covers it. */
export interface EventProof {
  readonly attributes: NetworkEvent | DnsEvent;
  readonly seal: EventProofResource['seal'];
  /** Whether the entry is still in the outbox, in which case it may not be in the log yet. */
  readonly entry_waits: boolean;
}

/**
 * An identity that can sign in or that a token can belong to. Every change except a login increments the version; an
 * absent version means 1.
 */
export interface Principal extends Readonly<Omit<PrincipalResource, 'roles'>> {
  readonly id: string;
  readonly roles: readonly Role[];
  /** PHC string of argon2id; absent for principals without a password. */
  readonly password_hash?: string;
}

/** Changes to a principal; absent fields remain unchanged. */
export interface PrincipalChange {
  readonly name?: string;
  readonly roles?: readonly Role[];
  readonly status?: Principal['status'];
  readonly password_hash?: string;
}

export interface PrincipalChanged {
  readonly principal: Principal;
  /** Sessions that the change ended, each with its `token.revoked` entry. */
  readonly ended: readonly string[];
}

/** An audit record with its id (UUIDv7). */
export interface StoredAuditRecord extends AuditRecord {
  readonly id: string;
  /**
   * Id of the call (see `Actor`). Log entries that this call puts into the outbox are added to `entry_ids`.
   * Not stored.
   */
  readonly call?: string;
}

/**
 * A session (login to logout) or a long-lived token. Secrets are stored as SHA-256 only. The time of the last use is
 * accurate to the minute.
 */
export interface Token extends Readonly<Omit<TokenResource, 'scopes'>> {
  readonly roles: readonly Role[];
  /** SHA-256 (hex) of the long-lived secret, or of the session's current refresh token. */
  readonly secret_hash: string;
  /** SHA-256 (hex) of the part that all refresh tokens of a session share; sessions only. */
  readonly family_hash?: string;
}

/** Retention bounds, the current size of events, and totals of expired events. */
export interface RetentionStatus {
  /** Maximum age in milliseconds; absent if age is not bounded. */
  readonly max_age_ms?: number;
  /** Maximum size of all events on disk; absent if size is not bounded. */
  readonly max_bytes?: number;
  /** Current size of all events on disk, in whole pages. */
  readonly event_bytes: number;
  /** Milliseconds that the retention clock is behind the host's clock after a jump; otherwise 0. */
  readonly clock_behind_ms: number;
  /** When the oldest event of each table was received (epoch milliseconds). */
  readonly oldest: Readonly<Partial<Record<Table, number>>>;
  /** Totals of expired events since the database file was created. */
  readonly expired: readonly {
    readonly table: Table;
    readonly reason: ExpiryReason;
    readonly events: number;
    readonly bytes: number;
  }[];
}

export interface DetectorLimit {
  readonly limit: LimitName;
  /** Id of the detector. */
  readonly detector: string;
  readonly times: number;
}

/** An address outside the home networks that takes part in most connections. */
export interface PublicHost {
  readonly ip: string;
  /** Share of the newest connections, 0–1. */
  readonly share: number;
}

export interface StoreStatus {
  readonly events: Readonly<Record<Table, number>>;
  readonly retention: RetentionStatus;
  readonly blocks: number;
  /** Events that are stored but not yet processed by the inventory and detectors. */
  readonly uncounted_events: number;
  readonly alerts: number;
  readonly outbox: number;
  readonly assets: number;
  readonly services: number;
  /** Edges between hosts. */
  readonly topology_edges: number;
  /** Number of sorted runs that hold the edges, in all levels. */
  readonly topology_runs: number;
  /** How often each limit was reached since the store was opened. */
  readonly limits_reached: Readonly<Partial<Record<LimitName, number>>>;
  /** Limits reached by behaviour detectors, per detector. */
  readonly detector_limits: readonly DetectorLimit[];
  readonly public_host?: PublicHost;
  readonly bytes: number;
  /** Free pages of the file, which are reused before it grows. */
  readonly unused_bytes: number;
  readonly damage: StoreDamage;
}

/**
 * The only writer of siem.mdb, which runs in its own thread.
 *
 * Durability: every call resolves after its transaction is flushed to disk, and readers see only flushed
 * data. Atomicity: the changes of one call (blocks, counters, alerts, outbox rows, the idempotency record)
 * commit together. Order: calls are applied in order of arrival; calls that wait together share one
 * transaction and one flush. Failure: calls that fail with OVERLOADED or UNAVAILABLE store no data; after
 * WORKER_LOST, the outcome is unknown.
 */
export interface Store {
  /**
   * Stores a batch. Throws CONFLICT if the Idempotency-Key was used for another request. Throws UNAVAILABLE, without
   * storing the batch, in three cases: the disk is full; the outbox is full and the batch may cause alerts that must be
   * logged; or a receipt is requested and too many receipts wait for the log.
   */
  commit(batch: IngestBatch): Promise<Committed>;
  /**
   * Changes an alert. Throws NOT_FOUND, INVALID_TRANSITION, VERSION_MISMATCH (if `version` is given and
   * differs from the alert's version), CONFLICT for a verdict that differs from an override and at the limit of notes,
   * and UNAVAILABLE if the change must be logged and the outbox is full.
   */
  changeAlert(id: string, change: AlertChange, by: Actor, version?: number): Promise<AlertChanged>;
  /**
   * Replaces the verdict that the local model gave at `triagedAt` with the verdict of another model. Changes
   * only `ai_verdict`. Returns false, without a change, if the alert no longer exists or was triaged again.
   */
  setAiVerdict(id: string, verdict: GivenVerdict, triagedAt: string): Promise<boolean>;
  addNote(alertId: string, text: string, by: Actor): Promise<AlertNote & { id: string }>;
  /**
   * Creates a manual asset. Addresses and names must be canonical and unique; at least one address or name
   * must be given. Throws CONFLICT if another asset currently has one of the addresses or MAC addresses
   * (`details`: `field`, such as `ip_addresses.1`, and `asset_id`), and at the limits of assets and addresses.
   */
  createAsset(input: AssetInput, by: Actor): Promise<AssetChanged>;
  /**
   * Changes an asset. Lists are replaced; empty strings remove a value. Throws NOT_FOUND, VERSION_MISMATCH,
   * INVALID_TRANSITION, and CONFLICT in the same cases as `createAsset`.
   */
  changeAsset(id: string, change: AssetUpdateInput, by: Actor, version?: number): Promise<AssetChanged>;
  /** Removes an asset with its services and history. Throws NOT_FOUND and VERSION_MISMATCH. */
  removeAsset(id: string, version?: number): Promise<void>;
  /**
   * Moves all data of the asset `id` to the asset `into`, and returns `into`. Throws NOT_FOUND, VERSION_MISMATCH
   * (`version` is the version of `id`), and CONFLICT if `id` and `into` are equal or the result would exceed a
   * limit.
   */
  mergeAssets(id: string, into: string, by: Actor, version?: number): Promise<AssetChanged>;
  /**
   * Creates an asset from the given identifiers of the asset `id`, in canonical form, with the history and services of
   * these identifiers, and returns the new asset. Throws NOT_FOUND, VERSION_MISMATCH, INVALID_REQUEST for an
   * identifier that the asset does not have, and CONFLICT if `id` would keep no identifiers or there are already
   * limits.maxAssets assets.
   */
  splitAsset(id: string, identifiers: readonly string[], by: Actor, version?: number): Promise<AssetChanged>;
  /** Returns the oldest outbox rows, at most `limit`. Rows remain in the outbox until they are settled. */
  outbox(limit: number): Promise<OutboxRow[]>;
  /**
   * Puts a critical event into the outbox, flushed. Used for events that belong to no change in this database. Callers
   * must await this call before the reported action takes effect, so that every action is logged. `id` (UUIDv7) becomes
   * the id of the log entry; a call with an id may be repeated after WORKER_LOST, and the event is logged once. Throws
   * UNAVAILABLE if the outbox is full.
   */
  record(event: CriticalEvent, id?: string): Promise<void>;
  /** Removes settled outbox rows, and records the log positions of alerts in the alerts, in one transaction. */
  settle(settlements: readonly Settlement[]): Promise<void>;
  /**
   * Returns the alerts, receipt batches or event batches whose entries were settled last: highest `place`
   * first, at most `limit`.
   */
  lastPositions(kind: LogPosition['kind'], limit: number, below?: number): Promise<LogPosition[]>;
  /** Returns the life of the log that this database has entered; undefined in the first life. */
  logLife(): Promise<LogLife | undefined>;
  /**
   * Makes later positions refer to this life of the log; flushed. Entries that the life dropped must have
   * been logged again before.
   */
  enterLogLife(life: LogLife): Promise<void>;
  /**
   * Logs the lost entries again, in one transaction: positions are removed from alerts, and
   * alerts with severity high or above get another `alert.raised` outbox row; receipts and events are covered
   * by a new entry in the outbox.
   */
  logAgain(positions: readonly LogPosition[]): Promise<void>;
  /** Switches sealing of event ranges on or off. Rows stored while sealing was off stay unsealed. */
  switchSealing(isOn: boolean): Promise<void>;
  /**
   * Stores ranges that follow the sealed ranges, and puts an `events.sealed` entry into the outbox, in one
   * transaction. Returns false, without a change, while the outbox is full. Throws CONFLICT for rows that are
   * already sealed or not stored, and while sealing is off.
   */
  sealEvents(ranges: readonly SealedRows[]): Promise<boolean>;
  /**
   * Creates a principal. The creation of the first principal is not logged. Throws CONFLICT if the name is
   * taken, or if there are already limits.maxPrincipals principals.
   */
  createPrincipal(principal: Principal, by: Actor): Promise<void>;
  /**
   * Changes a principal, with a `principal.status_changed` outbox row if the status changed, and a
   * `principal.role_changed` row if the roles changed. A new password ends all sessions of the principal
   * except `keptSession`. Returns the unchanged principal if the change has no effect.
   *
   * Throws NOT_FOUND; FORBIDDEN if `callerRoles` do not include the roles of the principal; VERSION_MISMATCH;
   * and CONFLICT in three cases: the name is taken; no active user with a password and the role admin would
   * remain (`details.field` is `name`, `roles` or `status`); or no active user with a password could change
   * the access policy any more (`details.reason` is `locks_out`).
   */
  changePrincipal(
    id: string,
    change: PrincipalChange,
    by: Actor,
    options?: PrincipalChangeOptions,
  ): Promise<PrincipalChanged>;
  /**
   * Stores a token, with its `token.issued` outbox row. Above limits.maxTokensPerPrincipal, a new session
   * ends the oldest session, with its `token.revoked` row, and the id of the ended session is returned; for a
   * new long-lived token, throws CONFLICT.
   */
  addToken(token: Token, by: Actor): Promise<{ readonly ended: readonly string[] }>;
  /**
   * Replaces the refresh secret and returns true if `expectedHash` is the current hash; otherwise revokes the
   * session and returns false. The caller must first verify that the secret once belonged to the session.
   */
  rotateSession(jti: string, expectedHash: string, newHash: string, by: Actor): Promise<boolean>;
  /**
   * Revokes a token, with its `token.revoked` outbox row. Returns false if the token is unknown or was
   * already revoked.
   */
  revokeToken(jti: string, by: Actor): Promise<boolean>;
  /** Records when tokens were last presented (ISO 8601), by jti. Unknown tokens are ignored. */
  noteTokenUse(uses: ReadonlyMap<string, string>): Promise<void>;
  /**
   * Changes the access policy, with a `policy.rule_edited` or `policy.reloaded` outbox row if the rules
   * change. Throws VERSION_MISMATCH if the change does not follow the stored version, CONFLICT
   * (`details.reason` is `locks_out`) for rules that no active user with a password could change again, and
   * UNAVAILABLE if the outbox is full.
   */
  changePolicy(change: PolicyChange, by: Actor): Promise<void>;
  /** Stores a new or changed scan. Beyond `limits.maxScans`, the oldest finished scans are removed. */
  saveScan(scan: StoredScan): Promise<void>;
  /**
   * Adds scan results to the inventory: new assets, open ports, and ports that were open and now refuse
   * connections. A repeated call only updates the times of the last sighting.
   */
  recordScan(scanId: string, hosts: readonly ScannedHost[]): Promise<ScanRecorded>;
  /**
   * Adds records to the audit log, except records whose id and time are already stored. Beyond
   * `limits.maxAuditRecords`, the oldest records are removed.
   */
  addAudit(records: readonly StoredAuditRecord[]): Promise<void>;
  /**
   * Changes detection rules, with a `detection.reloaded` outbox row if one is given. Unchanged correlations
   * keep their state. Throws VERSION_MISMATCH if the change does not follow the stored version, and
   * UNAVAILABLE if the outbox is full.
   */
  changeRules(change: RulesChange, by: Actor): Promise<void>;
  /**
   * Creates a list of known-bad addresses and domains, with its `detection.reloaded` outbox row; later events
   * are matched against the list. Throws CONFLICT if there are already limits.maxIntelLists lists, or if all
   * lists together would exceed limits.maxIntelIndicators; UNAVAILABLE if the outbox is full.
   */
  createIntel(settings: IntelSettings, content: IntelContent, by: Actor): Promise<IntelChanged>;
  /**
   * Changes a list. New content replaces the old content, and empty strings remove a value. Returns the
   * unchanged list if the change has no effect. Throws the errors of `createIntel`, NOT_FOUND and
   * VERSION_MISMATCH.
   */
  changeIntel(
    id: string,
    change: IntelChange,
    by: Actor,
    terms?: { readonly content?: IntelContent; readonly version?: number },
  ): Promise<IntelChanged>;
  /**
   * Removes a list and its hits, with a `detection.reloaded` outbox row. Throws NOT_FOUND and
   * VERSION_MISMATCH.
   */
  removeIntel(id: string, by: Actor, version?: number): Promise<void>;
  /**
   * Creates a silence that applies to later findings. Strings in the input must be canonical. If
   * limits.maxSilences is reached, the silence that ended first is removed. Throws INVALID_REQUEST for an end
   * in the past or more than limits.maxSilenceMs ahead, and CONFLICT if limits.maxSilences silences are
   * active.
   */
  createSilence(input: SilenceInput, by: Actor): Promise<StoredSilence>;
  /**
   * Changes a silence. Throws NOT_FOUND, VERSION_MISMATCH, and INVALID_REQUEST in the same cases as
   * `createSilence`.
   */
  changeSilence(id: string, change: SilenceUpdateInput, version?: number): Promise<SilenceChanged>;
  /** Removes a silence. Throws NOT_FOUND and VERSION_MISMATCH. */
  removeSilence(id: string, version?: number): Promise<void>;
  /**
   * Copies a consistent snapshot of siem.mdb into an existing folder; flushed. Commits continue during the
   * copy. Throws CONFLICT if a copy is already running, and UNAVAILABLE while the store is closing.
   */
  copyTo(folder: string): Promise<void>;
  status(): Promise<StoreStatus>;
  /** Returns the damage known so far. */
  damage(): Promise<StoreDamage>;
  /**
   * Resolves when all events that are stored now are processed, and the results are written.
   *
   * @throws INTERNAL if processing has stopped
   */
  processed(): Promise<void>;
  /**
   * Records damage found by a read. After this call resolves, all reads leave out the damaged block.
   *
   * @param found - the details of the read's error
   */
  reportDamage(found: DamageFound): Promise<void>;
  /** Waits for a running copy, then closes the store. */
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

/**
 * A filter for items of a resource other than events. `q` is a case-insensitive substring of the resource's names.
 * `min_severity` is only for resources that have a severity.
 */
export type ListFilter = ParsedFilter;

/** A query for one part of an event export from one table, in order of time. */
export interface EventExportQuery {
  readonly table: Table;
  readonly filter: EventFilter;
  readonly order: SortOrder;
  /** The position of the part; absent for the first part. */
  readonly place?: EventExportPlace;
}

/** The position at which the next part of an export of events begins. */
export interface EventExportPlace {
  /** Time and sequence of the last exported event. */
  readonly timestamp: number;
  readonly seq: number;
  /** Last sequence of the export. Events stored after the export began are not included. */
  readonly lastSeq: number;
}

/** A part of an export. */
export interface EventExportPart {
  /** Resources as JSON, each with a line ending; may be empty even if more parts follow. */
  readonly lines: Uint8Array<ArrayBuffer>;
  /** The position of the next part; absent on the last part. */
  readonly next?: EventExportPlace;
}

/** A part of an export, by columns. */
export interface EventExportColumns {
  readonly count: number;
  /** One column for each requested attribute (which may be `id`), with the value of each event. */
  readonly columns: readonly (readonly EventValue[])[];
  /** The position of the next part; absent on the last part. */
  readonly next?: EventExportPlace;
}

/** A query for counts of items over time, in at most `buckets` buckets. Plain data that crosses threads. */
interface HistogramQuery {
  readonly buckets: number;
  /** Current time, epoch milliseconds. Determines the range if no items are stored and no range is given. */
  readonly now: number;
}

export interface EventHistogramQuery extends HistogramQuery {
  readonly table: Table;
  readonly filter: EventFilter;
}

/** A query for the most frequent values of the filter `by` among the matching events, with their counts. */
export interface EventValuesQuery {
  readonly table: Table;
  readonly filter: EventFilter;
  readonly by: string;
  /** Number of values to return. */
  readonly limit: number;
}

export interface AlertHistogramQuery extends HistogramQuery {
  readonly filter: ListFilter;
}

/** Query for a list of any resource except events. Plain data that crosses threads. */
export interface ListQuery extends ListFilter {
  /** An attribute by which lists of the resource can be sorted. */
  readonly sort: string;
  readonly order: SortOrder;
  readonly per_page: number;
  /** 1-based; ignored when a cursor is given. */
  readonly page: number;
  readonly cursor?: string;
  /** Form of the output; default: an array. */
  readonly form?: ListForm;
}

/** Range of alerts to visit, in the order of their ids. */
export interface AlertSpan {
  /** Id after which the visit begins, in its direction; absent to begin with the first alert. */
  readonly after?: string;
  /** Last id of the visit, inclusive; absent to visit all alerts. */
  readonly until?: string;
  readonly newestFirst?: boolean;
  /** Maximum number of rows to read, matching or not. */
  readonly rows?: number;
  /** Whether to visit alerts with their assets; otherwise assets are read only if the filter needs them. */
  readonly withAssets?: boolean;
}

/** Attributes by which alerts are counted. */
export type AlertFacts = Pick<Alert, FactName | 'asset_ids'>;
export type VisitFacts = (id: string, facts: AlertFacts) => 'enough' | undefined;
export type VisitAlert = (id: string, alert: Alert) => 'enough' | undefined;

/**
 * A list page whose resources are already written as JSON (`[{"id":…,"type":…,"attributes":{…}}, …]` in
 * UTF-8), so that it can be transferred to another thread.
 */
export interface ListPage {
  /** The page in the form that the query requests. */
  readonly json: Uint8Array<ArrayBuffer>;
  readonly total: number;
  readonly next_cursor?: string;
  /** Number of this page (contained in cursors). */
  readonly page: number;
}

/** A query for a part of the graph. */
export interface TopologyQuery {
  /**
   * Half-open range, epoch milliseconds. Widened to whole hours; to days if hours are no longer stored; to all data if
   * days are no longer stored either.
   */
  readonly from?: number;
  readonly to?: number;
  readonly group_by: 'host' | 'subnet';
  /** Id of an asset. Selects nodes up to `depth` edges away from its addresses. */
  readonly focus?: string;
  readonly depth: number;
  /** Maximum number of nodes; the busiest nodes are returned. */
  readonly limit: number;
}

/** One change of the graph. */
export interface TopologyStep {
  /** The `seq` of channel `topology`. */
  readonly seq: number;
  /** The additions; undefined if the step is too large for subscribers. */
  readonly step: Step | undefined;
}

/** An alert that contributes to a risk score. The order by `rank` does not change over time. */
export interface RiskyAlert extends Weight, Pick<Alert, 'title' | 'severity' | 'last_seen'> {
  readonly id: string;
}

/** An asset at risk and the alerts that contribute to its score, the largest contribution first. */
export interface RiskyAsset extends Pick<Asset, 'name' | 'criticality'> {
  readonly id: string;
  readonly alerts: readonly RiskyAlert[];
}

export interface RiskView {
  /** The riskiest assets, at most limits.maxShownRisks. */
  readonly assets: readonly RiskyAsset[];
  /** Number of assets whose risk score is above 0. */
  readonly total: number;
  /**
   * The alerts with the largest contributions whose addresses did not belong to an asset when the alerts were
   * last seen.
   */
  readonly unassigned: readonly RiskyAlert[];
}

/**
 * A change of a risk score: its time (epoch milliseconds), the new score, and the highest score until the
 * next reported change.
 */
export interface RiskChange {
  readonly at: number;
  readonly score: number;
  readonly highest: number;
}

export interface RiskHistoryView {
  /**
   * The score before the first change in `changes`; undefined if no change was ever recorded, so that the
   * current score applies to the whole range.
   */
  readonly held: number | undefined;
  /** The changes of the range, in order of time. */
  readonly changes: readonly RiskChange[];
}

/** Events that a subscriber missed: events with a `seq` above `since`, oldest first. */
export interface Replay<T> {
  readonly events: readonly { readonly seq: number; readonly id: string; readonly data: T }[];
  /** The value for `since` in the next call; equal to `head` when all events were read. */
  readonly next: number;
  /** The newest committed sequence at the time of the read. */
  readonly head: number;
  /** Events that are no longer stored. */
  readonly lost: number;
}

export type { AddressSpan, AssetLookup, AssetSnapshot, Owner } from '../events/asset-lookup.ts';

/** The damage location in the error of a read: a table, and for events the first sequence of the block. */
export interface DamageFound {
  readonly table: string;
  readonly block?: number;
  /** Table and key of a damaged row. */
  readonly row?: string;
}

/** Consistent reads of siem.mdb from any thread: synchronous, each on the newest flushed snapshot. */
export interface StoreReader {
  /**
   * Owners of addresses, as of the last `refresh` or the last read that returned names of assets, whichever
   * was later. The snapshot is stable only until the current task of the event loop ends.
   */
  readonly assets: AssetSnapshot;
  listEvents(query: EventListQuery): ListPage;
  /**
   * Returns the events that were stored when the first part was read, in parts. Each part reads a bounded
   * number of rows. Events that retention removes during the export are not included.
   */
  exportEvents(query: EventExportQuery): EventExportPart;
  exportEventColumns(query: EventExportQuery, attributes: readonly string[]): EventExportColumns;
  /** Counts events over time. Missing bounds default to the bounds of all stored events, matching or not. */
  eventHistogram(query: EventHistogramQuery): Histogram;
  eventValueCounts(query: EventValuesQuery): ValueCounts;
  getEvent(table: 'network', id: string): NetworkEvent | undefined;
  getEvent(table: 'dns', id: string): DnsEvent | undefined;
  getEvent(table: Table, id: string): NetworkEvent | DnsEvent | undefined;
  /** Returns the damaged ranges of events that are missing from results for this time range. */
  damagedEvents(table: Table, from?: number, to?: number): readonly DamagedEvents[];
  /**
   * Returns table and key of damaged rows that reads left out since the last call, at most
   * `limits.maxNamedDamage`.
   */
  damagedRows(): readonly string[];
  /** Returns whether the id belonged to an event that retention removed; false for ids that senders chose. */
  isPast(table: Table, id: string): boolean;
  replayEvents(table: Table, since: number, filter: EventFilter, limit: number): Replay<NetworkEvent | DnsEvent>;
  listAlerts(query: ListQuery): ListPage;
  getAlert(id: string): Alert | undefined;
  replayAlerts(since: number, filter: ListFilter, limit: number): Replay<Alert>;
  /**
   * Visits the matching alerts in the order in which they were raised, until `visit` returns `enough` or the
   * maximum number of rows of `span` was read.
   *
   * @returns the id after which to continue; undefined after the last alert
   */
  visitAlerts(filter: ListFilter, span: AlertSpan, visit: VisitAlert): string | undefined;
  /**
   * Visits alerts as `visitAlerts` does, but with only the attributes by which alerts are counted: several
   * times faster if the filter needs only these attributes.
   */
  visitAlertFacts(filter: ListFilter, span: AlertSpan, visit: VisitFacts): string | undefined;
  /**
   * Counts alerts over time, by `last_seen`. Missing bounds default to the bounds of all stored alerts,
   * matching or not.
   */
  alertHistogram(query: AlertHistogramQuery): Histogram;
  /** Returns the id of the alert that was raised last. */
  lastAlertId(): string | undefined;
  /** Lists `alert_history` resources, in order of time. */
  listAlertHistory(alertId: string, query: ListQuery): ListPage;
  listNotes(alertId: string, query: ListQuery): ListPage;
  /** Lists silences as of `nowMs` (epoch milliseconds). */
  listSilences(query: ListQuery, nowMs: number): ListPage;
  getSilence(id: string, nowMs: number): Silence | undefined;
  getAsset(id: string): Asset | undefined;
  listAssets(query: ListQuery): ListPage;
  /** Returns the id of the asset into which the asset was merged; undefined if it was not merged. */
  mergedInto(id: string): string | undefined;
  /** Lists `asset_history` resources, in order of time. */
  listAssetHistory(assetId: string, query: ListQuery): ListPage;
  getService(id: string): Service | undefined;
  listServices(query: ListQuery): ListPage;
  principal(id: string): Principal | undefined;
  principalByName(name: string): Principal | undefined;
  token(jti: string): Token | undefined;
  /** Returns a token and its principal, from one snapshot. */
  holder(jti: string): { readonly token: Token; readonly principal: Principal | undefined } | undefined;
  /** Lists tokens as of `nowMs` (epoch milliseconds), without their hashes. */
  listTokens(query: ListQuery, nowMs: number): ListPage;
  /** Lists principals, without their hashes. */
  listPrincipals(query: ListQuery): ListPage;
  /** Returns stored principals including hashes, newest first. */
  storedPrincipals(
    page: number,
    perPage: number,
  ): { readonly principals: readonly Principal[]; readonly total: number };
  /** Counts active users with a password and the role admin. */
  administrators(): number;
  /** Returns the access policy in effect; undefined before the first start has stored it. */
  storedPolicy(): StoredPolicy | undefined;
  /**
   * Lists audit records, sorted by `time` only. A filter reads the whole time range: 1 to 2 µs per record.
   */
  listAudit(query: ListQuery): ListPage;
  listScans(query: ListQuery): ListPage;
  getReceipt(id: string): StoredReceipt | undefined;
  /** Returns the first sequence of a table that is not sealed yet; undefined while sealing is off. */
  sealedUpTo(table: Table): number | undefined;
  /** Digests stored events that are not sealed yet; see the function `digestEvents`. */
  digestEvents(table: Table, from: number, maxRows: number): SealedRows | undefined;
  /** Returns an event with its proof; see the function `proveEvent`. */
  proveEvent(table: Table, id: string): EventProof | undefined;
  getScan(id: string): Scan | undefined;
  replayScans(since: number, filter: ListFilter, limit: number): Replay<Scan>;
  /** Returns the scan that was requested last. */
  lastScan(): StoredScan | undefined;
  /** Returns the waiting and running scans, in the order in which they were requested. */
  unfinishedScans(): readonly StoredScan[];
  /** Returns the graph of flows. Throws NOT_FOUND if the focus is not an asset. */
  topology(query: TopologyQuery): Topology;
  /**
   * Returns the assets at risk, ordered by their last stored score, with the alerts that contribute to it,
   * and the alerts that belong to no asset.
   */
  risks(): RiskView;
  /** Returns the changes of an asset's risk score in a range (epoch milliseconds) of the service's clock. */
  riskHistory(assetId: string, from: number, to: number): RiskHistoryView;
  /** Explains the local model that triages alerts. */
  triageModel(): TriageModel;
  /**
   * Returns the counters of a time window and of the previous window. Takes milliseconds, regardless of the
   * number of events.
   */
  rollups(query: RollupQuery): RollupView;
  /** Returns the version of the detection rules; 0 before the first change. */
  rulesVersion(): number;
  storedRules(): StoredRules;
  /** Returns a page of the lists of known-bad addresses and domains, as of `nowMs` (epoch milliseconds). */
  listIntel(query: ListQuery, nowMs: number): ListPage;
  /** Returns the seed of the lists' indexes: 32 random bits, fixed per file. */
  intelSeed(): number;
  getIntel(id: string, nowMs: number): { readonly id: string; readonly list: IntelList } | undefined;
  /**
   * Returns a page of `intel_indicator` items; undefined if the list does not exist. Takes half a second for
   * the longest list.
   */
  listIndicators(listId: string, query: ListQuery): ListPage | undefined;
  /**
   * Returns blocks with events of a time range (half-open, epoch milliseconds), newest first. A block is
   * valid until the next block is read. All blocks are from one snapshot, unless the caller makes other reads
   * between two blocks.
   */
  blocks(table: Table, from: number, to: number): Iterable<EventBlock>;
  /**
   * Returns changes of the graph after a sequence, oldest first, at most `limit`. A gap before the first
   * change means that earlier changes are no longer stored.
   */
  topologySteps(since: number, limit: number): readonly TopologyStep[];
  /** Returns the newest committed sequence of a channel; 0 before the first commit. */
  head(channel: 'events.network' | 'events.dns' | 'alerts' | 'topology' | 'discovery'): number;
  close(): void;
}
