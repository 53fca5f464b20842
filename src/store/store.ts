import type { CriticalEvent } from '../contract/critical-events.ts';
import type { ListForm } from '../contract/json-list.ts';
import type { Alert } from '../contract/resources/alert.ts';
import type { AlertNote } from '../contract/resources/alert-note.ts';
import type { Asset, AssetInput, AssetUpdateInput } from '../contract/resources/asset.ts';
import type { AuditRecord } from '../contract/resources/audit-record.ts';
import type { DnsEvent } from '../contract/resources/dns-event.ts';
import type { EventProof as EventProofResource } from '../contract/resources/event-proof.ts';
import type { Histogram } from '../contract/resources/histogram.ts';
import type { IngestAnswer } from '../contract/resources/ingest.ts';
import type { IntelList } from '../contract/resources/intel-list.ts';
import type { NetworkEvent } from '../contract/resources/network-event.ts';
import type { Receipt, ReceiptStatement } from '../contract/resources/receipt.ts';
import type { Scan } from '../contract/resources/scan.ts';
import type { Service } from '../contract/resources/service.ts';
import type { Silence, SilenceInput, SilenceUpdateInput } from '../contract/resources/silence.ts';
import type { Topology } from '../contract/resources/topology.ts';
import type { TriageModel } from '../contract/resources/triage-model.ts';
import type { ValueCounts } from '../contract/resources/value-counts.ts';
import type { ExpiryReason, Role, Severity } from '../contract/vocabulary.ts';
import type { AssetSnapshot } from '../events/asset-lookup.ts';
import type { EventBlock } from '../events/block.ts';
import type { Contact } from '../events/contact.ts';
import type { CorrelationFact } from '../events/correlation-fact.ts';
import type { EventValue } from '../events/event-values.ts';
import type { EventFilter, FilterTerm } from '../events/filter.ts';
import type { Finding } from '../events/finding.ts';
import type { Table } from '../events/records.ts';
import type { Weight } from '../inventory/asset-risk.ts';
import type { Sighting } from '../inventory/sighting.ts';
import type { LimitName } from '../limits.ts';
import type { RollupQuery, RollupView } from '../rollups/view.ts';
import type { Step } from '../topology/update.ts';
import type { DamagedEvents, StoreDamage } from './damage.ts';
import type { IntelContent, IntelTerms } from './intel-row.ts';
import type { RulesChange, StoredRules } from './rule-row.ts';

/**
 * Additions of one ingest request, or of several that arrived together. Block buffers are transferred: the
 * caller's are detached.
 */
export interface IngestBatch {
  /** Encoded by `BlockBuilder.finish`; at most `limits.maxBlockRows` rows each. */
  readonly blocks: readonly ArrayBuffer[];
  readonly findings: readonly Finding[];
  /** Matches of rules, as input for correlations. */
  readonly facts?: readonly CorrelationFact[];
  /** Facts about hosts from records that are not events. */
  readonly sightings?: readonly Sighting[];
  /** Hosts named by records that are not events. */
  readonly contacts?: readonly Contact[];
  /** The response to the caller, before duplicates are known; for several bodies, the sum of their counts. */
  readonly answer: IngestAnswer;
  /** `key` is scoped to the principal; `digest` (SHA-256, hex) distinguishes requests with the same key. */
  readonly idempotency?: { readonly key: string; readonly digest: string };
  /** The body's receipt statements, except the counts of `answer`. */
  readonly receipt?: ReceiptDraft;
}

export type ReceiptDraft = Pick<ReceiptStatement, 'id' | 'sha256' | 'bytes' | 'sensor' | 'received_at'>;

/** An issued receipt, with its place in the entry that logs it. */
export interface StoredReceipt {
  readonly receipt: ReceiptStatement;
  readonly batch?: Receipt['batch'];
}

/** A block of which some rows were not stored because their explicit ids already existed. */
export interface RefusedRows {
  /** Index among the blocks of the batch. */
  readonly block: number;
  /**
   * The stored rows, ascending: row n of the stored block was row `kept[n]`. Empty if the block was not
   * stored.
   */
  readonly kept: Uint32Array;
}

export interface CommittedBlock {
  readonly table: Table;
  /** Commit sequence of row 0; row n has `first_seq + n`. The channel's `seq`. */
  readonly first_seq: number;
  readonly rows: number;
  /** The block as stored, transferred back to the caller. */
  readonly buffer: ArrayBuffer;
}

