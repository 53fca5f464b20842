import type { Alert } from '../../contract/resources/alert.ts';
import type { AlertNote } from '../../contract/resources/alert-note.ts';
import type { IngestAnswer } from '../../contract/resources/ingest.ts';
import type { ReceiptStatement } from '../../contract/resources/receipt.ts';
import type { Severity } from '../../contract/vocabulary.ts';
import type { Table } from '../../events/records.ts';
import type { RootDatabase } from '../../lmdb.ts';
import type { TriageState } from '../../triage/describe.ts';
import type { AssetRow } from '../asset-row.ts';
import type { IntelHits, IntelRow } from '../intel-row.ts';
import type { RuleRow } from '../rule-row.ts';
import type { ServiceKey, ServiceRow } from '../service-row.ts';
import type { SilenceRow } from '../silence-row.ts';
import type { EntryPlace, LogLife, OutboxRow, Principal, Token } from '../store.ts';
import type { FactsRow } from './alert-facts.ts';
import type { AlertHistoryRow } from './alert-history.ts';
import type { SealRow } from './event-seals.ts';
import type { ExpiredKey, ExpiredRow } from './expired.ts';
import type { FoldedEnds } from './folded-ends.ts';
import type { FoundInEvents } from './found-in-events.ts';
import type { Interval } from './intervals.ts';
import type { AlertEntry, AlertKey } from './inventory/alert-entries.ts';
import type { AddressRow, EarlierBinding, MacRow } from './inventory/bindings.ts';
import type { HistoryRow } from './inventory/history.ts';
import type { FoldedTo } from './inventory/inventory.ts';
import type { AssetRisk } from './inventory/open-alerts.ts';
import type { RiskChangeRow } from './inventory/risk-history.ts';
import type { SeenAgain } from './inventory/still-there.ts';
import type { ToldRow } from './inventory/told.ts';
import type { ReceiptBatch } from './receipts.ts';
import type { KeptClock } from './retention-clock.ts';
import type { BucketKey, RollupState } from './rollups/rollup-tables.ts';
import type { TakenInputs } from './rules/correlations.ts';
import type { ScanRow } from './scans.ts';
import { openRows, type Rows } from './seal.ts';
import type { ScrubState } from './store-scrub.ts';
import type { GraphState, StepEdges, StepRow } from './topology/graph-tables.ts';
import type { TallyKey, TallyRow, TaughtRow } from './triage.ts';

/** File name in the data folder. */
export const databaseFile = 'siem.mdb';

/** An alert as stored: the resource, and fields only for the store. */
export interface AlertRow {
  readonly id: string;
  /** Position in the sequence of changes: the key of `alertLog` that names this alert. */
  readonly seq: number;
  /** Its `alert.raised` entry is in the outbox or the log. */
  readonly raised: boolean;
  /** Highest severity of its findings; an analyst's severity is in the resource. */
  readonly found: Severity;
  /** When its last finding arrived that no silence matched, in epoch milliseconds of the server clock. */
  readonly heard?: number;
  /** Only for a summary alert: the addresses that it covers. */
  readonly folded?: FoldedEnds;
  /** The lesson that the triage learned from its verdict. */
  readonly taught?: TaughtRow;
  /** Its history: the number of the next record, and how many there are. Absent before the first. */
  readonly history?: readonly [next: number, kept: number];
  readonly alert: Alert;
}

/**
 * New alerts of one rule, or of one rule at one host, in one window of event time that begins with the first
 * alert.
 */
export interface RuleWindow {
  readonly start: number;
  readonly alerts: number;
  /** Ids of the alerts that a summary alert would include; absent once it has. */
  readonly ids?: readonly string[];
}

export interface RememberedAnswer {
  readonly digest: string;
  readonly answer: IngestAnswer;
  /** Id of the receipt issued with it. */
  readonly receipt?: string;
  /** Epoch milliseconds at which it expires. */
  readonly expires: number;
}

/**
 * An audit record as stored: actor, operation and outcome, which lists filter by, and its attributes as JSON.
 * With this, a scan takes about 1 µs per record, and a page is assembled from texts.
 */
export type AuditRow = readonly [actor: string, operation: string, outcome: string, json: string];

