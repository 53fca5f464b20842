import { join } from 'node:path';
import { withAssets } from '../../events/alert-assets.ts';
import { CachedAssets } from '../../events/cached-assets.ts';
import { limits } from '../../limits.ts';
import { openDatabase } from '../../lmdb.ts';
import { describeModel } from '../../triage/describe.ts';
import { canonicalUuid } from '../../uuid.ts';
import { serviceOf } from '../service-row.ts';
import type { StoreReader } from '../store.ts';
import { alertHistogram } from './alert-histogram.ts';
import { listAlertHistory } from './alert-history.ts';
import { listAlerts, replayAlerts } from './alert-list.ts';
import { lastAlertId, visitAlertFacts, visitAlerts } from './alert-scan.ts';
import { listAudit } from './audit.ts';
import { digestEvents, proveEvent } from './event-proof.ts';
import { LmdbEvents } from './events.ts';
import { getIntel, listIndicators, listIntel } from './intel/intel-reads.ts';
import { assetLookup, getAsset, listAssetHistory, listAssets, mergedInto } from './inventory/asset-reads.ts';
import { readRiskHistory } from './inventory/risk-history.ts';
import { readRisks } from './inventory/risk-reads.ts';
import { listServices } from './inventory/service-list.ts';
import { listNotes } from './notes.ts';
import { principalByName } from './principal-names.ts';
import { listPrincipals, storedAdministrators, storedPrincipals } from './principals.ts';
import { getReceipt } from './receipts.ts';
import { readRollups } from './rollups/reads.ts';
import { rulesVersion, storedRules } from './rules/rules.ts';
import { lastScan, listScans, replayScans, unfinishedScans } from './scans.ts';
import { getSilence, listSilences } from './silence-list.ts';
import { databaseFile, entryCount, lastSequence, openTables } from './tables.ts';
import { listTokens } from './tokens.ts';
import { readSteps, readTopology } from './topology/reads.ts';
import { lastStep } from './topology/segments.ts';

/**
 * Opens siem.mdb for reading; `openStore` must have created it.
 *
 * @param cancelled - polled by lists from time to time; when true, they end with CANCELLED
 */