export interface AlertUpdate {
  /** Increases with every change of any alert; the `seq` of channel `alerts`. */
  readonly seq: number;
  readonly alert: Alert & { readonly id: string };
}

export type StoredScan = Scan & { readonly id: string };

export interface ScanUpdate {
  /** Increases with every change of any scan; the `seq` of channel `discovery`. */
  readonly seq: number;
  readonly scan: StoredScan;
}

export type StoredSilence = Silence & { readonly id: string };

/** A silence after a user's change. `unchanged`: the change had no effect, and nothing was stored. */
export interface SilenceChanged {
  readonly silence: StoredSilence;
  readonly unchanged?: true;
}

/** Scan results for a host that answered. */
export interface ScannedHost {
  /** In the canonical form of `printAddress`. */
  readonly ip: string;
  /** Epoch milliseconds. */
  readonly at: number;
  /** Names from DNS, in lower case without a final dot. */
  readonly hostnames: readonly string[];
  /** Lower case with colons; only for hosts on the local link, and only if the engine reports it. */
  readonly mac?: string;
  readonly os?: string;
  /** Open ports, each once. */
  readonly services: readonly ScannedService[];
  /** TCP ports that refused a connection. */
  readonly closed: Uint16Array;
}

export interface ScannedService {
  readonly port: number;
  readonly transport: string;
  /** Application protocol, lower case. */
  readonly name?: string;
  readonly product?: string;
  readonly version?: string;
  /** Host names of its TLS certificate, not validated. */
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
   * True when the response to an earlier request with the same Idempotency-Key was repeated and nothing was
   * stored.
   */
  readonly replayed: boolean;
  /** The stored blocks of the batch, in its order. */
  readonly blocks: readonly CommittedBlock[];
  /** Absent where every row was stored. */
  readonly refused?: readonly RefusedRows[];
  readonly alerts: readonly AlertUpdate[];
  /** Ids of correlations that fired, once for each time. */
  readonly fired?: readonly string[];
  /** Rows waiting in the outbox. */
  readonly outbox: number;
  /** Present if one was requested. It is on disk, and the log will cover it. */
  readonly receipt?: ReceiptStatement;
}

/** Verdict on an alert from a model other than the local one. */
export type GivenVerdict = Omit<NonNullable<Alert['ai_verdict']>, 'at'>;

/**
 * Result of a user's change. `unchanged`: the change had no effect; nothing was stored and nothing is to be
 * published.
 */
export type AlertChanged = AlertUpdate & { readonly unchanged?: true };

/** The author of a change. `id` is a principal's UUID, or `system`. */
export interface Actor {
  readonly id: string;
  readonly name: string;
  /** The call (UUIDv7) that made the change: its audit record names the entries of the change. */
  readonly call?: string;
}

export interface AlertChange {
  readonly status?: Alert['status'];
  /** Null or empty to withdraw the verdict. */
  readonly verdict?: Alert['verdict'] | '' | null;
  readonly priority?: Alert['priority'];
  readonly severity?: Alert['severity'];
  /** The same. */
  readonly assignee?: string | null;
  readonly tags?: readonly string[];
  readonly note?: string;
  readonly ai_override?: { readonly verdict: NonNullable<Alert['verdict']>; readonly reason: string };
}

/** An asset after a user's change. `unchanged`: the change had no effect, and nothing was stored. */
export interface AssetChanged {
  readonly asset: Asset & { readonly id: string };
  readonly unchanged?: true;
}

/**
 * A list of known-bad addresses and domains after a change. `unchanged`: the change had no effect, and
 * nothing was stored.
 */
export interface IntelChanged {
  readonly id: string;
  readonly list: IntelList;
  readonly unchanged?: true;
}

/**
 * A critical event waiting to be logged, committed with the change that caused it. `id` becomes the entry's
 * id.
 */
export interface OutboxRow extends CriticalEvent {
  readonly id: string;
  readonly occurred_at: string;
}

/** Position in the ledger of an outbox row. */
export interface Settlement {
  readonly id: string;
  readonly leaf_index: number;
  readonly tree_size: number;
  readonly leaf_hash: string;
}

/** A generation of the log, as its first entry states. */
export interface LogLife {
  readonly id: string;
  /** ISO 8601. */
  readonly at: string;
}

/** Position of an entry in the log. */
export type EntryPlace = Pick<Settlement, 'leaf_index' | 'leaf_hash'>;

/** Position of the logged entry of an alert. */
export interface AlertPlace {
  readonly kind: 'alert';
  /** Leaf index. */
  readonly place: number;
  readonly alert_id: string;
  readonly leaf_hash: string;
}

