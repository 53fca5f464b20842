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

/** In the data folder. */
export const databaseFile = 'siem.mdb';

/** An alert as stored: the resource, and what only the store needs. */
export interface AlertRow {
  readonly id: string;
  /** Position in the sequence of changes: the key of `alertLog` that names this alert. */
  readonly seq: number;
  /** Its `alert.raised` entry is in the outbox or the log. */
  readonly raised: boolean;
  /** Highest severity that findings gave it; what an analyst set is in the resource. */
  readonly found: Severity;
  /** When a finding of it came last that no silence was about, in epoch milliseconds of our clock. */
  readonly heard?: number;
  /** Of an alert that stands for many: their addresses. */
  readonly folded?: FoldedEnds;
  /** What its verdict taught the triage. */
  readonly taught?: TaughtRow;
  /** Of its history: the number of the next record, and how many there are. Absent before the first. */
  readonly history?: readonly [next: number, kept: number];
  readonly alert: Alert;
}

/** New alerts of one rule, or of one rule at one host, in one window of event time that begins with the first of them. */
export interface RuleWindow {
  readonly start: number;
  readonly alerts: number;
  /** Those of them that an alert which stands for many would take up; none once it has. */
  readonly ids?: readonly string[];
}

export interface RememberedAnswer {
  readonly digest: string;
  readonly answer: IngestAnswer;
  /** Id of the receipt that was given with it. */
  readonly receipt?: string;
  /** Epoch milliseconds from which it counts no more. */
  readonly expires: number;
}

/**
 * An audit record as stored: actor, operation and outcome, which lists filter by, and its attributes as JSON. A scan
 * takes about 1 µs a record so, and a page is put together from texts.
 */
export type AuditRow = readonly [actor: string, operation: string, outcome: string, json: string];

/**
 * The tables of siem.mdb beside the events. Text from outside is never a key: it is hashed, or it is a UUID whose
 * form was checked. Values are msgpack without shared structures, because several threads read them.
 */
