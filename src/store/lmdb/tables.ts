import type { Alert } from '../../contract/resources/alert.ts';
import type { AlertNote } from '../../contract/resources/alert-note.ts';
import type { IngestAnswer } from '../../contract/resources/ingest.ts';
import type { ReceiptStatement } from '../../contract/resources/receipt.ts';
import type { Severity } from '../../contract/vocabulary.ts';
import type { Table } from '../../events/records.ts';
import type { Database, RootDatabase } from '../../lmdb.ts';
import type { TriageState } from '../../triage/describe.ts';
import type { AssetRow } from '../asset-row.ts';
import type { IntelHits, IntelRow } from '../intel-row.ts';
import type { RuleRow } from '../rule-row.ts';
import type { ServiceKey, ServiceRow } from '../service-row.ts';
import type { SilenceRow } from '../silence-row.ts';
import type { LogLife, OutboxRow, Principal, Token } from '../store.ts';
import type { FactsRow } from './alert-facts.ts';
import type { AlertHistoryRow } from './alert-history.ts';
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
  readonly alerts: Database<AlertRow, string>;
  /** alert id → what alerts are counted by */
  readonly alertFacts: Database<FactsRow, string>;
  /** change sequence → alert id; one key for each alert, that of its latest change */
  readonly alertLog: Database<string, number>;
  /** [last_seen in epoch ms, alert id] → nothing */
  readonly alertTimes: Database<true, [number, string]>;
  /** leaf index → id of the alert whose entry stands there, as it was settled */
  readonly alertPlaces: Database<string, number>;
  /** The life of the log that `alertPlaces` are of; nothing in its first one */
  readonly logLife: Database<LogLife, 'life'>;
  /** deduplication key → intervals of its recent alerts, oldest alert first */
  readonly alertKeys: Database<readonly Interval[], string>;
  /** hash of the rule, or of the rule and a host → recent windows, oldest first */
  readonly ruleWindows: Database<readonly RuleWindow[], string>;
  /** [alert id, number of the note from 1] → note */
  readonly notes: Database<AlertNote & { id: string }, [string, number]>;
  /** [alert id, number from 0] → what happened to it */
  readonly alertHistory: Database<AlertHistoryRow, [string, number]>;
  /** [table of events, reason] → what retention took of it */
  readonly expired: Database<ExpiredRow, ExpiredKey>;
  /** what → where retention is with it */
  readonly retentionState: Database<KeptClock, 'clock'>;
  /** sequence → row */
  readonly outbox: Database<OutboxRow, number>;
  /** entry id → sequence */
  readonly outboxIds: Database<number, string>;
  /** sequence → receipt given for an ingest body */
  readonly receipts: Database<ReceiptStatement, number>;
  /** receipt id → sequence */
  readonly receiptIds: Database<number, string>;
  /** sequence of the last receipt in it → receipts that one log entry covers */
  readonly receiptBatches: Database<ReceiptBatch, number>;
  /** hash of an Idempotency-Key → answer */
  readonly answers: Database<RememberedAnswer, string>;
  /** [expires, hash] → nothing */
  readonly answerTimes: Database<true, [number, string]>;
  /** principal id → principal */
  readonly principals: Database<Principal, string>;
  /** hash of a name as it is written, and as it looks → principal id */
  readonly principalNames: Database<string, string>;
  /** jti → token */
  readonly tokens: Database<Token, string>;
  /** [expires_at in epoch ms, jti] → nothing; sessions only */
  readonly tokenTimes: Database<true, [number, string]>;
  /** [principal id, its kind or `ended` once it was revoked, jti] → nothing */
  readonly principalTokens: Database<true, [string, Token['kind'] | 'ended', string]>;
  /** principal id → nothing; those who can administer */
  readonly administrators: Database<true, string>;
  /** scan id → row */
  readonly scans: Database<ScanRow, string>;
  /** change sequence → scan id; one key for each scan, that of its latest change */
  readonly scanLog: Database<string, number>;
  /** [requested_at in epoch ms, scan id] → nothing */
  readonly scanTimes: Database<true, [number, string]>;
  /** [time in epoch ms, id] → record */
  readonly audit: Database<AuditRow, [number, string]>;
  /** [call, sequence in the outbox] → id of the entry; until the audit record of the call is written */
  readonly callEntries: Database<string, [string, number]>;
  /** asset id → row */
  readonly assets: Database<AssetRow, string>;
  /** address → whose it is, its newest binding */
  readonly assetAddresses: Database<AddressRow, string>;
  /** [address, since in epoch ms] → an earlier binding of it */
  readonly assetBindings: Database<EarlierBinding, [string, number]>;
  /** [asset id, address that it has or had] → nothing */
  readonly assetAddressesOf: Database<true, [string, string]>;
  /** MAC address → whose it is, or that it is a gateway's */
  readonly assetMacs: Database<MacRow, string>;
  /** number → hosts that were seen again, later than their rows say; in order of time */
  readonly assetsSeen: Database<readonly SeenAgain[], number>;
  /** [asset id, number from 0] → what happened to it */
  readonly assetHistory: Database<HistoryRow, [string, number]>;
  /** asset id that is no more → the asset that it was merged into */
  readonly assetMerges: Database<string, string>;
  /** Alerts that are open or weigh, by the addresses of their ends, gravest first */
  readonly openAlerts: Database<AlertEntry, AlertKey>;
  /** asset id → its risk score, and when that falls */
  readonly assetRisks: Database<AssetRisk, string>;
  /** [100 − risk score, asset id] → nothing; of those at risk */
  readonly riskRanks: Database<true, [number, string]>;
  /** [epoch ms from which its risk score is lower, asset id] → nothing */
  readonly riskFalls: Database<true, [number, string]>;
  /** [asset id, epoch ms] → how its risk score changed then */
  readonly riskHistory: Database<RiskChangeRow, [string, number]>;
  /** `generation` of the bindings; `risks`: the change of alerts up to which assets know theirs */
  readonly assetCounters: Database<number, AssetCounter>;
  /** service id → row */
  readonly services: Database<ServiceRow, string>;
  /** [asset id, transport, port, address] → service id */
  readonly serviceKeys: Database<string, ServiceKey>;
  /** service id → what `src/inventory/client-count.ts` makes of the addresses that used it */
  readonly serviceClients: Database<Buffer, string>;
  /** table of events → how far the inventory has read it */
  readonly inventoryState: Database<FoldedTo, Table>;
  /** number → what sensors told in a batch whose events the inventory has not read yet */
  readonly inventoryTold: Database<ToldRow, number>;
  /** sequence of the channel `topology` → what was added to the graph */
  readonly topologySteps: Database<StepRow, number>;
  /** the same sequence → its edges */
  readonly topologyStepEdges: Database<StepEdges, number>;
  /** number → encoded edges */
  readonly topologySegments: Database<Buffer, number>;
  readonly topologyState: Database<GraphState, 'graph'>;
  /** bucket → its counters, and numbers of different ones */
  readonly rollupCounts: Database<Buffer, BucketKey>;
  /** bucket → all that is counted of it */
  readonly rollupSketches: Database<Buffer, BucketKey>;
  /** sequence → what is to be added to the buckets */
  readonly rollupDeltas: Database<Buffer, number>;
  /** bucket → alerts that were created in it, by severity and status */
  readonly rollupAlerts: Database<Buffer, BucketKey>;
  readonly rollupState: Database<RollupState, 'rollups'>;
  /** behaviour detector → what it remembers, and up to which event */
  readonly behaviourState: Database<Buffer, string>;
  /** number → a finding in stored events that waits for the outbox to have room */
  readonly waitingFindings: Database<FoundInEvents, number>;
  /** rule id → rule */
  readonly rules: Database<RuleRow, string>;
  /** Of all rules: their version, the correlations among them, and what these remember up to a row of inputs */
  readonly rulesState: Database<Buffer, 'version' | 'correlations' | 'state'>;
  /** sequence → inputs of correlations that are not in what they remember yet */
  readonly correlationInputs: Database<TakenInputs, number>;
  /** intel list id → list */
  readonly intelLists: Database<IntelRow, string>;
  /** [intel list id, number from 0] → a piece of its index, by `encodeIndicators` */
  readonly intelContents: Database<Buffer, [string, number]>;
  /** intel list id → how often events met it */
  readonly intelHits: Database<IntelHits, string>;
  /** Changes of intel lists so far; with what their indexes are hashed */
  readonly intelState: Database<number, 'version' | 'seed'>;
  /** silence id → silence */
  readonly silences: Database<SilenceRow, string>;
  /** what the triage learned in general */
  readonly triageState: Database<TriageState, 'model'>;
  /** a rule, or an address at one end → what analysts found of its alerts */
  readonly triageTallies: Database<TallyRow, TallyKey>;
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
  'alertHistory',
  'alertFacts',
  'expired',
  'retentionState',
  'receipts',
  'receiptIds',
  'receiptBatches',
  'logLife',
];