/** A logged entry that covers receipts or stored events. */
export interface CoveringPlace {
  readonly kind: 'receipts' | 'events';
  /**
   * For receipts, sequence of the last receipt that the entry covers; for events, the entry's ordinal among
   * those that cover events.
   */
  readonly place: number;
  readonly entry_id: string;
}

export type NotedPlace = AlertPlace | CoveringPlace;

/** A range of stored events of one table, with the roots of their digests. */
export interface SealedRows {
  readonly table: Table;
  readonly first_seq: number;
  readonly rows: number;
  /** Merkle roots of the range's batches of 128 pieces, 32 bytes each. */
  readonly batches: Uint8Array;
  /** When the first and the last row were received (ISO 8601). */
  readonly first_received: string;
  readonly last_received: string;
}

/** An event with its position in the entry that covers it. */
export interface EventProof {
  readonly attributes: NetworkEvent | DnsEvent;
  readonly seal: EventProofResource['seal'];
  /** The entry is still in the outbox, so it may not be in the log yet. */
  readonly entry_waits: boolean;
}

/** An identity that can sign in or that a token can belong to. */
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
  /** Increases with every change except a login; absent means 1. */
  readonly version?: number;
}

/** Changes to a principal; absent fields stay as they are. */
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
  /** As in `Actor`: entries that this call put into the outbox are added to `entry_ids`. Not stored. */
  readonly call?: string;
}

/** A session (login to logout) or a long-lived token. Secrets are stored as SHA-256 only. */
export interface Token {
  readonly jti: string;
  readonly principal_id: string;
  readonly kind: 'session' | 'long_lived';
  readonly name?: string;
  readonly roles: readonly Role[];
  /** SHA-256 (hex) of the long-lived secret, or of the session's current refresh token. */
  readonly secret_hash: string;
  /** SHA-256 (hex) of the part that all refresh tokens of a session share; sessions only. */
  readonly family_hash?: string;
  readonly issued_at: string;
  readonly expires_at?: string;
  readonly revoked_at?: string;
  /** To the minute. */
  readonly last_used_at?: string;
}