export interface Tables {
  /** alert id → row */
  readonly alerts: Rows<AlertRow, string>;
  /** alert id → what alerts are counted by */
  readonly alertFacts: Rows<FactsRow, string>;
  /** change sequence → alert id; one key for each alert, that of its latest change */
  readonly alertLog: Rows<string, number>;
  /** [last_seen in epoch ms, alert id] → nothing */
  readonly alertTimes: Rows<true, [number, string]>;
  /** leaf index → id of the alert whose entry stands there, as it was settled */
  readonly alertPlaces: Rows<string, number>;
  /** The life of the log that `alertPlaces` are of; nothing in its first one */
  readonly logLife: Rows<LogLife, 'life'>;
  /** The entry with the highest leaf that was settled in this life, of whatever kind */
  readonly lastEntry: Rows<EntryPlace, 'last'>;
  /** deduplication key → intervals of its recent alerts, oldest alert first */
  readonly alertKeys: Rows<readonly Interval[], string>;
  /** hash of the rule, or of the rule and a host → recent windows, oldest first */
  readonly ruleWindows: Rows<readonly RuleWindow[], string>;
  /** [alert id, number of the note from 1] → note */
  readonly notes: Rows<AlertNote & { id: string }, [string, number]>;
  /** [alert id, number from 0] → what happened to it */
  readonly alertHistory: Rows<AlertHistoryRow, [string, number]>;
  /** [table of events, reason] → what retention took of it */
  readonly expired: Rows<ExpiredRow, ExpiredKey>;
  /** what → where retention is with it */
  readonly retentionState: Rows<KeptClock, 'clock'>;
  /** sequence → row */
  readonly outbox: Rows<OutboxRow, number>;
  /** entry id → sequence */
  readonly outboxIds: Rows<number, string>;
  /** sequence → receipt given for an ingest body */
  readonly receipts: Rows<ReceiptStatement, number>;
  /** receipt id → sequence */
  readonly receiptIds: Rows<number, string>;
  /** sequence of the last receipt in it → receipts that one log entry covers */
  readonly receiptBatches: Rows<ReceiptBatch, number>;
  /** number from 1 → ranges of events that one log entry covers */
  readonly eventSeals: Rows<SealRow, number>;
  /** [table of events, last sequence of a range] → number of its row in `eventSeals` */
  readonly eventSealPlaces: Rows<number, [Table, number]>;
  /** table of events → the sequence from which on its rows are to be sealed; nothing while sealing is off */
  readonly sealedUpTo: Rows<number, Table>;
  /** hash of an Idempotency-Key → answer */
  readonly answers: Rows<RememberedAnswer, string>;
  /** [expires, hash] → nothing */
  readonly answerTimes: Rows<true, [number, string]>;
  /** principal id → principal */
  readonly principals: Rows<Principal, string>;
  /** hash of a name as it is written, and as it looks → principal id */
  readonly principalNames: Rows<string, string>;
  /** jti → token */
  readonly tokens: Rows<Token, string>;
  /** [expires_at in epoch ms, jti] → nothing; sessions only */
  readonly tokenTimes: Rows<true, [number, string]>;
  /** [principal id, its kind or `ended` once it was revoked, jti] → nothing */
  readonly principalTokens: Rows<true, [string, Token['kind'] | 'ended', string]>;
  /** principal id → nothing; those who can administer */
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
  /** address → whose it is, its newest binding */
  readonly assetAddresses: Rows<AddressRow, string>;
  /** [address, since in epoch ms] → an earlier binding of it */
  readonly assetBindings: Rows<EarlierBinding, [string, number]>;
  /** [asset id, address that it has or had] → nothing */
  readonly assetAddressesOf: Rows<true, [string, string]>;
  /** MAC address → whose it is, or that it is a gateway's */
  readonly assetMacs: Rows<MacRow, string>;
  /** number → hosts that were seen again, later than their rows say; in order of time */
  readonly assetsSeen: Rows<readonly SeenAgain[], number>;
  /** [asset id, number from 0] → what happened to it */
  readonly assetHistory: Rows<HistoryRow, [string, number]>;
  /** asset id that is no more → the asset that it was merged into */
  readonly assetMerges: Rows<string, string>;
  /** Alerts that are open or weigh, by the addresses of their ends, gravest first */
  readonly openAlerts: Rows<AlertEntry, AlertKey>;
  /** asset id → its risk score, and when that falls */
  readonly assetRisks: Rows<AssetRisk, string>;
  /** [100 − risk score, asset id] → nothing; of those at risk */
  readonly riskRanks: Rows<true, [number, string]>;
  /** [epoch ms from which its risk score is lower, asset id] → nothing */
  readonly riskFalls: Rows<true, [number, string]>;
  /** [asset id, epoch ms] → how its risk score changed then */
  readonly riskHistory: Rows<RiskChangeRow, [string, number]>;
  /** `generation` of the bindings; `risks`: the change of alerts up to which assets know theirs */
  readonly assetCounters: Rows<number, AssetCounter>;
  /** service id → row */
  readonly services: Rows<ServiceRow, string>;
  /** [asset id, transport, port, address] → service id */
  readonly serviceKeys: Rows<string, ServiceKey>;
  /** service id → what `src/inventory/client-count.ts` makes of the addresses that used it */
  readonly serviceClients: Rows<Buffer, string>;
  /** table of events → how far the inventory has read it */
  readonly inventoryState: Rows<FoldedTo, Table>;
  /** number → what sensors told in a batch whose events the inventory has not read yet */
  readonly inventoryTold: Rows<ToldRow, number>;
  /** sequence of the channel `topology` → what was added to the graph */
  readonly topologySteps: Rows<StepRow, number>;
  /** the same sequence → its edges */
  readonly topologyStepEdges: Rows<StepEdges, number>;
  /** number → encoded edges */
  readonly topologySegments: Rows<Buffer, number>;
  readonly topologyState: Rows<GraphState, 'graph'>;
  /** bucket → its counters, and numbers of different ones */
  readonly rollupCounts: Rows<Buffer, BucketKey>;
  /** bucket → all that is counted of it */
  readonly rollupSketches: Rows<Buffer, BucketKey>;
  /** sequence → what is to be added to the buckets */
  readonly rollupDeltas: Rows<Buffer, number>;
  /** bucket → alerts that were created in it, by severity and status */
  readonly rollupAlerts: Rows<Buffer, BucketKey>;
  readonly rollupState: Rows<RollupState, 'rollups'>;
  /** behaviour detector → what it remembers, and up to which event */
  readonly behaviourState: Rows<Buffer, string>;
  /** number → a finding in stored events that waits for the outbox to have room */
  readonly waitingFindings: Rows<FoundInEvents, number>;
  /** rule id → rule */
  readonly rules: Rows<RuleRow, string>;
  /** Of all rules: their version, the correlations among them, and what these remember up to a row of inputs */
  readonly rulesState: Rows<Buffer, 'version' | 'correlations' | 'state'>;
  /** sequence → inputs of correlations that are not in what they remember yet */
  readonly correlationInputs: Rows<TakenInputs, number>;
  /** intel list id → list */
  readonly intelLists: Rows<IntelRow, string>;
  /** [intel list id, number from 0] → a piece of its index, by `encodeIndicators` */
  readonly intelContents: Rows<Buffer, [string, number]>;
  /** intel list id → how often events met it */
  readonly intelHits: Rows<IntelHits, string>;
  /** Changes of intel lists so far; with what their indexes are hashed */
  readonly intelState: Rows<number, 'version' | 'seed'>;
  /** silence id → silence */
  readonly silences: Rows<SilenceRow, string>;
  /** what the triage learned in general */
  readonly triageState: Rows<TriageState, 'model'>;
  /** a rule, or an address at one end → what analysts found of its alerts */
  readonly triageTallies: Rows<TallyRow, TallyKey>;
  /** how far the check of everything is */
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
 * Tables whose damaged rows are never left out: without a row of identities, of what the log covers, of rules and known
 * indicators, or of where a job stands, an answer or a change would be wrong, not only incomplete.
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

/** @param onDamage - receives damaged rows that are read, which all but the strict tables leave out; default: all throw */
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

/** The highest key of a table keyed by a sequence; 0 while it is empty. */
export function lastSequence(table: Rows<unknown, number>): number {
  for (const key of table.getKeys({ reverse: true, limit: 1 })) return key;
  return 0;
}

/** Entries of a table, without counting them. */
export function entryCount(table: { getStats(): object }): number {
  return (table.getStats() as { readonly entryCount: number }).entryCount;
}
