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

/** What one ingest request adds, or several that came at one time. The block buffers are moved: the caller's are detached. */
export interface IngestBatch {
  /** Encoded by `BlockBuilder.finish`; at most `limits.maxBlockRows` rows each. */
  readonly blocks: readonly ArrayBuffer[];
  readonly findings: readonly Finding[];
  /** What matches of rules tell correlations. */
  readonly facts?: readonly CorrelationFact[];
  /** What records that are no events tell of hosts. */
  readonly sightings?: readonly Sighting[];
  /** Hosts that records name that are no events. */
  readonly contacts?: readonly Contact[];
  /** What the caller will be answered, before duplicates are known; of several bodies, all of them counted. */
  readonly answer: IngestAnswer;
  /** `key` is scoped to the principal; `digest` tells its requests apart (SHA-256, hex). */
  readonly idempotency?: { readonly key: string; readonly digest: string };
  /** Statements of the body's receipt beside the counts of `answer`. */
  readonly receipt?: ReceiptDraft;
}

export type ReceiptDraft = Pick<ReceiptStatement, 'id' | 'sha256' | 'bytes' | 'sensor' | 'received_at'>;

/** A receipt that was given, with its place in the entry that logs it. */
export interface StoredReceipt {
  readonly receipt: ReceiptStatement;
  readonly batch?: Receipt['batch'];
}