export function openTables(root: RootDatabase): Tables {
  return {
    alerts: root.openDB('alerts', {}),
    alertLog: root.openDB('alert-log', {}),
    alertTimes: root.openDB('alert-times', {}),
    alertPlaces: root.openDB('alert-places', {}),
    logLife: root.openDB('log-life', {}),
    alertKeys: root.openDB('alert-keys', {}),
    ruleWindows: root.openDB('alert-rule-windows', {}),
    notes: root.openDB('alert-notes', {}),
    alertFacts: root.openDB('alert-facts', {}),
    alertHistory: root.openDB('alert-history', {}),
    expired: root.openDB('expired-events', {}),
    retentionState: root.openDB('retention-state', {}),
    outbox: root.openDB('outbox', {}),
    outboxIds: root.openDB('outbox-ids', {}),
    receipts: root.openDB('receipts', {}),
    receiptIds: root.openDB('receipt-ids', {}),
    receiptBatches: root.openDB('receipt-batches', {}),
    answers: root.openDB('answers', {}),
    answerTimes: root.openDB('answer-times', {}),
    principals: root.openDB('principals', {}),
    principalNames: root.openDB('principal-names', {}),
    tokens: root.openDB('tokens', {}),
    tokenTimes: root.openDB('token-times', {}),
    principalTokens: root.openDB('principal-tokens', {}),
    administrators: root.openDB('administrators', {}),
    audit: root.openDB('audit', {}),
    scans: root.openDB('scans', {}),
    scanLog: root.openDB('scan-log', {}),
    scanTimes: root.openDB('scan-times', {}),
    callEntries: root.openDB('call-entries', {}),
    assets: root.openDB('assets', {}),
    assetAddresses: root.openDB('asset-addresses', {}),
    assetBindings: root.openDB('asset-bindings', {}),
    assetAddressesOf: root.openDB('asset-addresses-of', {}),
    assetMacs: root.openDB('asset-macs', {}),
    assetsSeen: root.openDB('assets-seen', {}),
    assetHistory: root.openDB('asset-history', {}),
    assetMerges: root.openDB('asset-merges', {}),
    openAlerts: root.openDB('open-alerts', {}),
    assetRisks: root.openDB('asset-risks', {}),
    riskRanks: root.openDB('risk-ranks', {}),
    riskFalls: root.openDB('risk-falls', {}),
    riskHistory: root.openDB('risk-history', {}),
    assetCounters: root.openDB('asset-counters', {}),
    services: root.openDB('services', {}),
    serviceKeys: root.openDB('service-keys', {}),
    serviceClients: root.openDB({ name: 'service-clients', encoding: 'binary' }),
    inventoryState: root.openDB('inventory-state', {}),
    inventoryTold: root.openDB('inventory-told', {}),
    topologySteps: root.openDB('topology-steps', {}),
    topologyStepEdges: root.openDB('topology-step-edges', {}),
    topologySegments: root.openDB({ name: 'topology-segments', encoding: 'binary' }),
    topologyState: root.openDB('topology-state', {}),
    rollupCounts: root.openDB({ name: 'rollup-counts', encoding: 'binary' }),
    rollupSketches: root.openDB({ name: 'rollup-sketches', encoding: 'binary' }),
    rollupDeltas: root.openDB({ name: 'rollup-deltas', encoding: 'binary' }),
    rollupAlerts: root.openDB({ name: 'rollup-alerts', encoding: 'binary' }),
    rollupState: root.openDB('rollup-state', {}),
    behaviourState: root.openDB({ name: 'behaviour-state', encoding: 'binary' }),
    waitingFindings: root.openDB('waiting-findings', {}),
    rules: root.openDB('rules', {}),
    rulesState: root.openDB({ name: 'rules-state', encoding: 'binary' }),
    correlationInputs: root.openDB('correlation-inputs', {}),
    intelLists: root.openDB('intel-lists', {}),
    intelContents: root.openDB({ name: 'intel-contents', encoding: 'binary' }),
    intelHits: root.openDB('intel-hits', {}),
    intelState: root.openDB('intel-state', {}),
    silences: root.openDB('silences', {}),
    triageState: root.openDB('triage-state', {}),
    triageTallies: root.openDB('triage-tallies', {}),
  };
}

/** The highest key of a table keyed by a sequence; 0 while it is empty. */
export function lastSequence(table: Database<unknown, number>): number {
  for (const key of table.getKeys({ reverse: true, limit: 1 })) return key;
  return 0;
}

/** Entries of a table, without counting them. */
export function entryCount(table: { getStats(): object }): number {
  return (table.getStats() as { readonly entryCount: number }).entryCount;
}