/**
 * The tables of siem.mdb other than the events. External text is never a key: keys are hashes, or UUIDs of
 * checked form. Values are msgpack without shared structures, because several threads read them.
 */
export interface Tables {
  /** alert id → row */
  readonly alerts: Rows<AlertRow, string>;
  /** alert id → attributes that alerts are counted by */
  readonly alertFacts: Rows<FactsRow, string>;
  /** change sequence → alert id; one key for each alert, that of its latest change */
  readonly alertLog: Rows<string, number>;
  /** [last_seen in epoch ms, alert id] → nothing */
  readonly alertTimes: Rows<true, [number, string]>;
  /** leaf index → id of the alert whose entry was settled there */
  readonly alertPlaces: Rows<string, number>;
  /** The generation of the log that `alertPlaces` refers to; empty in the first one */
  readonly logLife: Rows<LogLife, 'life'>;
  /** The settled entry of any kind with the highest leaf in this generation */
  readonly lastEntry: Rows<EntryPlace, 'last'>;
  /** deduplication key → intervals of its recent alerts, oldest alert first */
  readonly alertKeys: Rows<readonly Interval[], string>;
  /** hash of the rule, or of the rule and a host → recent windows, oldest first */
  readonly ruleWindows: Rows<readonly RuleWindow[], string>;
  /** [alert id, number of the note from 1] → note */
  readonly notes: Rows<AlertNote & { id: string }, [string, number]>;
  /** [alert id, number from 0] → history record */
  readonly alertHistory: Rows<AlertHistoryRow, [string, number]>;
  /** [table of events, reason] → events that retention removed */
  readonly expired: Rows<ExpiredRow, ExpiredKey>;
  /** kind → state of retention */
  readonly retentionState: Rows<KeptClock, 'clock'>;
  /** sequence → row */
  readonly outbox: Rows<OutboxRow, number>;
  /** entry id → sequence */
  readonly outboxIds: Rows<number, string>;
  /** sequence → receipt issued for an ingest body */
  readonly receipts: Rows<ReceiptStatement, number>;
  /** receipt id → sequence */
  readonly receiptIds: Rows<number, string>;
  /** sequence of the last receipt in it → receipts that one log entry covers */
  readonly receiptBatches: Rows<ReceiptBatch, number>;
  /** number from 1 → ranges of events that one log entry covers */
  readonly eventSeals: Rows<SealRow, number>;
  /** [table of events, last sequence of a range] → number of its row in `eventSeals` */
  readonly eventSealPlaces: Rows<number, [Table, number]>;
  /** table of events → the first sequence that is not sealed yet; absent while sealing is off */
  readonly sealedUpTo: Rows<number, Table>;
  /** hash of an Idempotency-Key → answer */
  readonly answers: Rows<RememberedAnswer, string>;
  /** [expires, hash] → nothing */
  readonly answerTimes: Rows<true, [number, string]>;
  /** principal id → principal */
  readonly principals: Rows<Principal, string>;
  /** hash of a name's spelling, and of its look → principal id */
  readonly principalNames: Rows<string, string>;
  /** jti → token */
  readonly tokens: Rows<Token, string>;
  /** [expires_at in epoch ms, jti] → nothing; sessions only */
  readonly tokenTimes: Rows<true, [number, string]>;
  /** [principal id, its kind or `ended` once it was revoked, jti] → nothing */
  readonly principalTokens: Rows<true, [string, Token['kind'] | 'ended', string]>;
  /** principal id → nothing; active administrators only */
  readonly administrators: Rows<true, string>;
  /** scan id → row */
  readonly scans: Rows<ScanRow, string>;
  /** change sequence → scan id; one key for each scan, that of its latest change */
  readonly scanLog: Rows<string, number>;
  /** [requested_at in epoch ms, scan id] → nothing */
  readonly scanTimes: Rows<true, [number, string]>;
  /** [time in epoch ms, id] → record */
  readonly audit: Rows<AuditRow, [number, string]>;
  /** [call, sequence in the outbox] → id of the entry; until the audit record of the call is written */
  readonly callEntries: Rows<string, [string, number]>;
  /** asset id → row */
  readonly assets: Rows<AssetRow, string>;
  /** address → its newest binding */
  readonly assetAddresses: Rows<AddressRow, string>;
  /** [address, since in epoch ms] → an earlier binding of it */
  readonly assetBindings: Rows<EarlierBinding, [string, number]>;
  /** [asset id, address that it has or had] → nothing */
  readonly assetAddressesOf: Rows<true, [string, string]>;
  /** MAC address → its owner, or that it belongs to a gateway */
  readonly assetMacs: Rows<MacRow, string>;
  /** number → hosts seen later than their rows say, in order of time */
  readonly assetsSeen: Rows<readonly SeenAgain[], number>;
  /** [asset id, number from 0] → history record */
  readonly assetHistory: Rows<HistoryRow, [string, number]>;
  /** id of a merged asset → the asset that it was merged into */
  readonly assetMerges: Rows<string, string>;
  /** Alerts that are open or contribute to risk, by the addresses of their ends, highest risk first */
  readonly openAlerts: Rows<AlertEntry, AlertKey>;
  /** asset id → its risk score, and when it falls */
  readonly assetRisks: Rows<AssetRisk, string>;
  /** [100 − risk score, asset id] → nothing; assets at risk only */
  readonly riskRanks: Rows<true, [number, string]>;
  /** [epoch ms at which its risk score falls, asset id] → nothing */
  readonly riskFalls: Rows<true, [number, string]>;
  /** [asset id, epoch ms] → change of its risk score */
  readonly riskHistory: Rows<RiskChangeRow, [string, number]>;
  /** `generation` of the bindings; `risks`: the change of alerts up to which assets are current */
  readonly assetCounters: Rows<number, AssetCounter>;
  /** service id → row */
  readonly services: Rows<ServiceRow, string>;
  /** [asset id, transport, port, address] → service id */
  readonly serviceKeys: Rows<string, ServiceKey>;
  /** service id → its clients, encoded by `src/inventory/client-count.ts` */
  readonly serviceClients: Rows<Buffer, string>;
  /** table of events → progress of the inventory */
  readonly inventoryState: Rows<FoldedTo, Table>;
  /** number → sightings of a batch that the inventory has not processed yet */
  readonly inventoryTold: Rows<ToldRow, number>;
  /** sequence of the channel `topology` → additions to the graph */
  readonly topologySteps: Rows<StepRow, number>;
  /** the same sequence → its edges */
  readonly topologyStepEdges: Rows<StepEdges, number>;
  /** number → encoded edges */
  readonly topologySegments: Rows<Buffer, number>;
  readonly topologyState: Rows<GraphState, 'graph'>;
  /** bucket → its counters and distinct counts */
  readonly rollupCounts: Rows<Buffer, BucketKey>;
  /** bucket → its complete rollup */
  readonly rollupSketches: Rows<Buffer, BucketKey>;
  /** sequence → additions to the buckets */
  readonly rollupDeltas: Rows<Buffer, number>;
  /** bucket → alerts last seen in it, by severity and status */
  readonly rollupAlerts: Rows<Buffer, BucketKey>;
  readonly rollupState: Rows<RollupState, 'rollups'>;
  /** behaviour detector → its state, and up to which event */
  readonly behaviourState: Rows<Buffer, string>;
  /** number → a finding in stored events that waits for the outbox to have room */
  readonly waitingFindings: Rows<FoundInEvents, number>;
  /** rule id → rule */
  readonly rules: Rows<RuleRow, string>;
  /** For all rules: their version, their correlations, and the state of these up to a row of inputs */
  readonly rulesState: Rows<Buffer, 'version' | 'correlations' | 'state'>;
  /** sequence → inputs that the state of correlations does not include yet */
  readonly correlationInputs: Rows<TakenInputs, number>;
  /** intel list id → list */
  readonly intelLists: Rows<IntelRow, string>;
  /** [intel list id, number from 0] → a piece of its index, by `encodeIndicators` */
  readonly intelContents: Rows<Buffer, [string, number]>;
  /** intel list id → number of hits */
  readonly intelHits: Rows<IntelHits, string>;
  /** Number of changes of intel lists; seed of their indexes */
  readonly intelState: Rows<number, 'version' | 'seed'>;
  /** silence id → silence */
  readonly silences: Rows<SilenceRow, string>;
  /** The learned triage model */
  readonly triageState: Rows<TriageState, 'model'>;
  /** a rule, or an address at one end → verdicts of analysts on its alerts */
  readonly triageTallies: Rows<TallyRow, TallyKey>;
  /** progress of the scrub */
  readonly scrubState: Rows<ScrubState, 'siem'>;
}

