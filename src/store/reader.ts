import { join } from 'node:path';
import { alertHistogram } from '../alerts/store/alert-histogram.ts';
import { listAlertHistory } from '../alerts/store/alert-history.ts';
import { listAlerts, replayAlerts } from '../alerts/store/alert-list.ts';
import { lastAlertId, visitAlertFacts, visitAlerts } from '../alerts/store/alert-scan.ts';
import { listNotes } from '../alerts/store/notes.ts';
import { getSilence, listSilences } from '../alerts/store/silence-list.ts';
import { describeModel } from '../alerts/triage/local/describe.ts';
import { openDatabase } from '../database/lmdb.ts';
import { entryCount, lastSequence } from '../database/rows.ts';
import { getIntel, listIndicators, listIntel } from '../detect/store/intel/intel-reads.ts';
import { rulesVersion, storedRules } from '../detect/store/rules.ts';
import { lastScan, listScans, replayScans, unfinishedScans } from '../discovery/store/scans.ts';
import { withAssets } from '../events/alert-assets.ts';
import { CachedAssets } from '../events/cached-assets.ts';
import { digestEvents, proveEvent } from '../events/store/event-proof.ts';
import { EventStore } from '../events/store/event-store.ts';
import { listAudit } from '../identities/store/audit.ts';
import { principalByName } from '../identities/store/principal-names.ts';
import { listPrincipals, storedPrincipals } from '../identities/store/principals.ts';
import { listTokens } from '../identities/store/tokens.ts';
import { assetLookup, getAsset, listAssetHistory, listAssets, mergedInto } from '../inventory/store/asset-reads.ts';
import { readRiskHistory } from '../inventory/store/risk-history.ts';
import { readRisks } from '../inventory/store/risk-reads.ts';
import { listServices } from '../inventory/store/service-list.ts';
import { serviceOf } from '../inventory/store/service-row.ts';
import { limits } from '../limits.ts';
import { readRollups } from '../rollups/store/reads.ts';
import { readSteps, readTopology } from '../topology/store/reads.ts';
import { lastStep } from '../topology/store/segments.ts';
import { canonicalUuid } from '../uuid.ts';
import { getReceipt } from './receipts.ts';
import type { StoreReader } from './store.ts';
import { databaseFile, openTables } from './tables.ts';

/**
 * Opens siem.mdb for reading; `openStore` must have created it.
 *
 * @param cancelled - polled periodically by lists, which fail with CANCELLED when it returns true
 */
export function openReader(dataDir: string, cancelled?: () => boolean): StoreReader {
  const root = openDatabase(join(dataDir, databaseFile), { readOnly: true });
  const leftOut = new Set<string>();
  const tables = openTables(root, (row) => {
    if (leftOut.size < limits.maxNamedDamage) leftOut.add(row);
  });
  const assets = new CachedAssets(assetLookup(tables));
  const events = new EventStore(root, cancelled, assets);
  const givenUp = cancelled ?? (() => false);
  /** Wraps a read so that each call reads the newest snapshot. */
  const fresh = <A extends unknown[], R>(read: (...args: A) => R) => {
    return (...args: A): R => {
      root.resetReadTxn();
      return read(...args);
    };
  };
  /**
   * Wraps a read as `fresh` does, and refreshes the assets before each call, for reads that return names of
   * assets.
   */
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
    visitAlertFacts: named((filter, span, visit) => visitAlertFacts(tables, assets, filter, span, visit, givenUp)),
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
    storedPolicy: fresh(() => tables.accessPolicy.get('current')),
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
    triageModel: fresh(() => describeModel(tables.triageState.get('model'), entryCount(tables.triageTallies))),
    rollups: fresh((query) => readRollups(tables, query)),
    rulesVersion: fresh(() => rulesVersion(tables)),
    blocks: fresh((table, from, to) => events.within(table, from, to)),
    storedRules: fresh(() => storedRules(tables)),
    listIntel: fresh((query, nowMs) => listIntel(tables, query, nowMs, givenUp)),
    intelSeed: fresh(() => tables.intelState.get('seed') ?? 0),
    getIntel: fresh((id, nowMs) => getIntel(tables, id, nowMs)),
    listIndicators: fresh((listId, query) => listIndicators(tables, listId, query, givenUp)),
    topologySteps: fresh((since, limit) => readSteps(tables, since, limit)),
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