/** Retention bounds, the current size of events, and totals of expired events. */
export interface RetentionStatus {
  /** Maximum age in milliseconds; absent if age is not bounded. */
  readonly max_age_ms?: number;
  /** Maximum size of all events on disk; absent if size is not bounded. */
  readonly max_bytes?: number;
  /** Current size of all events on disk, in whole pages. */
  readonly event_bytes: number;
  /** How far the clock that retention uses is behind the host's clock after a jump; otherwise 0. */
  readonly clock_behind_ms: number;
  /** When the oldest event of a table was received, epoch milliseconds. */
  readonly oldest: Readonly<Partial<Record<Table, number>>>;
  /** Totals since the file was created. */
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
  /** How often each limit caused data to be dropped since the store was opened. */
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
 * The only writer of siem.mdb, in its own thread.
 *
 * Durability: every call resolves after its transaction is flushed to disk; readers see nothing earlier.
 * Atomicity: the changes of one call (blocks, counters, alerts, outbox rows, the idempotency record) commit
 * together.
 * Order: calls are applied in order of arrival; calls that wait together share one transaction and one flush.
 * Failure: OVERLOADED and UNAVAILABLE store nothing; after WORKER_LOST the outcome is unknown.
 */
export interface Store {
  /**
   * CONFLICT when the Idempotency-Key was used for another request. UNAVAILABLE, with nothing stored, when a
   * receipt is requested and limits.maxReceipts are waiting for the log.
   */
  commit(batch: IngestBatch): Promise<Committed>;
  /**
   * NOT_FOUND; INVALID_TRANSITION; VERSION_MISMATCH (when `version` is given and is not the alert's);
   * CONFLICT for a verdict that differs from that of an override.
   */
  changeAlert(id: string, change: AlertChange, by: Actor, version?: number): Promise<AlertChanged>;
  /**
   * Replaces the local verdict made at `triagedAt` (its `at`) with that of another model. Changes only
   * `ai_verdict`. Undefined, with nothing changed, if the alert no longer exists or was triaged again.
   */
  setAiVerdict(id: string, verdict: GivenVerdict, triagedAt: string): Promise<AlertUpdate | undefined>;
  addNote(
    alertId: string,
    text: string,
    by: Actor,
  ): Promise<{ note: AlertNote & { id: string }; update: AlertUpdate }>;
  /**
   * Creates a manual asset. Addresses and names are canonical and unique; at least one address or name is
   * given. CONFLICT when another asset currently has one of the addresses or MAC addresses (`details`:
   * `field`, such as `ip_addresses.1`, and `asset_id`), and when there are limits.maxAssets.
   */
  createAsset(input: AssetInput, by: Actor): Promise<AssetChanged>;
  /**
   * NOT_FOUND; VERSION_MISMATCH; INVALID_TRANSITION; CONFLICT as `createAsset`. Lists are replaced; empty
   * strings remove a value.
   */
  changeAsset(id: string, change: AssetUpdateInput, by: Actor, version?: number): Promise<AssetChanged>;
  /** Removes an asset with its services and history. NOT_FOUND; VERSION_MISMATCH. */
  removeAsset(id: string, version?: number): Promise<void>;
  /**
   * Moves everything that belongs to `id` to `into`, which is returned. NOT_FOUND; VERSION_MISMATCH
   * (`version` is that of `id`); CONFLICT when both are the same asset.
   */
  mergeAssets(id: string, into: string, by: Actor, version?: number): Promise<AssetChanged>;
  /**
   * Creates an asset from these addresses of `id` (canonical), with their history and their services, and
   * returns it. NOT_FOUND; VERSION_MISMATCH; INVALID_REQUEST for an identifier that the asset does not have;
   * CONFLICT when none would be left.
   */
  splitAsset(id: string, identifiers: readonly string[], by: Actor, version?: number): Promise<AssetChanged>;
  /** Returns the oldest rows, at most `limit`. They stay until settled. */
  outbox(limit: number): Promise<OutboxRow[]>;
  /**
   * Puts a critical event into the outbox, flushed, whose change is stored elsewhere (rule files, policy
   * files). Called before that change takes effect, so that no change goes unlogged. `id` (UUIDv7) becomes
   * the entry's id: with it, the call may be repeated after WORKER_LOST, and the event is logged once.
   * UNAVAILABLE when the outbox is full.
   */
  record(event: CriticalEvent, id?: string): Promise<void>;
  /** Removes the rows and writes the position in the log to the alerts they came from, in one transaction. */
  settle(settlements: readonly Settlement[]): Promise<AlertUpdate[]>;
  /**
   * Returns the alerts, or batches of receipts or events, whose entries were settled last: highest `place`
   * first, at most `limit`.
   */
  lastPlaces(kind: NotedPlace['kind'], limit: number, below?: number): Promise<NotedPlace[]>;
  /** Returns the log generation that this database has entered; undefined in the first one. */
  logLife(): Promise<LogLife | undefined>;
  /**
   * From now on, positions refer to this generation; flushed. Entries that the generation dropped were logged
   * again before.
   */
  enterLogLife(life: LogLife): Promise<void>;
  /**
   * For entries that the log has lost: alerts forget their positions, and those with severity high or above
   * get another `alert.raised` outbox row; receipts and events are covered by a new entry in the outbox. One
   * transaction.
   */
  logAgain(places: readonly NotedPlace[]): Promise<AlertUpdate[]>;
  /** Switches sealing of event ranges on or off. Rows stored while it was off stay without a seal. */
  switchSealing(isOn: boolean): Promise<void>;
  /**
   * Stores ranges that follow the sealed ones, and puts an `events.sealed` entry into the outbox, in one
   * transaction. False, with nothing changed, while the outbox is full; CONFLICT for rows that are already
   * sealed.
   */
  sealEvents(ranges: readonly SealedRows[]): Promise<boolean>;
  /**
   * CONFLICT when the name is taken, and when there are limits.maxPrincipals. The very first principal gets
   * no log entry.
   */
  createPrincipal(principal: Principal, by: Actor): Promise<void>;
  /**
   * Changes a principal, with a `principal.status_changed` and a `principal.role_changed` outbox row where
   * these changed. A new password ends all of its sessions except `keptSession`. NOT_FOUND; VERSION_MISMATCH;
   * CONFLICT for a name that is taken, and for a change that would leave no active user with a password and
   * the role admin (`details.field` is `name`, `roles` or `status`). A change without effect returns the
   * principal as it is.
   */
  changePrincipal(
    id: string,
    change: PrincipalChange,
    by: Actor,
    terms?: { readonly version?: number; readonly keptSession?: string },
  ): Promise<PrincipalChanged>;
  /**
   * Stores a token, with its `token.issued` outbox row. Above limits.maxTokensPerPrincipal, a new session
   * ends the oldest session, with its `token.revoked` row, and returns its id; a new long-lived token is a
   * CONFLICT.
   */
  addToken(token: Token, by: Actor): Promise<{ readonly ended: readonly string[] }>;
  /**
   * Replaces the refresh secret if `expectedHash` is current (returns true); otherwise revokes the session
   * (false), so the caller must first verify that the secret once belonged to the session.
   */
  rotateSession(jti: string, expectedHash: string, newHash: string, by: Actor): Promise<boolean>;
  /**
   * Revokes a token, with its `token.revoked` outbox row. False when it was already revoked or is unknown.
   */
  revokeToken(jti: string, by: Actor): Promise<boolean>;
  /** Records when tokens were last presented (ISO 8601), by jti. Unknown tokens are ignored. */
  noteTokenUse(uses: ReadonlyMap<string, string>): Promise<void>;
  /** Stores a scan, new or changed. Beyond `limits.maxScans`, the oldest finished scans are removed. */
  saveScan(scan: StoredScan): Promise<ScanUpdate>;
  /**
   * Adds scan results to the inventory: new assets, open ports, and ports that were open and now refuse.
   * Repeating a call only updates the time last seen.
   */
  recordScan(scanId: string, hosts: readonly ScannedHost[]): Promise<ScanRecorded>;
  /**
   * Adds records to the audit log that it does not have yet, by id and time; beyond `limits.maxAuditRecords`
   * the oldest are removed.
   */
  addAudit(records: readonly StoredAuditRecord[]): Promise<void>;
  /**
   * Changes detection rules, with a `detection.reloaded` outbox row where one is given. Correlations that
   * stay the same keep their state. VERSION_MISMATCH if the change does not follow the stored version;
   * UNAVAILABLE when the outbox is full.
   */
  changeRules(change: RulesChange, by: Actor): Promise<void>;
  /**
   * Creates a list of known-bad addresses and domains, with its `detection.reloaded` outbox row; events are
   * matched against it from then on. CONFLICT when there are limits.maxIntelLists, or when all lists together
   * would exceed limits.maxIntelIndicators; UNAVAILABLE when the outbox is full.
   */
  createIntel(terms: IntelTerms, content: IntelContent, by: Actor): Promise<IntelChanged>;
  /**
   * Changes a list; errors as for `createIntel`, and NOT_FOUND and VERSION_MISMATCH. New content replaces the
   * old content, and empty strings remove a value. A change without effect returns the list as it is.
   */
  changeIntel(
    id: string,
    change: Partial<IntelTerms>,
    by: Actor,
    terms?: { readonly content?: IntelContent; readonly version?: number },
  ): Promise<IntelChanged>;
  /** Removes a list and its hits, with a `detection.reloaded` outbox row. NOT_FOUND; VERSION_MISMATCH. */
  removeIntel(id: string, by: Actor, version?: number): Promise<void>;
  /**
   * Creates a silence, in effect for findings from now on. Its strings are canonical. INVALID_REQUEST for an
   * end in the past or more than limits.maxSilenceMs ahead; CONFLICT when there are limits.maxSilences active
   * ones (otherwise the one that ended first is removed).
   */
  createSilence(input: SilenceInput, by: Actor): Promise<StoredSilence>;
  /** NOT_FOUND; VERSION_MISMATCH; INVALID_REQUEST as `createSilence`. */
  changeSilence(id: string, change: SilenceUpdateInput, version?: number): Promise<SilenceChanged>;
  /** NOT_FOUND; VERSION_MISMATCH. */
  removeSilence(id: string, version?: number): Promise<void>;
  /**
   * Copies siem.mdb, as of one moment, into an existing folder; flushed. Commits continue during the copy.
   * CONFLICT when a copy is already running; UNAVAILABLE while closing.
   */
  copyTo(folder: string): Promise<void>;
  status(): Promise<StoreStatus>;
  /** Returns the damage known so far. */
  damage(): Promise<StoreDamage>;
  /**
   * Records damage found by a read: once this resolves, all reads leave out a damaged block.
   *
   * @param found - the details of the error that the read failed with
   */
  reportDamage(found: DamageFound): Promise<void>;
  /** Waits for a running copy. */
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
 * Selects items of a resource other than events: all parts must match; one value of a term suffices, and none
 * of a negated term may match.
 */
export interface ListFilter {
  /** Half-open range of the resource's time, epoch milliseconds. */
  readonly from?: number;
  readonly to?: number;
  /** Free text: a case-insensitive substring of the resource's names. */
  readonly q?: string;
  /** This severity or above; only for resources that have a severity. */
  readonly min_severity?: Severity;
  readonly terms: readonly FilterTerm[];
}

/** Selects events of one table for export, in order of time. */
export interface EventExportQuery {
  readonly table: Table;
  readonly filter: EventFilter;
  readonly order: SortOrder;
  /** Absent for the first part. */
  readonly place?: EventExportPlace;
}

/** Where the next part of an export of events begins. */
export interface EventExportPlace {
  /** After the event with this time and sequence. */
  readonly timestamp: number;
  readonly seq: number;
  /** Events stored after the export began are not included. */
  readonly lastSeq: number;
}

/** A part of an export. */
export interface EventExportPart {
  /** Resources as JSON, each with a line end; may be empty even if more follows. */
  readonly lines: Uint8Array<ArrayBuffer>;
  /** Absent on the last part. */
  readonly next?: EventExportPlace;
}

/** A part of an export, by columns. */
export interface EventExportColumns {
  readonly count: number;
  /** For each requested attribute (`id` is one), its values per event. */
  readonly columns: readonly (readonly EventValue[])[];
  /** Absent on the last part. */
  readonly next?: EventExportPlace;
}

/** Counts items over time, in at most this many buckets. Plain data that crosses threads. */
interface HistogramQuery {
  readonly buckets: number;
  /** Epoch milliseconds: determines the range where nothing is stored and no range is given. */
  readonly now: number;
}

export interface EventHistogramQuery extends HistogramQuery {
  readonly table: Table;
  readonly filter: EventFilter;
}

/** Counts the most frequent values of `by`, which is a filter of the table, among the events that match. */
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
  /** An attribute that the resource's lists can be sorted by. */
  readonly sort: string;
  readonly order: SortOrder;
  readonly per_page: number;
  /** 1-based; ignored when a cursor is given. */
  readonly page: number;
  readonly cursor?: string;
  /** Output form; default: an array. */
  readonly form?: ListForm;
}

/** Range of alerts to visit, in the order of their ids. */
export interface AlertSpan {
  /** Exclusive. */
  readonly after?: string;
  /** Inclusive. */
  readonly until?: string;
  readonly newestFirst?: boolean;
  /** Maximum number of rows to read, matching or not. */
  readonly rows?: number;
  /** Visits alerts with their assets; otherwise only where the filter needs these. */
  readonly withAssets?: boolean;
}

/** Attributes that alerts are counted by. */
export type AlertFacts = Pick<
  Alert,
  | 'rule_id'
  | 'rule_source'
  | 'category'
  | 'severity'
  | 'status'
  | 'src_ip'
  | 'dst_ip'
  | 'count'
  | 'first_seen'
  | 'last_seen'
  | 'asset_ids'
>;
export type VisitFacts = (id: string, facts: AlertFacts) => 'enough' | undefined;
export type VisitAlert = (id: string, alert: Alert) => 'enough' | undefined;

/** A page, its resources already written as JSON (`[{"id":…,"type":…,"attributes":{…}}, …]` in UTF-8), ready to move. */
export interface ListPage {
  /** In the form that the query names. */
  readonly json: Uint8Array<ArrayBuffer>;
  readonly total: number;
  readonly next_cursor?: string;
  /** Number of this page (a cursor carries it). */
  readonly page: number;
}

/** Selects a part of the graph. */
export interface TopologyQuery {
  /**
   * Half-open, epoch milliseconds. Widened to whole hours; to days where hours are no longer stored; else to
   * everything.
   */
  readonly from?: number;
  readonly to?: number;
  readonly group_by: 'host' | 'subnet';
  /** An asset; nodes up to `depth` edges away from its addresses. */
  readonly focus?: string;
  readonly depth: number;
  /** Maximum number of nodes; the busiest are returned. */
  readonly limit: number;
}

/** One change of the graph. */
export interface TopologyStep {
  /** The `seq` of channel `topology`. */
  readonly seq: number;
  /** Undefined if the step is larger than what is sent to subscribers. */
  readonly step: Step | undefined;
}

/** An alert that contributes to a risk score. The order by `rank` does not change over time. */
export interface RiskyAlert extends Weight, Pick<Alert, 'title' | 'severity' | 'last_seen'> {
  readonly id: string;
}

/** An asset at risk and the alerts that make up its score, the heaviest first. */
export interface RiskyAsset extends Pick<Asset, 'name' | 'criticality'> {
  readonly id: string;
  readonly alerts: readonly RiskyAlert[];
}

export interface RiskView {
  /** At most limits.maxShownRisks. */
  readonly assets: readonly RiskyAsset[];
  /** Assets whose risk score is above 0. */
  readonly total: number;
  /** The heaviest alerts whose addresses belonged to no asset when the alerts were last seen. */
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
   * The score before the first of the changes; undefined if no change was ever recorded, so that the current
   * score applies throughout.
   */
  readonly held: number | undefined;
  /** In order of time. */
  readonly changes: readonly RiskChange[];
}

/** Events that a subscriber missed: those with `seq` in [since + 1, …), oldest first. */
export interface Replay<T> {
  readonly events: readonly { readonly seq: number; readonly id: string; readonly data: T }[];
  /** Pass as the next `since`; equal to `head` when all was read. */
  readonly next: number;
  /** The newest committed sequence when this was read. */
  readonly head: number;
  /** Events that are no longer stored. */
  readonly lost: number;
}

export type { AddressSpan, AssetLookup, AssetSnapshot, Owner } from '../events/asset-lookup.ts';

/** The location that the error of a read names: a table, and for events the first sequence of the block. */
export interface DamageFound {
  readonly table: string;
  readonly block?: number;
  /** Table and key of a damaged row. */
  readonly row?: string;
}

/** Consistent reads of siem.mdb from any thread: synchronous, each on the newest flushed snapshot. */
export interface StoreReader {
  /**
   * Owners of addresses, as of the last `refresh` or the last read that names assets, whichever was later.
   * Stable only within one turn of the event loop.
   */
  readonly assets: AssetSnapshot;
  listEvents(query: EventListQuery): ListPage;
  /**
   * Returns the events that were stored when the first part was read, in parts. Each part reads a bounded
   * number of rows. Events that retention removes during the export are not included.
   */
  exportEvents(query: EventExportQuery): EventExportPart;
  exportEventColumns(query: EventExportQuery, attributes: readonly string[]): EventExportColumns;
  /** A bound that is not given defaults to that of the stored events, whether they match or not. */
  eventHistogram(query: EventHistogramQuery): Histogram;
  eventValueCounts(query: EventValuesQuery): ValueCounts;
  getEvent(table: 'network', id: string): NetworkEvent | undefined;
  getEvent(table: 'dns', id: string): DnsEvent | undefined;
  getEvent(table: Table, id: string): NetworkEvent | DnsEvent | undefined;
  /** Returns the damaged ranges of events that results for this time range leave out. */
  damagedEvents(table: Table, from?: number, to?: number): readonly DamagedEvents[];
  /** Table and key of damaged rows that reads left out since the last call, at most `limits.maxNamedDamage`. */
  damagedRows(): readonly string[];
  /** Whether the id belonged to an event that retention removed. Not known for ids that senders chose. */
  isPast(table: Table, id: string): boolean;
  replayEvents(
    table: Table,
    since: number,
    filter: EventFilter,
    limit: number,
  ): Replay<NetworkEvent | DnsEvent>;
  listAlerts(query: ListQuery): ListPage;
  getAlert(id: string): Alert | undefined;
  replayAlerts(since: number, filter: ListFilter, limit: number): Replay<Alert>;
  /**
   * Visits the matching alerts in the order in which they were raised, until `visit` returns `enough` or the
   * span's number of rows was read.
   *
   * @returns the id after which to continue; undefined when nothing is left
   */
  visitAlerts(filter: ListFilter, span: AlertSpan, visit: VisitAlert): string | undefined;
  /**
   * As `visitAlerts`, with only the attributes that alerts are counted by: several times faster if the filter
   * needs no others.
   */
  visitAlertFacts(filter: ListFilter, span: AlertSpan, visit: VisitFacts): string | undefined;
  /**
   * By `last_seen`. A bound that is not given defaults to that of the stored alerts, whether they match or
   * not.
   */
  alertHistogram(query: AlertHistogramQuery): Histogram;
  /** Returns the id of the alert that was raised last. */
  lastAlertId(): string | undefined;
  /** `alert_history` resources, in order of time. */
  listAlertHistory(alertId: string, query: ListQuery): ListPage;
  listNotes(alertId: string, query: ListQuery): ListPage;
  /** Silences as they are at `nowMs` (epoch milliseconds). */
  listSilences(query: ListQuery, nowMs: number): ListPage;
  getSilence(id: string, nowMs: number): Silence | undefined;
  getAsset(id: string): Asset | undefined;
  listAssets(query: ListQuery): ListPage;
  /** Returns the id of the asset that this one was merged into; undefined if it was not merged. */
  mergedInto(id: string): string | undefined;
  /** `asset_history` resources, in order of time. */
  listAssetHistory(assetId: string, query: ListQuery): ListPage;
  getService(id: string): Service | undefined;
  listServices(query: ListQuery): ListPage;
  principal(id: string): Principal | undefined;
  principalByName(name: string): Principal | undefined;
  token(jti: string): Token | undefined;
  /** Returns a token and its principal, from one snapshot. */
  holder(jti: string): { readonly token: Token; readonly principal: Principal | undefined } | undefined;
  /** Tokens as they are at `nowMs` (epoch milliseconds), without their hashes. */
  listTokens(query: ListQuery, nowMs: number): ListPage;
  /** Principals, without their hashes. */
  listPrincipals(query: ListQuery): ListPage;
  /** Returns stored principals including hashes, newest first. */
  storedPrincipals(
    page: number,
    perPage: number,
  ): { readonly principals: readonly Principal[]; readonly total: number };
  /** Counts active users with a password and the role admin. */
  administrators(): number;
  /** Returns the first `limit` administrators including hashes. */
  storedAdministrators(limit: number): readonly Principal[];
  /** Sorted by `time` only. A filter reads the whole time range: 1 to 2 µs per record. */
  listAudit(query: ListQuery): ListPage;
  listScans(query: ListQuery): ListPage;
  getReceipt(id: string): StoredReceipt | undefined;
  /** The first sequence of a table that is not sealed yet; undefined while sealing is off. */
  sealedUpTo(table: Table): number | undefined;
  /** See the function `digestEvents`. */
  digestEvents(table: Table, from: number, maxRows: number): SealedRows | undefined;
  /** See the function `proveEvent`. */
  proveEvent(table: Table, id: string): EventProof | undefined;
  getScan(id: string): Scan | undefined;
  replayScans(since: number, filter: ListFilter, limit: number): Replay<Scan>;
  /** Returns the scan that was requested last. */
  lastScan(): StoredScan | undefined;
  /** Returns the waiting and running scans, in the order in which they were requested. */
  unfinishedScans(): readonly StoredScan[];
  /** NOT_FOUND if the focus is not an asset. */
  topology(query: TopologyQuery): Topology;
  /**
   * Returns the assets at risk, ordered by their last stored score, and alerts that belong to no asset, with
   * the alerts that contribute.
   */
  risks(): RiskView;
  /**
   * Returns how the risk score of an asset changed in a range (epoch milliseconds), by the clock of the
   * service.
   */
  riskHistory(assetId: string, from: number, to: number): RiskHistoryView;
  /** Explains the local model that triages alerts. */
  triageModel(): TriageModel;
  /**
   * Returns the counters of a time window and of the one before it. Takes milliseconds, whatever the number
   * of events.
   */
  rollups(query: RollupQuery): RollupView;
  /** The version of the detection rules; 0 before there are any. */
  rulesVersion(): number;
  storedRules(): StoredRules;
  /** Lists of known-bad addresses and domains, as they are at `nowMs` (epoch milliseconds). */
  listIntel(query: ListQuery, nowMs: number): ListPage;
  /** The seed of the lists' indexes: 32 random bits, fixed per file. */
  intelSeed(): number;
  getIntel(id: string, nowMs: number): { readonly id: string; readonly list: IntelList } | undefined;
  /**
   * `intel_indicator` items; undefined if there is no such list. Takes half a second for the longest list.
   */
  listIndicators(listId: string, query: ListQuery): ListPage | undefined;
  /**
   * Returns blocks with events of a time range (half-open, epoch milliseconds), newest first. A block is
   * valid until the next is read; all are of one snapshot as long as nothing else is read in between.
   */
  blocks(table: Table, from: number, to: number): Iterable<EventBlock>;
  /**
   * Returns changes of the graph after a sequence, oldest first, at most `limit`. A gap before the first one
   * means that the changes between are no longer stored.
   */
  topologySteps(since: number, limit: number): readonly TopologyStep[];
  /** The sequence of the newest row waiting in the outbox; 0 if it is empty. */
  outboxHead(): number;
  /** Newest committed sequence of a channel; 0 before the first. */
  head(channel: 'events.network' | 'events.dns' | 'alerts' | 'topology' | 'discovery'): number;
  close(): void;
}