export type AssetCounter = 'generation' | 'risks';

/** Tables that files from earlier versions lack. Opening for writing creates and completes them. */
export const laterTables: readonly (keyof Tables)[] = [
  'principalTokens',
  'administrators',
  'audit',
  'scans',
  'scanLog',
  'scanTimes',
  'callEntries',
  'assets',
  'assetAddresses',
  'assetBindings',
  'assetAddressesOf',
  'assetMacs',
  'assetsSeen',
  'assetHistory',
  'assetMerges',
  'openAlerts',
  'assetRisks',
  'riskRanks',
  'riskFalls',
  'riskHistory',
  'assetCounters',
  'services',
  'serviceKeys',
  'serviceClients',
  'inventoryState',
  'inventoryTold',
  'topologySteps',
  'topologyStepEdges',
  'topologySegments',
  'topologyState',
  'rollupCounts',
  'rollupSketches',
  'rollupDeltas',
  'rollupAlerts',
  'rollupState',
  'behaviourState',
  'waitingFindings',
  'rules',
  'rulesState',
  'correlationInputs',
  'intelLists',
  'intelContents',
  'intelHits',
  'intelState',
  'silences',
  'triageState',
  'triageTallies',
  'scrubState',
  'alertHistory',
  'alertFacts',
  'expired',
  'retentionState',
  'receipts',
  'receiptIds',
  'receiptBatches',
  'eventSeals',
  'eventSealPlaces',
  'sealedUpTo',
  'logLife',
  'lastEntry',
];

