import { randomInt } from 'node:crypto';
import { statfsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { planAiVerdict } from '../alerts/store/ai-verdict.ts';
import { lastAlertPositions, logAlertsAgain, planChange, planNote, settle } from '../alerts/store/alert-change.ts';
import { AlertDeduplicator } from '../alerts/store/alert-deduplicator.ts';
import { completeFacts } from '../alerts/store/alert-facts.ts';
import type { Hosts } from '../alerts/store/alert-rate-limits.ts';
import { Alerts } from '../alerts/store/alerts.ts';
import type { StoredNote } from '../alerts/store/notes.ts';
import { PendingFindings } from '../alerts/store/pending-findings.ts';
import { planSilence, planSilenceChange, planSilenceRemoval, Silences } from '../alerts/store/silences.ts';
import { Triage } from '../alerts/store/triage.ts';
import type { CriticalEvent } from '../contract/critical-events.ts';
import type { AssetInput, AssetUpdateInput } from '../contract/resources/asset.ts';
import type { SilenceInput, SilenceUpdateInput } from '../contract/resources/silence.ts';
import { criticalities, type DetectorId } from '../contract/vocabulary.ts';
import { type StoreDamage, unusableStoreAdvice } from '../database/damage.ts';
import { GroupCommit, isMapFull, type Plan, smallChangeBytes } from '../database/group-commit.ts';
import { copyDatabase, DatabaseFileError, openDatabase, type RootDatabase, unusedBytes } from '../database/lmdb.ts';
import { omitUndefined } from '../database/omit-undefined.ts';
import { isDamage } from '../database/rows.ts';
import type { Detector } from '../detect/behaviour/detector.ts';
import { newDetectors } from '../detect/behaviour/detectors.ts';
import { Correlations } from '../detect/store/correlations.ts';
import { Detections } from '../detect/store/detections.ts';
import { completeIntelSeed, Intel } from '../detect/store/intel/intel.ts';
import { type IntelChange, planIntel, planIntelChange, planIntelRemoval } from '../detect/store/intel/intel-change.ts';
import type { IntelContent, IntelSettings } from '../detect/store/intel/intel-row.ts';
import type { RulesChange } from '../detect/store/rule-row.ts';
import { planRules } from '../detect/store/rules.ts';
import { planScan } from '../discovery/store/scans.ts';
import { ServiceError } from '../errors.ts';
import { tables as eventTables } from '../events/format/columns.ts';
import { EventStore } from '../events/store/event-store.ts';
import type { Bounds } from '../events/store/expiry.ts';
import { PublicHostSearch } from '../events/store/public-host.ts';
import { byteBound, Retention } from '../events/store/retention.ts';
import { SealStore } from '../events/store/seal-store.ts';
import { freeBytesOf } from '../files/free-bytes.ts';
import { isDiskFull } from '../files/write-errors.ts';
import { completeAdministrators } from '../identities/store/administrators.ts';
import { planAudit } from '../identities/store/audit.ts';
import { type PolicyChange, planPolicy } from '../identities/store/policy.ts';
import { type PrincipalChangeOptions, planPrincipalChange } from '../identities/store/principal-change.ts';
import { completeNames } from '../identities/store/principal-names.ts';
import { planPrincipal } from '../identities/store/principals.ts';
import { completeTokenIndex } from '../identities/store/token-index.ts';
import { planRevocation, planRotation, planToken, planTokenUse } from '../identities/store/tokens.ts';
import {
  type AssetParts,
  planChange as planAssetChange,
  planCreate,
  planRemove,
} from '../inventory/store/asset-change.ts';
import { planMerge, planSplit } from '../inventory/store/asset-merge.ts';
import { Assets } from '../inventory/store/assets.ts';
import { OpenAlerts } from '../inventory/store/open-alerts.ts';
import { recordScan } from '../inventory/store/scan-results.ts';
import { guarded, ProjectionError } from '../inventory/store/skipped-events.ts';
import { limits } from '../limits.ts';
import { compileHome } from '../net/home-networks.ts';
import { addressBytes } from '../net/ip.ts';
import type { FromProjector, ProjectorPort, Sequences } from '../projections/delta.ts';
import { InventoryEngine } from '../projections/inventory-engine.ts';
import { Rollups } from '../rollups/store/rollups.ts';
import { Topology } from '../topology/store/topology.ts';
import { type OpenMerger, openBlockMerger } from './block-merger.ts';
import { BlockMerging } from './block-merging.ts';
import { planBatch } from './commit-batch.ts';
import { lastCoveringPositions } from './covering-positions.ts';
import { afterUndoneMs, EventProcessing } from './event-processing.ts';
import { IdempotencyStore } from './idempotency.ts';
import { openProjector } from './open-projector.ts';
import { Outbox, planRecord } from './outbox.ts';
import type { ThreadSettings } from './projector-thread.ts';
import { Receipts } from './receipts.ts';
import type {
  Actor,
  AlertChange,
  AlertChanged,
  AlertUpdate,
  AssetChanged,
  CommitNotice,
  Committed,
  DamageFound,
  GivenVerdict,
  IngestBatch,
  IntelChanged,
  LogLife,
  LogPosition,
  OutboxRow,
  Principal,
  PrincipalChange,
  PrincipalChanged,
  RetentionStatus,
  ScannedHost,
  ScanRecorded,
  ScanUpdate,
  SealedRows,
  Settlement,
  SilenceChanged,
  Store,
  StoredAuditRecord,
  StoredScan,
  StoredSilence,
  StoreStatus,
  Token,
} from './store.ts';
import { StoreScrub } from './store-scrub.ts';
import { databaseFile, openTables, type Tables } from './tables.ts';
import { waitingProjector } from './waiting-projector.ts';

export interface StoreOptions {
  readonly dataDir: string;
  /** Maximum time between an alert's last occurrence and a finding that joins the alert, in event time. */
  readonly alertWindowMs: number;
  /** Returns the current time, epoch milliseconds. */
  readonly clock?: () => number;
  /** Maximum outbox rows. Default: limits.maxOutboxRows. */
  readonly maxOutboxRows?: number;
  /** Maximum receipts. Default: limits.maxReceipts. */
  readonly maxReceipts?: number;
  /** How long a receipt waits for other receipts. Default: limits.receiptIntervalMs. */
  readonly receiptIntervalMs?: number;
  /** Maximum audit records. Default: limits.maxAuditRecords. */
  readonly maxAuditRecords?: number;
  /** The home networks (`network.home`): addresses and CIDR blocks. Default: none. */
  readonly home?: readonly string[];
  /** Behaviour detectors to switch off. */
  readonly detectorsOff?: readonly DetectorId[];
  /** Creates the behaviour detectors of a projector in this thread. Default: all except `detectorsOff`. */
  readonly detectors?: () => readonly Detector[];
  /** Starts the projector. Default: in this thread. */
  readonly projector?: (settings: ThreadSettings, receive: (message: FromProjector) => void) => ProjectorPort;
  /** Opens the merger of blocks. Default: in this thread. */
  readonly openMerger?: (dataDir: string) => OpenMerger;
  /** Number of events after which detector state is written. Default: limits.eventsPerDetectorState. */
  readonly eventsPerDetectorState?: number;
  /** Returns the free bytes on the volume. Default: queried from the operating system. */
  readonly freeBytes?: () => number;
  /** Returns monotonic milliseconds for checking the clock. Default: the clock of the process. */
  readonly steadyMs?: () => number;
  /**
   * Retention bounds: `maxAgeMs` 0 means no limit on age, and `maxBytes` 0 means half of the volume. If absent,
   * events are not removed.
   */
  readonly retention?: Bounds;
  /** Mode of the scrub. Default: stored data is checked in the background; `by hand`: it is not. */
  readonly scrub?: 'by hand';
  /** Called after opening, and after the flush of a transaction that changed anything a notice contains. */
  readonly onCommitted?: (notice: CommitNotice) => void;
}

/** Approximate bytes that are written for each byte of packed findings, which contain repeated texts once. */
const packedGrowth = 3;
/** Approximate bytes that a change of a password writes, because it ends all sessions of the principal. */
const passwordChangeBytes = limits.maxTokensPerPrincipal * 1024;
/** Bytes that a change of the access policy writes, with its log entry. */
const policyChangeBytes = limits.maxAccessPolicyBytes;
const auditRecordBytes = 1024;
/**
 * Approximate bytes of a list of known-bad addresses without its indicators: rejected lines and expiry times.
 */
const intelRowBytes = 2 ** 17;
/** Approximate bytes of an asset or a service, with its indexes and history. */
const scannedRowBytes = 2048;
/** Minimum pause before a step of merging of the topology. */
const minMergePauseMs = 10;
/** The pause in units of the duration of the last step: limits these steps to a fifth of the thread's time. */
const mergePauseShare = 4;
/** Number of waiting events above which large blocks are not filled. */
const fillingBacklog = 2 * limits.maxBlockRows;

/**
 * Opens siem.mdb for writing, and creates it if it does not exist. The caller must hold the lock on the data
 * folder, so that there is a single writer.
 *
 * @throws Error with a one-line message if the file is damaged
 */
export function openStore(options: StoreOptions): Store {
  try {
    return new LmdbStore(options);
  } catch (error) {
    if (!isDamagedFile(error) && !isDamage(error)) throw error;
    const file = join(options.dataDir, databaseFile);
    throw new Error(`${file} is damaged (${error.message}). ${unusableStoreAdvice}`);
  }
}

/** Returns whether the error means that LMDB cannot open the file, or that a referenced page is missing. */
function isDamagedFile(error: unknown): error is Error {
  if (error instanceof DatabaseFileError) return true;
  return error instanceof Error && /^MDB_(CORRUPTED|PAGE_NOTFOUND)/.test(error.message);
}

class LmdbStore implements Store {
  readonly #file: string;
  readonly #root: RootDatabase;
  readonly #tables: Tables;
  readonly #events: EventStore;
  readonly #outbox: Outbox;
  readonly #openAlerts: OpenAlerts;
  readonly #triage: Triage;
  readonly #alerts: Alerts;
  readonly #answers: IdempotencyStore;
  readonly #receipts: Receipts;
  readonly #receiptIntervalMs: number;
  readonly #seals: SealStore;
  readonly #topology: Topology;
  readonly #rollups: Rollups;
  readonly #found: PendingFindings;
  readonly #correlations: Correlations;
  readonly #intel: Intel;
  readonly #silences: Silences;
  readonly #hosts: Hosts;
  readonly #inventory: InventoryEngine<Assets>;
  readonly #retention: Retention;
  readonly #queue: GroupCommit;
  readonly #processing: EventProcessing;
  readonly #publicHosts: PublicHostSearch;
  readonly #alertWindowMs: number;
  readonly #maxAuditRecords: number;
  readonly #now: () => number;
  readonly #freeBytes: () => number;
  readonly #blockMerging: BlockMerging;
  #mergeTimer: NodeJS.Timeout | undefined;
  #mergePauseMs = minMergePauseMs;
  #retentionTimer: NodeJS.Timeout | undefined;
  #receiptTimer: NodeJS.Timeout | undefined;
  #copying: Promise<void> | undefined;
  #closing = false;
  #closed: Promise<void> | undefined;
  #forgottenScans = 0;
  readonly #onCommitted: (notice: CommitNotice) => void;
  /** Changed scans since the last notice. */
  #scans: ScanUpdate[] = [];
  /** Sequences of the outbox, the graph and the first unprocessed events at the last notice. */
  #emitted: { outbox: number; topology: number; processed: Sequences } = {
    outbox: 0,
    topology: 0,
    processed: { network: 0, dns: 0 },
  };
  readonly #scrub: StoreScrub;
  #scrubTimer: NodeJS.Timeout | undefined;

  constructor(options: StoreOptions) {
    const { dataDir, alertWindowMs, clock = Date.now, maxOutboxRows } = options;
    const { steadyMs = () => performance.now() } = options;
    const believedMs = () => this.#retention.believedMs;
    this.#file = join(dataDir, databaseFile);
    this.#onCommitted = options.onCommitted ?? (() => {});
    this.#maxAuditRecords = options.maxAuditRecords ?? limits.maxAuditRecords;
    this.#freeBytes = options.freeBytes ?? (() => freeBytesOf(this.#file));
    this.#root = openDatabase(this.#file);
    this.#tables = openTables(this.#root, (row) => this.#scrub?.foundRow(row));
    this.#events = new EventStore(this.#root);
    this.#scrub = new StoreScrub({
      blocks: this.#events.blockStore,
      tables: this.#tables,
      isWriter: true,
      now: clock,
      onSetAside: () => this.#events.reload(),
    });
    this.#root.transactionSync(() => {
      completeTokenIndex(this.#tables);
      completeAdministrators(this.#tables);
      completeNames(this.#tables);
      completeFacts(this.#tables);
      completeIntelSeed(this.#tables, () => randomInt(2 ** 32));
    });
    this.#correlations = new Correlations(this.#tables);
    this.#intel = new Intel(this.#tables, clock);
    this.#silences = new Silences(this.#tables);
    this.#outbox = new Outbox(this.#tables, maxOutboxRows);
    this.#openAlerts = new OpenAlerts(this.#tables, believedMs);
    const isHome = compileHome(options.home ?? []);
    this.#publicHosts = new PublicHostSearch(this.#events, isHome);
    this.#triage = new Triage(this.#tables, isHome);
    this.#alerts = new Alerts(this.#tables, this.#outbox, this.#openAlerts, this.#triage, this.#events, believedMs);
    this.#answers = new IdempotencyStore(this.#tables, clock(), steadyMs);
    this.#receipts = new Receipts(this.#tables, options.maxReceipts);
    this.#seals = new SealStore(this.#tables, this.#events);
    this.#receiptIntervalMs = options.receiptIntervalMs ?? limits.receiptIntervalMs;
    this.#alertWindowMs = alertWindowMs;
    this.#now = clock;
    this.#topology = new Topology({
      tables: this.#tables,
      seed: randomInt(2 ** 32),
      transaction: (write) => this.#root.transactionSync(write),
    });
    this.#rollups = new Rollups({
      tables: this.#tables,
      now: believedMs,
      newKey: () => [randomInt(2 ** 32), randomInt(2 ** 32)],
      transaction: (write) => this.#root.transactionSync(write),
    });
    this.#found = new PendingFindings({
      tables: this.#tables,
      outbox: this.#outbox,
      newMerge: () => new AlertDeduplicator(this.#parts(), alertWindowMs, clock()),
    });
    this.#inventory = new InventoryEngine({
      tables: this.#tables,
      events: this.#events,
      assets: (services) => new Assets(this.#tables, services, this.#openAlerts, clock),
      projections: [this.#topology, this.#rollups, new Detections(this.#tables, this.#intel)],
      findings: this.#found,
      clocks: () => ({ now: clock(), believed: believedMs() }),
      send: (message) => this.#processing.projector.send(message),
    });
    this.#hosts = {
      isHome: (ip) => isHome(addressBytes(ip)!),
      assetOf: (ip) => this.#inventory.assets.assetAt(ip, clock()),
      isCritical: (assetId) =>
        criticalities.indexOf(this.#inventory.assets.rows.get(assetId)?.criticality ?? 'low') >=
        criticalities.indexOf('high'),
    };
    this.#inventory.assets.rows.onWritten = (before, after) => {
      this.#topology.assetWritten(before, after);
      this.#rollups.assetWritten(before, after);
    };
    this.#inventory.services.onFirstSeen = (before, after) => this.#rollups.serviceFirstSeen(before, after);
    this.#inventory.assets.onPartWritten = () => this.#inventory.force();
    const { retention } = options;
    this.#retention = new Retention({
      events: this.#events,
      tables: this.#tables,
      outbox: this.#outbox,
      bounds: retention && {
        maxAgeMs: retention.maxAgeMs,
        maxBytes: byteBound(retention.maxBytes, volumeBytesOf(this.#file)),
      },
      now: clock,
      steadyMs,
      hasRoom: () => this.#hasRoom(),
      transaction: (write) => this.#transaction(write),
    });
    const transactor = { transactionSync: <T>(action: () => T) => this.#transaction(action) };
    this.#queue = new GroupCommit(transactor, {
      forget: () => this.#reload(),
      hasRoom: () => this.#mayWrite(),
      hasWork: () => !this.#processing.isHalted && this.#inventory.hasWork,
      holds: () => this.#inventory.holdsIngest,
      onIdle: () => {
        this.#mergeLater();
        this.#blockMerging.wake();
      },
      onDamage: (error) => this.#processing.damaged(error),
      retries: (error) => error instanceof ProjectionError && this.#processing.skip(error),
      beforeFlush: (turn) => this.#processing.checkpoint(turn),
    });
    this.#processing = new EventProcessing({
      queue: this.#queue,
      events: this.#events,
      inventory: this.#inventory,
      correlations: this.#correlations,
      openAlerts: this.#openAlerts,
      scrub: this.#scrub,
      openProjector: (receive) => projectorOf(options, receive),
      refreshAlerts: () => this.#refreshCorrelations(),
      reload: () => this.#reload(),
      mayWrite: () => this.#mayWrite(),
      believedMs,
    });
    this.#root.transactionSync(() => this.#openAlerts.complete());
    this.#completeRollups();
    this.#emit();
    this.#blockMerging = new BlockMerging({
      queue: this.#queue,
      events: this.#events,
      openMerger: () => (options.openMerger ?? openBlockMerger)(dataDir),
      hasRoom: () => this.#hasRoom(),
      mayFill: () => this.#inventory.backlog < fillingBacklog,
      check: (table, block) => this.#queue.submit(smallChangeBytes, () => () => this.#events.check(table, block)),
      damaged: (error) => this.#scrub.foundBy(error),
      reload: () => this.#reload(),
    });
    this.#processing.start();
    this.#mergeLater();
    this.#blockMerging.wake();
    this.#retainIn(limits.retentionStepMs);
    this.#coverReceiptsIn(this.#receiptIntervalMs);
    if (options.scrub !== 'by hand') this.#scrubIn(this.#scrub.pauseMs);
  }

  async commit(batch: IngestBatch): Promise<Committed> {
    if (this.#closing) throw new ServiceError('UNAVAILABLE', 'the store is closing');
    const derived = packedGrowth * (batch.derived?.byteLength ?? 0);
    const bytes = smallChangeBytes + this.#events.bytesToWrite(batch.blocks) + derived;
    const committing = this.#queue.submit(bytes, () => planBatch(this.#parts(), batch));
    if (batch.blocks.length > 0) this.#blockMerging.wake();
    if (batch.receipt !== undefined)
      committing.then(
        () => this.#coverReceiptsIn(this.#receiptIntervalMs),
        () => undefined,
      );
    return committing;
  }

  changeAlert(id: string, change: AlertChange, by: Actor, version?: number): Promise<AlertChanged> {
    return this.#change(() => planChange(this.#parts(), id, change, by, version, this.#now()));
  }

  setAiVerdict(id: string, verdict: GivenVerdict, triagedAt: string): Promise<boolean> {
    return this.#change(() => planAiVerdict(this.#parts(), id, verdict, triagedAt, this.#now()));
  }

  createAsset(input: AssetInput, by: Actor): Promise<AssetChanged> {
    return this.#changeAssets((parts) => planCreate(parts, input, by));
  }

  changeAsset(id: string, change: AssetUpdateInput, by: Actor, version?: number): Promise<AssetChanged> {
    return this.#changeAssets((parts) => planAssetChange(parts, id, change, by, version));
  }

  removeAsset(id: string, version?: number): Promise<void> {
    return this.#changeAssets((parts) => planRemove(parts, id, version));
  }

  mergeAssets(id: string, into: string, by: Actor, version?: number): Promise<AssetChanged> {
    return this.#changeAssets((parts) => planMerge(parts, id, into, by, version));
  }

  splitAsset(id: string, identifiers: readonly string[], by: Actor, version?: number): Promise<AssetChanged> {
    return this.#changeAssets((parts) => planSplit(parts, id, identifiers, by, version));
  }

  addNote(alertId: string, text: string, by: Actor): Promise<StoredNote> {
    return this.#change(() => planNote(this.#parts(), alertId, text, by, this.#now()));
  }

  async outbox(limit: number): Promise<OutboxRow[]> {
    return this.#outbox.oldest(limit);
  }

  record(event: CriticalEvent, id?: string): Promise<void> {
    return this.#change(() => planRecord(this.#outbox, event, id, this.#now()));
  }

  settle(settlements: readonly Settlement[]): Promise<void> {
    return this.#queue.submit(
      settlements.length * smallChangeBytes,
      () => () => settle(this.#parts(), settlements, this.#now()),
    );
  }

  async lastPositions(kind: LogPosition['kind'], limit: number, below?: number): Promise<LogPosition[]> {
    if (kind === 'alert') return lastAlertPositions(this.#tables, limit, below);
    return lastCoveringPositions(kind, this.#tables, limit, below);
  }

  async logLife(): Promise<LogLife | undefined> {
    return this.#tables.logLife.get('life');
  }

  enterLogLife(life: LogLife): Promise<void> {
    return this.#change(() => () => {
      this.#tables.logLife.putSync('life', life);
      this.#tables.lastEntry.removeSync('last');
    });
  }

  logAgain(positions: readonly LogPosition[]): Promise<void> {
    const alerts = positions.flatMap((place) => (place.kind === 'alert' ? place.alert_id : []));
    const placesOf = (wanted: LogPosition['kind']) =>
      positions.flatMap(({ kind, place }) => (kind === wanted ? place : []));
    return this.#queue.submit(positions.length * smallChangeBytes, () => () => {
      this.#receipts.logAgain(placesOf('receipts'), this.#outbox, this.#now());
      this.#seals.logAgain(placesOf('events'), this.#outbox, this.#now());
      logAlertsAgain(this.#parts(), alerts, this.#now());
    });
  }

  async switchSealing(isOn: boolean): Promise<void> {
    try {
      await this.#change(() => () => this.#seals.switch(isOn));
    } catch (error) {
      // A full disk must not prevent a start that changes nothing.
      if (!isDiskFull(error) || !this.#seals.isSwitched(isOn)) throw error;
    }
  }

  sealEvents(ranges: readonly SealedRows[]): Promise<boolean> {
    const bytes = ranges.reduce((sum, { batches }) => sum + batches.length, smallChangeBytes);
    return this.#queue.submit(bytes, () => () => this.#seals.add(ranges, this.#outbox, this.#now()));
  }

  createPrincipal(principal: Principal, by: Actor): Promise<void> {
    return this.#change(() => planPrincipal(this.#tables, this.#outbox, principal, by, this.#now()));
  }

  changePrincipal(
    id: string,
    change: PrincipalChange,
    by: Actor,
    options: PrincipalChangeOptions = {},
  ): Promise<PrincipalChanged> {
    const bytes = change.password_hash === undefined ? smallChangeBytes : passwordChangeBytes;
    const wanted = { id, change, by, options };
    const plan = () => planPrincipalChange(this.#tables, this.#outbox, wanted, this.#now());
    return this.#queue.submit(bytes, plan, 'urgent');
  }

  addToken(token: Token, by: Actor): Promise<{ readonly ended: readonly string[] }> {
    return this.#change(() =>
      planToken(this.#tables, this.#outbox, token, by, this.#now(), this.#retention.believedMs),
    );
  }

  rotateSession(jti: string, expectedHash: string, newHash: string, by: Actor): Promise<boolean> {
    const rotation = { jti, expectedHash, newHash };
    return this.#change(() => planRotation(this.#tables, this.#outbox, rotation, by, this.#now()));
  }

  revokeToken(jti: string, by: Actor): Promise<boolean> {
    return this.#change(() => planRevocation(this.#tables, this.#outbox, jti, by, this.#now()));
  }

  noteTokenUse(uses: ReadonlyMap<string, string>): Promise<void> {
    return this.#queue.submit(uses.size * smallChangeBytes, () => planTokenUse(this.#tables, uses, this.#now()));
  }

  changePolicy(change: PolicyChange, by: Actor): Promise<void> {
    const plan = () => planPolicy(this.#tables, this.#outbox, change, by, this.#now());
    return this.#queue.submit(policyChangeBytes, plan, 'urgent');
  }

  saveScan(scan: StoredScan): Promise<void> {
    const forgot = () => {
      this.#forgottenScans++;
    };
    return this.#change(() => {
      const write = planScan(this.#tables, scan, forgot);
      return () => void this.#scans.push(write());
    });
  }

  async recordScan(scanId: string, hosts: readonly ScannedHost[]): Promise<ScanRecorded> {
    const rows = hosts.reduce((sum, { services }) => sum + 1 + services.length, 0);
    return this.#processing.afterEvents(
      rows * scannedRowBytes,
      () => () => recordScan(this.#inventory, this.#tables, scanId, hosts),
    );
  }

  addAudit(records: readonly StoredAuditRecord[]): Promise<void> {
    const plan = () => planAudit(this.#tables, records, this.#maxAuditRecords);
    return this.#queue.submit(records.length * auditRecordBytes, plan, 'urgent');
  }

  changeRules(change: RulesChange, by: Actor): Promise<void> {
    const bytes = change.put.reduce((sum, { source }) => sum + source.length, smallChangeBytes);
    return this.#queue.submit(bytes + change.correlations.byteLength, () =>
      planRules({ tables: this.#tables, outbox: this.#outbox, rules: this.#correlations }, change, by, this.#now()),
    );
  }

  createSilence(input: SilenceInput, by: Actor): Promise<StoredSilence> {
    return this.#change(() => planSilence(this.#silences, input, by, this.#now()));
  }

  changeSilence(id: string, change: SilenceUpdateInput, version?: number): Promise<SilenceChanged> {
    return this.#change(() => planSilenceChange(this.#silences, id, change, version, this.#now()));
  }

  removeSilence(id: string, version?: number): Promise<void> {
    return this.#change(() => planSilenceRemoval(this.#silences, id, version));
  }

  createIntel(settings: IntelSettings, content: IntelContent, by: Actor): Promise<IntelChanged> {
    const bytes = content.index.byteLength + intelRowBytes;
    return this.#queue.submit(bytes, () => planIntel(this.#intelParts(), settings, content, by));
  }

  changeIntel(
    id: string,
    change: IntelChange,
    by: Actor,
    terms: { readonly content?: IntelContent; readonly version?: number } = {},
  ): Promise<IntelChanged> {
    const bytes = (terms.content?.index.byteLength ?? 0) + intelRowBytes;
    return this.#queue.submit(bytes, () => planIntelChange(this.#intelParts(), { id, change, ...terms }, by));
  }

  removeIntel(id: string, by: Actor, version?: number): Promise<void> {
    return this.#change(() => planIntelRemoval(this.#intelParts(), id, by, version));
  }

  async copyTo(folder: string): Promise<void> {
    if (this.#closing) throw new ServiceError('UNAVAILABLE', 'the store is closing');
    if (this.#copying !== undefined)
      throw new ServiceError('CONFLICT', 'a copy of siem.mdb is already running; wait until it ends');
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
      assets: this.#inventory.assets.count,
      services: this.#inventory.services.count,
      topology_edges: this.#topology.edges,
      topology_runs: this.#topology.runs,
      limits_reached: {
        ...this.#inventory.limitsReached(),
        ...this.#topology.reached,
        ...this.#rollups.reached,
        ...this.#correlations.limitsReached(),
        ...this.#triage.limitsReached(),
        ...(this.#forgottenScans > 0 ? { maxScans: this.#forgottenScans } : {}),
        ...(this.#alerts.forgotten > 0 ? { maxAlertHistory: this.#alerts.forgotten } : {}),
      },
      detector_limits: this.#inventory.projectorLimits.detectors,
      ...omitUndefined({ public_host: this.#publicHosts.found() }),
      bytes: statSync(this.#file).size,
      unused_bytes: this.#unusedBytes(),
      uncounted_events: this.#inventory.unprocessed,
      retention: this.#retentionStatus(),
      damage: await this.damage(),
    };
  }

  async damage(): Promise<StoreDamage> {
    this.#events.refresh();
    return { ...this.#scrub.damage(), ...this.#processing.damage() };
  }

  processed(): Promise<void> {
    return this.#processing.processed();
  }

  reportDamage({ table, block, row }: DamageFound): Promise<void> {
    return this.#queue.submit(smallChangeBytes, () => () => {
      if (row !== undefined) return this.#scrub.foundRow(row);
      const events = eventTables.find((name) => name === table);
      if (events === undefined) this.#scrub.foundIn(table);
      else if (block !== undefined) this.#events.check(events, block);
    });
  }

  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    this.#closing = true;
    await this.#processing.finish();
    await this.#queue.close();
    await this.#blockMerging.close();
    await this.#processing.close();
    clearTimeout(this.#mergeTimer);
    clearTimeout(this.#retentionTimer);
    this.#retention.close();
    clearTimeout(this.#receiptTimer);
    clearTimeout(this.#scrubTimer);
    await this.#copying?.catch(() => undefined);
    await this.#root.close();
  }

  #scrubIn(delayMs: number): void {
    this.#scrubTimer = setTimeout(() => {
      if (this.#closing) return;
      try {
        if (this.#mayWrite()) this.#transaction(() => this.#scrub.step());
      } catch (error) {
        if (!isMapFull(error)) throw error;
        this.#reload();
      }
      this.#scrubIn(this.#scrub.pauseMs);
    }, delayMs).unref();
  }

  #refreshCorrelations(): number | undefined {
    // Requires room in the outbox, because an alert that is no longer silenced may have to be logged.
    if (!this.#correlations.isGrowing) return undefined;
    if (!this.#outbox.hasRoom) return limits.alertRefreshMs;
    return this.#correlations.refresh((found) => {
      const merge = new AlertDeduplicator(this.#parts(), this.#alertWindowMs, this.#now());
      for (const { finding, events } of found) merge.add(finding, events);
      merge.finish();
    });
  }

  #intelParts() {
    return { tables: this.#tables, outbox: this.#outbox, intel: this.#intel, nowMs: this.#now() };
  }

  /** Runs `write` in one transaction, and emits its changes after the flush. */
  #transaction<T>(write: () => T): T {
    const result = this.#root.transactionSync(write);
    if (this.#intel.takeChanged()) this.#processing.projector.send({ kind: 'intel' });
    this.#inventory.committed();
    const alerts = this.#alerts.takeChanges();
    const { outbox, topology, processed } = this.#emitted;
    const isMoved = eventTables.some((table) => this.#inventory.processed[table] > processed[table]);
    const isChanged = this.#outbox.head !== outbox || this.#topology.head !== topology || isMoved;
    if (alerts.length > 0 || this.#scans.length > 0 || isChanged) this.#emit(alerts);
    return result;
  }

  #emit(alerts: readonly AlertUpdate[] = []): void {
    const scans = this.#scans;
    this.#scans = [];
    const { processed } = this.#inventory;
    this.#emitted = { outbox: this.#outbox.head, topology: this.#topology.head, processed };
    const heads = { alerts: this.#alerts.head, topology: this.#topology.head };
    this.#onCommitted({ alerts, scans, heads, processed, outbox: this.#outbox.rows });
  }

  /** Commits a small change before waiting ingest. Its plan must not depend on state derived from events. */
  #change<T>(plan: Plan<T>): Promise<T> {
    return this.#queue.submit(smallChangeBytes, plan, 'urgent');
  }

  /**
   * Plans a change of assets after all earlier events were processed, and writes all in-memory state together
   * with the change.
   */
  #changeAssets<T>(plan: (parts: AssetParts) => () => T): Promise<T> {
    return this.#processing.afterEvents(smallChangeBytes, () => {
      this.#inventory.assets.settleAll();
      this.#inventory.force();
      const { assets, services } = this.#inventory;
      return plan({ assets, services, openAlerts: this.#openAlerts, nowMs: this.#now() });
    });
  }

  #parts() {
    return {
      tables: this.#tables,
      alerts: this.#alerts,
      outbox: this.#outbox,
      events: this.#events,
      answers: this.#answers,
      receipts: this.#receipts,
      inventory: this.#inventory,
      correlations: this.#correlations,
      silences: this.#silences,
      hosts: this.#hosts,
      found: this.#found,
      intel: this.#intel,
      alertWindowMs: this.#alertWindowMs,
      nowMs: this.#now(),
      diskFull: !this.#hasRoom(),
    };
  }

  /**
   * Reloads in-memory table content after an aborted transaction. Uses one transaction, so that all content
   * is read from one state.
   */
  #reload(): void {
    this.#root.transactionSync(() => {
      this.#scans = [];
      this.#events.reload();
      this.#outbox.reload();
      this.#receipts.forget();
      this.#alerts.reload();
      this.#inventory.forget();
      this.#correlations.forget();
      this.#intel.forget();
      this.#silences.reload();
      this.#emitted = { ...this.#emitted, outbox: this.#outbox.head, topology: this.#topology.head };
    });
    this.#processing.repeatLater();
  }

  /** Builds the rollups if the file has none. If the disk is full, the next start builds them. */
  #completeRollups(): void {
    if (!this.#hasRoom()) return;
    try {
      guarded(() => this.#rollups.complete(this.#events));
    } catch (error) {
      if (error instanceof ProjectionError) return void this.#processing.skip(error);
      if (!isDamage(error) && !isMapFull(error)) throw error;
      this.#reload();
      if (isDamage(error)) this.#processing.damaged(error);
    }
  }

  /**
   * Schedules an entry that covers the waiting receipts. If there are too many receipts for one entry,
   * another entry follows immediately.
   */
  #coverReceiptsIn(delayMs: number): void {
    if (this.#receiptTimer !== undefined || this.#closing || this.#receipts.waiting === 0) return;
    this.#receiptTimer = setTimeout(() => {
      this.#receiptTimer = undefined;
      void this.#coverReceipts();
    }, delayMs).unref();
  }

  async #coverReceipts(): Promise<void> {
    let covered = false;
    try {
      const bytes = limits.maxReceiptsPerEntry * 1024;
      covered = await this.#queue.submit(bytes, () => () => this.#receipts.cover(this.#outbox, this.#now()));
    } catch (error) {
      // The disk is full. The receipts wait for the next interval.
      if (!(error instanceof ServiceError)) throw error;
    }
    const more = covered && this.#receipts.waiting >= limits.maxReceiptsPerEntry;
    this.#coverReceiptsIn(more ? 0 : this.#receiptIntervalMs);
  }

  /** Returns whether the volume or the file has room for a small transaction. */
  #mayWrite(): boolean {
    const { minWritableDiskBytes } = limits;
    return this.#freeBytes() >= minWritableDiskBytes || this.#unusedBytes() >= minWritableDiskBytes;
  }

  /**
   * Returns whether there is room for events, on the volume or in free pages of the file. Space that
   * retention frees is room in the file but not on the volume, because the file never shrinks.
   */
  #hasRoom(): boolean {
    const free = this.#freeBytes();
    if (free >= limits.minFreeDiskBytes) return true;
    return free >= limits.minReservedDiskBytes && this.#unusedBytes() >= limits.minFreeDiskBytes;
  }

  #unusedBytes(): number {
    return unusedBytes(this.#root, [...Object.values(this.#tables), ...this.#events.databases]);
  }

  #retentionStatus(): RetentionStatus {
    const { bounds } = this.#retention;
    const now = this.#now();
    const oldest = eventTables.map((table) => [table, this.#events.oldest(table, now)?.received]);
    return {
      ...(bounds === undefined ? {} : { max_bytes: bounds.maxBytes }),
      ...(bounds === undefined || bounds.maxAgeMs === 0 ? {} : { max_age_ms: bounds.maxAgeMs }),
      event_bytes: this.#events.diskBytes(),
      clock_behind_ms: this.#retention.behindMs,
      oldest: Object.fromEntries(oldest.filter(([, at]) => at !== undefined)),
      expired: this.#retention.totals,
    };
  }

  #retainIn(delayMs: number): void {
    if (this.#closing) return;
    this.#retentionTimer = setTimeout(() => this.#retain(), delayMs).unref();
  }

  /**
   * Runs a step of retention, even under load, because new events need room. Commits run between two steps. Below
   * `minReservedDiskBytes`, the step is postponed, because it could find the volume full.
   */
  #retain(): void {
    if (this.#freeBytes() < limits.minReservedDiskBytes) return this.#retainIn(afterUndoneMs);
    try {
      const isMore = this.#retention.step();
      if (isMore) this.#retainIn(limits.retentionStepMs);
      else if (this.#retention.bounds !== undefined) this.#retainIn(limits.retentionLookMs);
    } catch (error) {
      if (isDamage(error)) this.#scrub.foundBy(error);
      else if (!isMapFull(error)) throw error;
      this.#reload();
      this.#retainIn(isDamage(error) ? limits.retentionLookMs : afterUndoneMs);
    }
  }

  /** Schedules a step of merging of the topology, unless a step is already scheduled. */
  #mergeLater(): void {
    this.#mergeTimer ??= setTimeout(() => {
      this.#mergeTimer = undefined;
      this.#merge();
    }, this.#mergePauseMs).unref();
  }

  /**
   * Runs a step of merging of the topology. Waiting commits take precedence. A full disk stops merging until the next
   * successful write.
   */
  #merge(): void {
    if (this.#queue.pending > 0 || !this.#hasRoom()) return;
    const began = performance.now();
    try {
      const isMerged = this.#topology.mergeSome();
      this.#mergePauseMs = Math.max(minMergePauseMs, mergePauseShare * (performance.now() - began));
      if (isMerged) this.#mergeLater();
    } catch (error) {
      if (isDamage(error)) this.#scrub.foundBy(error);
      else if (!isMapFull(error)) throw error;
      this.#reload();
    }
  }
}

/** Returns the projector that the options name, which is opened when there are events. */
function projectorOf(options: StoreOptions, receive: (message: FromProjector) => void): ProjectorPort {
  const settings = {
    dataDir: options.dataDir,
    home: options.home ?? [],
    detectorsOff: options.detectorsOff ?? [],
    eventsPerDetectorState: options.eventsPerDetectorState ?? limits.eventsPerDetectorState,
  };
  const detectors = options.detectors ?? (() => newDetectors(options.detectorsOff));
  const { projector = (_, send) => openProjector(settings, detectors, send) } = options;
  return waitingProjector((send) => projector(settings, send), receive);
}

function volumeBytesOf(file: string): number {
  const { blocks, bsize } = statfsSync(file);
  return blocks * bsize;
}