export function openReader(dataDir: string, cancelled?: () => boolean): StoreReader {
  const root = openDatabase(join(dataDir, databaseFile), { readOnly: true });
  const leftOut = new Set<string>();
  const tables = openTables(root, (row) => {
    if (leftOut.size < limits.maxNamedDamage) leftOut.add(row);
  });
  const assets = new CachedAssets(assetLookup(tables));
  const events = new LmdbEvents(root, cancelled, assets);
  const givenUp = cancelled ?? (() => false);
  /** Makes each call read the newest snapshot. */
  const fresh = <A extends unknown[], R>(read: (...args: A) => R) => {
    return (...args: A): R => {
      root.resetReadTxn();
      return read(...args);
    };
  };
  /** As `fresh`, for reads that name assets. */
  const named = <A extends unknown[], R>(read: (...args: A) => R) =>
    fresh((...args: A): R => {
      assets.refresh();
      return read(...args);
    });
  const byId = <T>(table: { getStrict(id: string): T | undefined }, text: string): T | undefined => {
    const id = canonicalUuid(text);
    return id === undefined ? undefined : table.getStrict(id);
  };
  return {
    assets: {
      at: (ip, timeMs) => assets.at(ip, timeMs),
      owners: (ip) => assets.owners(ip),
      ranges: (assetId) => assets.ranges(assetId),
      generation: () => assets.generation(),
      refresh: fresh(() => assets.refresh()),
    },
    listEvents: named((query) => events.list(query)),
    exportEvents: named((query) => events.export(query)),
    exportEventColumns: named((query, attributes) => events.exportColumns(query, attributes)),
    eventHistogram: named((query) => events.histogram(query)),
    eventValueCounts: named((query) => events.valueCounts(query)),
    getEvent: named((table, id) => events.get(table, id)) as StoreReader['getEvent'],
    damagedEvents: fresh((table, from, to) => events.damage(table, from, to)),
    damagedRows: () => {
      const rows = [...leftOut];
      leftOut.clear();
      return rows;
    },
    isPast: (table, id) => events.isPast(table, id),
    replayEvents: named((table, since, filter, limit) => events.replay(table, since, filter, limit)),
    listAlerts: named((query) => listAlerts(tables, query, givenUp, assets)),
    getAlert: named((id) => {
      const row = byId(tables.alerts, id);
      return row && withAssets(row.alert, assets);
    }),
    replayAlerts: named((since, filter, limit) => replayAlerts(tables, since, filter, limit, assets)),
    visitAlerts: named((filter, span, visit) => visitAlerts(tables, assets, filter, span, visit, givenUp)),
    visitAlertFacts: named((filter, span, visit) =>
      visitAlertFacts(tables, assets, filter, span, visit, givenUp),
    ),
    alertHistogram: named((query) => alertHistogram(tables, assets, query, givenUp)),
    lastAlertId: fresh(() => lastAlertId(tables)),
    listAlertHistory: fresh((alertId, query) => listAlertHistory(tables, alertId, query, givenUp)),
    listNotes: fresh((alertId, query) => listNotes(tables, alertId, query, givenUp)),
    listSilences: fresh((query, nowMs) => listSilences(tables, query, nowMs, givenUp)),
    getSilence: fresh((id, nowMs) => getSilence(tables, id, nowMs)),
    getAsset: fresh((id) => getAsset(tables, id)),
    listAssets: fresh((query) => listAssets(tables, query, givenUp)),
    mergedInto: fresh((id) => mergedInto(tables, id)),
    listAssetHistory: fresh((assetId, query) => listAssetHistory(tables, assetId, query, givenUp)),
    principal: fresh((id) => byId(tables.principals, id)),
    principalByName: fresh((name) => principalByName(tables, name)),
    token: fresh((jti) => byId(tables.tokens, jti)),
    holder: fresh((jti) => {
      const token = byId(tables.tokens, jti);
      return token && { token, principal: tables.principals.get(token.principal_id) };
    }),
    listTokens: fresh((query, nowMs) => listTokens(tables, query, nowMs, givenUp)),
    listPrincipals: fresh((query) => listPrincipals(tables, query, givenUp)),
    storedPrincipals: fresh((page, perPage) => storedPrincipals(tables, page, perPage)),
    administrators: fresh(() => entryCount(tables.administrators)),
    storedAdministrators: fresh((limit) => storedAdministrators(tables, limit)),
    listAudit: fresh((query) => listAudit(tables, query, givenUp)),
    getService: fresh((id) => {
      const row = byId(tables.services, id);
      return row && serviceOf(row);
    }),
    listServices: fresh((query) => listServices(tables, query, givenUp)),
    listScans: fresh((query) => listScans(tables, query, givenUp)),
    getReceipt: fresh((id) => getReceipt(tables, id)),
    sealedUpTo: fresh((table) => tables.sealedUpTo.get(table)),
    digestEvents: fresh((table, from, maxRows) => digestEvents(events, table, from, maxRows)),
    proveEvent: named((table, id) => proveEvent(tables, events, table, id)),
    getScan: fresh((id) => byId(tables.scans, id)?.scan),
    replayScans: fresh((since, filter, limit) => replayScans(tables, since, filter, limit)),
    lastScan: fresh(() => lastScan(tables)),
    unfinishedScans: fresh(() => unfinishedScans(tables)),
    topology: named((query) => readTopology(tables, assets, query, Date.now())),
    risks: named(() => readRisks(tables, assets)),
    riskHistory: fresh((assetId, from, to) => readRiskHistory(tables.riskHistory, assetId, from, to)),
    triageModel: fresh(() =>
      describeModel(tables.triageState.get('model'), entryCount(tables.triageTallies)),
    ),
    rollups: fresh((query) => readRollups(tables, query)),
    rulesVersion: fresh(() => rulesVersion(tables)),
    blocks: fresh((table, from, to) => events.within(table, from, to)),
    storedRules: fresh(() => storedRules(tables)),
    listIntel: fresh((query, nowMs) => listIntel(tables, query, nowMs, givenUp)),
    intelSeed: fresh(() => tables.intelState.get('seed') ?? 0),
    getIntel: fresh((id, nowMs) => getIntel(tables, id, nowMs)),
    listIndicators: fresh((listId, query) => listIndicators(tables, listId, query, givenUp)),
    topologySteps: fresh((since, limit) => readSteps(tables, since, limit)),
    outboxHead: fresh(() => lastSequence(tables.outbox)),
    head: fresh((channel) => {
      switch (channel) {
        case 'alerts':
          return lastSequence(tables.alertLog);
        case 'discovery':
          return lastSequence(tables.scanLog);
        case 'topology':
          return lastStep(tables);
        default:
          return events.head(channel === 'events.network' ? 'network' : 'dns');
      }
    }),
    close: () => void root.close(),
  };
}