/**
 * Tables whose damaged rows are never left out: without a row of identities, of log coverage, of rules and
 * known indicators, or of the progress of a job, a response or change would be wrong, not only incomplete.
 */
const strictTables: ReadonlySet<keyof Tables> = new Set([
  ...(['principals', 'principalNames', 'tokens', 'tokenTimes', 'principalTokens', 'administrators'] as const),
  ...(['outboxIds', 'receiptBatches', 'eventSeals', 'eventSealPlaces', 'sealedUpTo'] as const),
  ...([
    'logLife',
    'lastEntry',
    'audit',
    'callEntries',
    'scans',
    'scanLog',
    'rules',
    'intelContents',
    'intelState',
  ] as const),
]);

/**
 * @param onDamage - receives damaged rows, which all tables except the strict ones leave out; default: all
 * tables throw
 */
export function openTables(root: RootDatabase, onDamage?: (row: string) => void): Tables {
  const open = <Name extends keyof Tables>(
    name: Name,
    stored: string,
    encoding?: 'binary' | 'json',
  ): Tables[Name] => {
    const policy = onDamage && { onDamage, leavesOut: !strictTables.has(name) };
    return openRows(root, stored, encoding, policy) as unknown as Tables[Name];
  };
  return {
    alerts: open('alerts', 'alerts'),
    alertLog: open('alertLog', 'alert-log'),
    alertTimes: open('alertTimes', 'alert-times'),
    alertPlaces: open('alertPlaces', 'alert-places'),
    logLife: open('logLife', 'log-life'),
    lastEntry: open('lastEntry', 'last-entry'),
    alertKeys: open('alertKeys', 'alert-keys'),
    ruleWindows: open('ruleWindows', 'alert-rule-windows'),
    notes: open('notes', 'alert-notes'),
    alertFacts: open('alertFacts', 'alert-facts'),
    alertHistory: open('alertHistory', 'alert-history'),
    expired: open('expired', 'expired-events'),
    retentionState: open('retentionState', 'retention-state'),
    outbox: open('outbox', 'outbox'),
    outboxIds: open('outboxIds', 'outbox-ids'),
    receipts: open('receipts', 'receipts'),
    receiptIds: open('receiptIds', 'receipt-ids'),
    receiptBatches: open('receiptBatches', 'receipt-batches'),
    eventSeals: open('eventSeals', 'event-seals'),
    eventSealPlaces: open('eventSealPlaces', 'event-seal-places'),
    sealedUpTo: open('sealedUpTo', 'sealed-up-to'),
    answers: open('answers', 'answers'),
    answerTimes: open('answerTimes', 'answer-times'),
    principals: open('principals', 'principals'),
    principalNames: open('principalNames', 'principal-names'),
    tokens: open('tokens', 'tokens'),
    tokenTimes: open('tokenTimes', 'token-times'),
    principalTokens: open('principalTokens', 'principal-tokens'),
    administrators: open('administrators', 'administrators'),
    audit: open('audit', 'audit'),
    scans: open('scans', 'scans'),
    scanLog: open('scanLog', 'scan-log'),
    scanTimes: open('scanTimes', 'scan-times'),
    callEntries: open('callEntries', 'call-entries'),
    assets: open('assets', 'assets'),
    assetAddresses: open('assetAddresses', 'asset-addresses'),
    assetBindings: open('assetBindings', 'asset-bindings'),
    assetAddressesOf: open('assetAddressesOf', 'asset-addresses-of'),
    assetMacs: open('assetMacs', 'asset-macs'),
    assetsSeen: open('assetsSeen', 'assets-seen'),
    assetHistory: open('assetHistory', 'asset-history'),
    assetMerges: open('assetMerges', 'asset-merges'),
    openAlerts: open('openAlerts', 'open-alerts'),
    assetRisks: open('assetRisks', 'asset-risks'),
    riskRanks: open('riskRanks', 'risk-ranks'),
    riskFalls: open('riskFalls', 'risk-falls'),
    riskHistory: open('riskHistory', 'risk-history'),
    assetCounters: open('assetCounters', 'asset-counters'),
    services: open('services', 'services'),
    serviceKeys: open('serviceKeys', 'service-keys'),
    serviceClients: open('serviceClients', 'service-clients', 'binary'),
    inventoryState: open('inventoryState', 'inventory-state'),
    inventoryTold: open('inventoryTold', 'inventory-told'),
    topologySteps: open('topologySteps', 'topology-steps'),
    topologyStepEdges: open('topologyStepEdges', 'topology-step-edges'),
    topologySegments: open('topologySegments', 'topology-segments', 'binary'),
    topologyState: open('topologyState', 'topology-state'),
    rollupCounts: open('rollupCounts', 'rollup-counts', 'binary'),
    rollupSketches: open('rollupSketches', 'rollup-sketches', 'binary'),
    rollupDeltas: open('rollupDeltas', 'rollup-deltas', 'binary'),
    rollupAlerts: open('rollupAlerts', 'rollup-alerts', 'binary'),
    rollupState: open('rollupState', 'rollup-state'),
    behaviourState: open('behaviourState', 'behaviour-state', 'binary'),
    waitingFindings: open('waitingFindings', 'waiting-findings'),
    rules: open('rules', 'rules'),
    rulesState: open('rulesState', 'rules-state', 'binary'),
    correlationInputs: open('correlationInputs', 'correlation-inputs'),
    intelLists: open('intelLists', 'intel-lists'),
    intelContents: open('intelContents', 'intel-contents', 'binary'),
    intelHits: open('intelHits', 'intel-hits'),
    intelState: open('intelState', 'intel-state'),
    silences: open('silences', 'silences'),
    triageState: open('triageState', 'triage-state'),
    triageTallies: open('triageTallies', 'triage-tallies'),
    scrubState: open('scrubState', 'scrub-state'),
  };
}

/** Returns the highest key of a table keyed by a sequence; 0 if it is empty. */
export function lastSequence(table: Rows<unknown, number>): number {
  for (const key of table.getKeys({ reverse: true, limit: 1 })) return key;
  return 0;
}

/** Returns the number of entries of a table from its statistics, in constant time. */
export function entryCount(table: { getStats(): object }): number {
  return (table.getStats() as { readonly entryCount: number }).entryCount;
}