/** Of a block of which some rows were not stored, because their explicit ids came before. */
export interface RefusedRows {
  /** Its place among the blocks of the batch. */
  readonly block: number;
  /** The rows that were stored, ascending: row n of the stored block was row `kept[n]`. None where it was not stored. */
  readonly kept: Uint32Array;
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

export type StoredScan = Scan & { readonly id: string };

export interface ScanUpdate {
  /** Grows with every change of any scan; the `seq` of channel `discovery`. */
  readonly seq: number;
  readonly scan: StoredScan;
}

export type StoredSilence = Silence & { readonly id: string };

/** A silence as it is after a person's change. `unchanged`: it was so already, and nothing was stored. */
export interface SilenceChanged {
  readonly silence: StoredSilence;
  readonly unchanged?: true;
}

/** What a scan saw of a host that answered. */
export interface ScannedHost {
  /** In the canonical form of `printAddress`. */
  readonly ip: string;
  /** Epoch milliseconds. */
  readonly at: number;
  /** What name servers call it, lower case without a final dot. */
  readonly hostnames: readonly string[];
  /** Lowercase with colons; of hosts on our own link, where the engine sees it. */
  readonly mac?: string;
  readonly os?: string;
  /** Ports that were found open, each once. */
  readonly services: readonly ScannedService[];
  /** TCP ports that refused. */
  readonly closed: Uint16Array;
}

export interface ScannedService {
  readonly port: number;
  readonly transport: string;
  /** Application protocol, lower case. */
  readonly name?: string;
  readonly product?: string;
  readonly version?: string;
  /** Host names of its TLS certificate, which nobody has checked. */
  readonly certificate_names?: readonly string[];
}

/** What recording did. */
export interface ScanRecorded {
  readonly assets_created: number;
  /** Others that were there already. */
  readonly assets_updated: number;
  /** Open ports that were recorded. */
  readonly services_found: number;
}

export interface Committed {
  readonly answer: IngestAnswer;
  /** True when an earlier answer to the same Idempotency-Key was repeated and nothing was stored. */
  readonly replayed: boolean;
  /** Those of the batch that were stored, in its order. */
  readonly blocks: readonly CommittedBlock[];
  /** Absent where every row was stored. */
  readonly refused?: readonly RefusedRows[];
  readonly alerts: readonly AlertUpdate[];
  /** Correlations that found something, each as often as it did. */
  readonly fired?: readonly string[];
  /** Rows that wait in the outbox. */
  readonly outbox: number;
  /** Where one was asked for. It is on disk, and the log will cover it. */
  readonly receipt?: ReceiptStatement;
}

/** What a model other than the local one says of an alert. */
export type GivenVerdict = Omit<NonNullable<Alert['ai_verdict']>, 'at'>;

/** What became of a person's change. `unchanged`: the alert was so already; nothing was stored or is to be published. */
export type AlertChanged = AlertUpdate & { readonly unchanged?: true };

/** Who caused a change. `id` is a principal's UUID, or `system`. */
export interface Actor {
  readonly id: string;
  readonly name: string;
  /** The call (UUIDv7) through which it acts: the audit record of that call names the entries of the change. */
  readonly call?: string;
}

export interface AlertChange {
  readonly status?: Alert['status'];
  /** Empty where it is withdrawn. */
  readonly verdict?: Alert['verdict'] | '';
  readonly priority?: Alert['priority'];
  readonly severity?: Alert['severity'];
  readonly assignee?: string;
  readonly tags?: readonly string[];
  readonly note?: string;
  readonly ai_override?: { readonly verdict: NonNullable<Alert['verdict']>; readonly reason: string };
}

/** An asset as it is after a person's change. `unchanged`: it was so already, and nothing was stored. */
export interface AssetChanged {
  readonly asset: Asset & { readonly id: string };
  readonly unchanged?: true;
}

/** A list of known-bad addresses and domains as it is after a change. `unchanged`: it was so already, and nothing was stored. */
export interface IntelChanged {
  readonly id: string;
  readonly list: IntelList;
  readonly unchanged?: true;
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

/** A life of the log, as its first entry says. */
export interface LogLife {
  readonly id: string;
  /** ISO 8601. */
  readonly at: string;
}

/** The place of an entry in the log. */
export type EntryPlace = Pick<Settlement, 'leaf_index' | 'leaf_hash'>;

/** The place at which the entry of an alert was settled. */
export interface AlertPlace {
  readonly kind: 'alert';
  /** Its leaf index. */
  readonly place: number;
  readonly alert_id: string;
  readonly leaf_hash: string;
}

/** A logged entry that covers receipts or stored events. */
export interface CoveringPlace {
  readonly kind: 'receipts' | 'events';
  /** Sequence of the last receipt that it covers; of events, which of the entries that cover events it is. */
  readonly place: number;
  readonly entry_id: string;
}

export type NotedPlace = AlertPlace | CoveringPlace;

/** A range of stored events of one table, with the roots of their digests. */
export interface SealedRows {
  readonly table: Table;
  readonly first_seq: number;
  readonly rows: number;
  /** Merkle roots of its batches of 128 pieces, 32 bytes each. */
  readonly batches: Uint8Array;
  /** When the first and the last row were received (ISO 8601). */
  readonly first_received: string;
  readonly last_received: string;
}

/** An event with its place in the entry that covers it. */
export interface EventProof {
  readonly attributes: NetworkEvent | DnsEvent;
  readonly seal: EventProofResource['seal'];
  /** The entry waits in the outbox, so the log may not have it yet. */
  readonly entry_waits: boolean;
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
  /** As in `Actor`: the entries that this call put into the outbox are added to `entry_ids`. Not stored itself. */
  readonly call?: string;
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

/** What retention keeps and took. */
export interface RetentionStatus {
  /** Milliseconds; absent without such a bound. */
  readonly max_age_ms?: number;
  /** Of all events on disk; absent without such a bound. */
  readonly max_bytes?: number;
  /** What they take up now, in whole pages. */
  readonly event_bytes: number;
  /** How far the time that age goes by is behind the host's clock, which leapt; else 0. */
  readonly clock_behind_ms: number;
  /** When the oldest event of a table was received, epoch milliseconds. */
  readonly oldest: Readonly<Partial<Record<Table, number>>>;
  /** What went since the file was made. */
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

/** An address outside of the home networks that takes part in most connections. */
export interface PublicHost {
  readonly ip: string;
  /** Share of the newest connections, 0–1. */
  readonly share: number;
}

export interface StoreStatus {
  readonly events: Readonly<Record<Table, number>>;
  readonly retention: RetentionStatus;
  readonly blocks: number;
  /** Events that are stored, and not yet counted in what is on the network, nor seen by detectors. */
  readonly uncounted_events: number;
  readonly alerts: number;
  readonly outbox: number;
  readonly assets: number;
  readonly services: number;
  /** Among hosts. */
  readonly topology_edges: number;
  /** What was left out for a limit since the store was opened. */
  readonly limits_reached: Readonly<Partial<Record<LimitName, number>>>;
  /** Those of behaviour detectors, by detector. */
  readonly detector_limits: readonly DetectorLimit[];
  readonly public_host?: PublicHost;
  readonly bytes: number;
  /** Those of the file that nothing takes up: it uses them before it grows. */
  readonly unused_bytes: number;
  readonly damage: StoreDamage;
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
  /**
   * CONFLICT when the Idempotency-Key came before with another request; UNAVAILABLE, and nothing stored, where a receipt is
   * wanted and limits.maxReceipts wait for the log.
   */
  commit(batch: IngestBatch): Promise<Committed>;
  /**
   * NOT_FOUND; INVALID_TRANSITION; VERSION_MISMATCH (when `version` is given and isn't the alert's); CONFLICT for a verdict
   * other than that of an override.
   */
  changeAlert(id: string, change: AlertChange, by: Actor, version?: number): Promise<AlertChanged>;
  /**
   * Puts the verdict of another model in the place of the local one that was made at `triagedAt` (its `at`). Only
   * `ai_verdict` changes. Undefined, and nothing changed, where there is no such alert any more or it was triaged again.
   */
  setAiVerdict(id: string, verdict: GivenVerdict, triagedAt: string): Promise<AlertUpdate | undefined>;
  addNote(
    alertId: string,
    text: string,
    by: Actor,
  ): Promise<{ note: AlertNote & { id: string }; update: AlertUpdate }>;
  /**
   * A manual asset. Addresses and names are canonical and each there once; at least one of them or a name is given.
   * CONFLICT when another asset has one of the addresses or MAC addresses now (`details`: `field`, such as
   * `ip_addresses.1`, and `asset_id`), and when there are limits.maxAssets.
   */
  createAsset(input: AssetInput, by: Actor): Promise<AssetChanged>;
  /** NOT_FOUND; VERSION_MISMATCH; INVALID_TRANSITION; CONFLICT as `createAsset`. Lists replace; empty texts take away. */
  changeAsset(id: string, change: AssetUpdateInput, by: Actor, version?: number): Promise<AssetChanged>;
  /** With its services and history. NOT_FOUND; VERSION_MISMATCH. */
  removeAsset(id: string, version?: number): Promise<void>;
  /**
   * Everything of `id` becomes that of `into`, which is the result. NOT_FOUND; VERSION_MISMATCH (`version` is that of
   * `id`); CONFLICT for an asset with itself.
   */
  mergeAssets(id: string, into: string, by: Actor, version?: number): Promise<AssetChanged>;
  /**
   * A new asset with these addresses of `id` (canonical), their past and their services; it is the result. NOT_FOUND;
   * VERSION_MISMATCH; INVALID_REQUEST for an identifier that isn't the asset's; CONFLICT when none would be left.
   */
  splitAsset(id: string, identifiers: readonly string[], by: Actor, version?: number): Promise<AssetChanged>;
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
  /** Alerts, or batches of receipts or events, whose entries were settled last: the highest `place` first, at most `limit`. */
  lastPlaces(kind: NotedPlace['kind'], limit: number, below?: number): Promise<NotedPlace[]>;
  /** The life of the log that this database has entered; undefined in the first one. */
  logLife(): Promise<LogLife | undefined>;
  /** From now on, places are those of this life, flushed. Entries that the life gave up were logged again before. */
  enterLogLife(life: LogLife): Promise<void>;
  /**
   * For entries that the log has lost: alerts forget their places, and those at or above high get another `alert.raised`
   * outbox row; receipts and events are covered by another entry, which is put into the outbox. In one transaction.
   */
  logAgain(places: readonly NotedPlace[]): Promise<AlertUpdate[]>;
  /** Whether ranges of events are sealed from now on. Switched on again, the rows stored between stay without a seal. */
  switchSealing(isOn: boolean): Promise<void>;
  /**
   * Stores ranges that follow what is sealed, and puts an `events.sealed` entry into the outbox, in one transaction. False,
   * and nothing changed, while the outbox is full; CONFLICT for rows that are sealed already.
   */
  sealEvents(ranges: readonly SealedRows[]): Promise<boolean>;
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
  /** Stores a scan, new or changed. The oldest of those that are over go beyond `limits.maxScans`. */
  saveScan(scan: StoredScan): Promise<ScanUpdate>;
  /**
   * Takes what a scan saw of some hosts into the inventory: assets that it is the first to see, their open ports, and
   * that ports which were open refuse now. Saying it again changes no more than when it was seen last.
   */
  recordScan(scanId: string, hosts: readonly ScannedHost[]): Promise<ScanRecorded>;
  /** Adds to the audit log what is new to it, by id and time; the oldest beyond `limits.maxAuditRecords` go. */
  addAudit(records: readonly StoredAuditRecord[]): Promise<void>;
  /**
   * Changes detection rules, with a `detection.reloaded` outbox row where one is given. Correlations that stay the same
   * keep what they remember. VERSION_MISMATCH where it isn't the change after what is kept; UNAVAILABLE when the outbox
   * is full.
   */
  changeRules(change: RulesChange, by: Actor): Promise<void>;
  /**
   * A new list of known-bad addresses and domains, with its `detection.reloaded` outbox row; events are held against it
   * from then on. CONFLICT where there are limits.maxIntelLists, or all would have more than limits.maxIntelIndicators;
   * UNAVAILABLE when the outbox is full.
   */
  createIntel(terms: IntelTerms, content: IntelContent, by: Actor): Promise<IntelChanged>;
  /**
   * Changes a list, as `createIntel` makes one; a content takes the place of the one before, and empty texts take away.
   * NOT_FOUND; VERSION_MISMATCH. What changes nothing gives the list as it is.
   */
  changeIntel(
    id: string,
    change: Partial<IntelTerms>,
    by: Actor,
    terms?: { readonly content?: IntelContent; readonly version?: number },
  ): Promise<IntelChanged>;
  /** Removes a list with its hits, with its `detection.reloaded` outbox row. NOT_FOUND; VERSION_MISMATCH. */
  removeIntel(id: string, by: Actor, version?: number): Promise<void>;
  /**
   * A silence, in effect for findings from now on. Its texts are canonical. INVALID_REQUEST for an end that has passed
   * or is more than limits.maxSilenceMs ahead; CONFLICT when there are limits.maxSilences that have not ended (else the
   * one that ended first goes).
   */
  createSilence(input: SilenceInput, by: Actor): Promise<StoredSilence>;
  /** NOT_FOUND; VERSION_MISMATCH; INVALID_REQUEST as `createSilence`. */
  changeSilence(id: string, change: SilenceUpdateInput, version?: number): Promise<SilenceChanged>;
  /** NOT_FOUND; VERSION_MISMATCH. */
  removeSilence(id: string, version?: number): Promise<void>;
  /**
   * Copies siem.mdb, as of one moment, into an existing folder; flushed. Commits go on meanwhile. One copy at a time:
   * CONFLICT. UNAVAILABLE while closing.
   */
  copyTo(folder: string): Promise<void>;
  status(): Promise<StoreStatus>;
  /** The damage, as far as it is known. */
  damage(): Promise<StoreDamage>;
  /**
   * Takes what a read found: a damaged block is left out of everything when this resolves.
   *
   * @param found - the details of the error that the read failed with
   */
  reportDamage(found: DamageFound): Promise<void>;
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

/** Which items are wanted of a resource that isn't an event: all parts must hold, one value of a term suffices, of a negated one none may match. */
export interface ListFilter {
  /** Half-open range of the resource's time, epoch milliseconds. */
  readonly from?: number;
  readonly to?: number;
  /** Free text: a case-insensitive substring of the resource's names. */
  readonly q?: string;
  /** At or above; only of resources that have a severity. */
  readonly min_severity?: Severity;
  readonly terms: readonly FilterTerm[];
}

/** Events of one table that are wanted whole, in order of time. */
export interface EventExportQuery {
  readonly table: Table;
  readonly filter: EventFilter;
  readonly order: SortOrder;
  /** Absent for the first part. */
  readonly place?: EventExportPlace;
}

/** Where an export of events goes on. */
export interface EventExportPlace {
  /** Behind the event of this time and sequence. */
  readonly timestamp: number;
  readonly seq: number;
  /** Events that came after the export began are not in it. */
  readonly lastSeq: number;
}

/** A part of an export. */
export interface EventExportPart {
  /** Resources as JSON, each with its line end; may be none where more follows. */
  readonly lines: Uint8Array<ArrayBuffer>;
  /** Absent on the last part. */
  readonly next?: EventExportPlace;
}

/** The same by columns. */
export interface EventExportColumns {
  readonly count: number;
  /** Of each attribute that was asked for (`id` is one), its values by event. */
  readonly columns: readonly (readonly EventValue[])[];
  /** Absent on the last part. */
  readonly next?: EventExportPlace;
}

/** How many there are of a time, in at most so many buckets. Plain data that crosses threads. */
interface HistogramQuery {
  readonly buckets: number;
  /** Epoch milliseconds: of which time it is where nothing is stored and no time is asked for. */
  readonly now: number;
}

export interface EventHistogramQuery extends HistogramQuery {
  readonly table: Table;
  readonly filter: EventFilter;
}

/** The most frequent values of what `by` names, which is a filter of the table, among the events that match. */
export interface EventValuesQuery {
  readonly table: Table;
  readonly filter: EventFilter;
  readonly by: string;
  /** Values shown. */
  readonly limit: number;
}

export interface AlertHistogramQuery extends HistogramQuery {
  readonly filter: ListFilter;
}

/** What is asked of a list of any resource but events. Plain data that crosses threads. */
export interface ListQuery extends ListFilter {
  /** An attribute that the resource's lists can be sorted by. */
  readonly sort: string;
  readonly order: SortOrder;
  readonly per_page: number;
  /** 1-based; ignored when a cursor is given. */
  readonly page: number;
  readonly cursor?: string;
  /** How the page is written; default: as an array. */
  readonly form?: ListForm;
}

/** Which alerts are looked at, in the order of their ids. */
export interface AlertSpan {
  /** Those behind this one. */
  readonly after?: string;
  /** Up to this one. */
  readonly until?: string;
  readonly newestFirst?: boolean;
  /** As many, wanted or not. */
  readonly rows?: number;
  /** They are shown with their assets; otherwise only where the filter asks for these. */
  readonly withAssets?: boolean;
}

/** What alerts are counted by. */
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
  /** Page number this page has (a cursor carries it). */
  readonly page: number;
}

/** Which part of the graph is wanted. */
export interface TopologyQuery {
  /** Half-open, epoch milliseconds; widened to hours, to days where those are no longer kept, at last to everything. */
  readonly from?: number;
  readonly to?: number;
  readonly group_by: 'host' | 'subnet';
  /** An asset; nodes up to `depth` edges away from its addresses. */
  readonly focus?: string;
  readonly depth: number;
  /** Nodes; the busiest. */
  readonly limit: number;
}

/** One change of the graph. */
export interface TopologyStep {
  /** The `seq` of channel `topology`. */
  readonly seq: number;
  /** Undefined where it is more than subscribers are told. */
  readonly step: Step | undefined;
}

/** An alert that weighs. Their order, by `rank`, doesn't change with time. */
export interface RiskyAlert extends Weight, Pick<Alert, 'title' | 'severity' | 'last_seen'> {
  readonly id: string;
}

/** An asset at risk and the alerts that make its score, gravest first. */
export interface RiskyAsset extends Pick<Asset, 'name' | 'criticality'> {
  readonly id: string;
  readonly alerts: readonly RiskyAlert[];
}

export interface RiskView {
  /** At most limits.maxShownRisks. */
  readonly assets: readonly RiskyAsset[];
  /** Assets whose risk score is above 0. */
  readonly total: number;
  /** The gravest of those at whose addresses no asset was when they were last seen. */
  readonly unassigned: readonly RiskyAlert[];
}

/** A change of a risk score: when (epoch milliseconds), to what, and the highest until the next that is told. */
export interface RiskChange {
  readonly at: number;
  readonly score: number;
  readonly highest: number;
}

export interface RiskHistoryView {
  /** The score before the first of the changes; undefined where none was ever recorded: it is what it was. */
  readonly held: number | undefined;
  /** In order of time. */
  readonly changes: readonly RiskChange[];
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

export type { AddressSpan, AssetLookup, AssetSnapshot, Owner } from '../events/asset-lookup.ts';

/** The place that the error of a read names: a table, and for events the first sequence of the block. */
export interface DamageFound {
  readonly table: string;
  readonly block?: number;
  /** Table and key of a damaged row. */
  readonly row?: string;
}

/** Consistent reads of siem.mdb from any thread: synchronous, each on the newest flushed snapshot. */
export interface StoreReader {
  /**
   * Whose address it was, as of its last `refresh` or of the last read that names assets, whichever came later. Only
   * within one turn of the event loop does it stay there.
   */
  readonly assets: AssetSnapshot;
  listEvents(query: EventListQuery): ListPage;
  /**
   * The events that were there when the first part was read, in parts. Each reads a bounded number of rows. What
   * retention drops meanwhile is not in it.
   */
  exportEvents(query: EventExportQuery): EventExportPart;
  exportEventColumns(query: EventExportQuery, attributes: readonly string[]): EventExportColumns;
  /** Where a bound is not asked for, it is that of the events that are stored, whether they match or not. */
  eventHistogram(query: EventHistogramQuery): Histogram;
  eventValueCounts(query: EventValuesQuery): ValueCounts;
  getEvent(table: 'network', id: string): NetworkEvent | undefined;
  getEvent(table: 'dns', id: string): DnsEvent | undefined;
  getEvent(table: Table, id: string): NetworkEvent | DnsEvent | undefined;
  /** Damaged ranges of events which answers about these times leave out. */
  damagedEvents(table: Table, from?: number, to?: number): readonly DamagedEvents[];
  /** Table and key of damaged rows that reads left out since the last call, at most `limits.maxNamedDamage`. */
  damagedRows(): readonly string[];
  /** Whether an id was given to an event that is past retention. Of ids that senders chose this isn't known. */
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
   * Shows the alerts that are wanted, in the order in which they were raised, until `visit` has enough or as many were
   * looked at as the span says.
   *
   * @returns the id after which it goes on; undefined when nothing is left
   */
  visitAlerts(filter: ListFilter, span: AlertSpan, visit: VisitAlert): string | undefined;
  /** The same of what alerts are counted by, several times as quick where the filter asks for nothing else. */
  visitAlertFacts(filter: ListFilter, span: AlertSpan, visit: VisitFacts): string | undefined;
  /** By `last_seen`. Where a bound is not asked for, it is that of the alerts that are stored, whether they match or not. */
  alertHistogram(query: AlertHistogramQuery): Histogram;
  /** The alert that was raised last. */
  lastAlertId(): string | undefined;
  /** `alert_history` resources, in order of time. */
  listAlertHistory(alertId: string, query: ListQuery): ListPage;
  listNotes(alertId: string, query: ListQuery): ListPage;
  /** Silences as they are at `nowMs` (epoch milliseconds). */
  listSilences(query: ListQuery, nowMs: number): ListPage;
  getSilence(id: string, nowMs: number): Silence | undefined;
  getAsset(id: string): Asset | undefined;
  listAssets(query: ListQuery): ListPage;
  /** What became of an asset that was merged; undefined for one that wasn't. */
  mergedInto(id: string): string | undefined;
  /** `asset_history` resources, in order of time. */
  listAssetHistory(assetId: string, query: ListQuery): ListPage;
  getService(id: string): Service | undefined;
  listServices(query: ListQuery): ListPage;
  principal(id: string): Principal | undefined;
  principalByName(name: string): Principal | undefined;
  token(jti: string): Token | undefined;
  /** A token and whose it is, of one snapshot. */
  holder(jti: string): { readonly token: Token; readonly principal: Principal | undefined } | undefined;
  /** Tokens as they are at `nowMs` (epoch milliseconds), without their hashes. */
  listTokens(query: ListQuery, nowMs: number): ListPage;
  /** Principals, without their hashes. */
  listPrincipals(query: ListQuery): ListPage;
  /** As they are stored, hashes and all, newest first. */
  storedPrincipals(
    page: number,
    perPage: number,
  ): { readonly principals: readonly Principal[]; readonly total: number };
  /** Active users with a password and the role admin. */
  administrators(): number;
  /** The first `limit` of them, as they are stored. */
  storedAdministrators(limit: number): readonly Principal[];
  /** Sorted by `time` only. A filter reads the whole range of time: 1 to 2 µs a record. */
  listAudit(query: ListQuery): ListPage;
  listScans(query: ListQuery): ListPage;
  getReceipt(id: string): StoredReceipt | undefined;
  /** The sequence from which on the rows of a table are to be sealed; undefined while sealing is off. */
  sealedUpTo(table: Table): number | undefined;
  /** As the function of that name. */
  digestEvents(table: Table, from: number, maxRows: number): SealedRows | undefined;
  /** As the function of that name. */
  proveEvent(table: Table, id: string): EventProof | undefined;
  getScan(id: string): Scan | undefined;
  replayScans(since: number, filter: ListFilter, limit: number): Replay<Scan>;
  /** The one that was asked for last. */
  lastScan(): StoredScan | undefined;
  /** Those that wait or run, in the order in which they were asked for. */
  unfinishedScans(): readonly StoredScan[];
  /** NOT_FOUND for a focus that is no asset. */
  topology(query: TopologyQuery): Topology;
  /** The assets at risk, the riskiest as they were last stored, and what is of no asset, with the alerts that weigh. */
  risks(): RiskView;
  /** How the risk score of an asset changed from one time to another, epoch milliseconds, by the clock of the service. */
  riskHistory(assetId: string, from: number, to: number): RiskHistoryView;
  /** The local model that triages alerts, explained. */
  triageModel(): TriageModel;
  /** What is counted of a window of time and the one before it: milliseconds, however many events there are. */
  rollups(query: RollupQuery): RollupView;
  /** Of the detection rules; 0 before there are any. */
  rulesVersion(): number;
  storedRules(): StoredRules;
  /** Lists of known-bad addresses and domains, as they are at `nowMs` (epoch milliseconds). */
  listIntel(query: ListQuery, nowMs: number): ListPage;
  /** With which their indexes are to be made: 32 random bits of this file. */
  intelSeed(): number;
  getIntel(id: string, nowMs: number): { readonly id: string; readonly list: IntelList } | undefined;
  /** `intel_indicator` items; undefined where there is no such list. Half a second of the longest. */
  listIndicators(listId: string, query: ListQuery): ListPage | undefined;
  /**
   * Blocks with events of a span of time (half-open, epoch milliseconds), the last one first. A block is good until the
   * next; all are of one snapshot where nothing else is read meanwhile.
   */
  blocks(table: Table, from: number, to: number): Iterable<EventBlock>;
  /**
   * Changes of the graph past a sequence, oldest first, at most `limit`. Where the first has a later one than the next,
   * those between are no longer kept.
   */
  topologySteps(since: number, limit: number): readonly TopologyStep[];
  /** The sequence of the newest row that waits in the outbox; 0 where none does. */
  outboxHead(): number;
  /** Newest committed sequence of a channel; 0 before the first. */
  head(channel: 'events.network' | 'events.dns' | 'alerts' | 'topology' | 'discovery'): number;
  close(): void;
}
