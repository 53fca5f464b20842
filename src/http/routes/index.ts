import { operationIds, routeOf } from '../../contract/routes.ts';
import { limits } from '../../limits.ts';
import { Budget, BudgetOfEach } from '../budget.ts';
import { type BodyBudgets, bind, type Handler, type HttpOperation, refuseUpgrade } from '../context.ts';
import type { Endpoint } from '../endpoint.ts';
import type { Services } from '../services.ts';
import { addAlertNote } from './add-alert-note.ts';
import { bulkUpdateAlerts } from './bulk-update-alerts.ts';
import { cancelScan } from './cancel-scan.ts';
import { changePassword } from './change-password.ts';
import { confirmClock } from './confirm-clock.ts';
import { createAsset } from './create-asset.ts';
import { createBackup } from './create-backup.ts';
import { createIntel } from './create-intel.ts';
import { createPrincipal } from './create-principal.ts';
import { createRule } from './create-rule.ts';
import { createSilence } from './create-silence.ts';
import { deleteAsset } from './delete-asset.ts';
import { deleteIntel } from './delete-intel.ts';
import { deleteRule } from './delete-rule.ts';
import { deleteSilence } from './delete-silence.ts';
import { elasticsearchBulk } from './elasticsearch-bulk.ts';
import { elasticsearchBulkOfIndex } from './elasticsearch-bulk-of-index.ts';
import { elasticsearchInfo } from './elasticsearch-info.ts';
import { elasticsearchProbe } from './elasticsearch-probe.ts';
import { elasticsearchSetup } from './elasticsearch-setup.ts';
import { exportAlerts } from './export-alerts.ts';
import { getAlert } from './get-alert.ts';
import { getAlertHistogram } from './get-alert-histogram.ts';
import { getAsset } from './get-asset.ts';
import { getAssetRiskHistory } from './get-asset-risk-history.ts';
import { getBackup } from './get-backup.ts';
import { getCheckpoint } from './get-checkpoint.ts';
import { getConfig } from './get-config.ts';
import { getConsistencyProof } from './get-consistency-proof.ts';
import { getDashboard } from './get-dashboard.ts';
import { getDnsEvent } from './get-dns-event.ts';
import { getDnsEventHistogram } from './get-dns-event-histogram.ts';
import { getDnsEventValues } from './get-dns-event-values.ts';
import { getEntryBundle } from './get-entry-bundle.ts';
import { getDnsEventProof, getNetworkEventProof } from './get-event-proof.ts';
import { getHealth } from './get-health.ts';
import { getInclusionProof } from './get-inclusion-proof.ts';
import { getIntel } from './get-intel.ts';
import { getKeySet } from './get-key-set.ts';
import { getLeaf } from './get-leaf.ts';
import { getMetrics } from './get-metrics.ts';
import { getNetworkEvent } from './get-network-event.ts';
import { getNetworkEventHistogram } from './get-network-event-histogram.ts';
import { getNetworkEventValues } from './get-network-event-values.ts';
import { getOpenApi } from './get-open-api.ts';
import { getPolicy } from './get-policy.ts';
import { getPrincipal } from './get-principal.ts';
import { getProofBundle } from './get-proof-bundle.ts';
import { getReceipt } from './get-receipt.ts';
import { getRiskScore } from './get-risk-score.ts';
import { getRule } from './get-rule.ts';
import { getScan } from './get-scan.ts';
import { getScanStatus } from './get-scan-status.ts';
import { getService } from './get-service.ts';
import { getSilence } from './get-silence.ts';
import { getStatus } from './get-status.ts';
import { getTile } from './get-tile.ts';
import { getToken } from './get-token.ts';
import { getTopology } from './get-topology.ts';
import { getTreeHead } from './get-tree-head.ts';
import { getTrends } from './get-trends.ts';
import { getTriageModel } from './get-triage-model.ts';
import { groupAlerts } from './group-alerts.ts';
import { ingest } from './ingest.ts';
import { ingestDnsEvents } from './ingest-dns-events.ts';
import { ingestNetworkEvents } from './ingest-network-events.ts';
import { issueToken } from './issue-token.ts';
import { listAlertHistory } from './list-alert-history.ts';
import { listAlertNotes } from './list-alert-notes.ts';
import { listAlerts } from './list-alerts.ts';
import { listAssetHistory } from './list-asset-history.ts';
import { listAssetServices } from './list-asset-services.ts';
import { listAssets } from './list-assets.ts';
import { listAuditRecords } from './list-audit-records.ts';
import { listBackups } from './list-backups.ts';
import { listDnsEvents } from './list-dns-events.ts';
import { listEntries, listKeyHistory } from './list-entries.ts';
import { listIndicators } from './list-indicators.ts';
import { listIntel } from './list-intel.ts';
import { listKeys } from './list-keys.ts';
import { listNetworkEvents } from './list-network-events.ts';
import { listPrincipals } from './list-principals.ts';
import { listPublicKeys } from './list-public-keys.ts';
import { listRules } from './list-rules.ts';
import { listScans } from './list-scans.ts';
import { listServices } from './list-services.ts';
import { listSilences } from './list-silences.ts';
import { listTokens } from './list-tokens.ts';
import { listTreeHeads } from './list-tree-heads.ts';
import { login } from './login.ts';
import { logout } from './logout.ts';
import { mergeAsset } from './merge-asset.ts';
import { otlpLogs } from './otlp-logs.ts';
import { refresh } from './refresh.ts';
import { reloadPolicy } from './reload-policy.ts';
import { reloadRules } from './reload-rules.ts';
import { retireKey } from './retire-key.ts';
import { revokeKey } from './revoke-key.ts';
import { revokeToken } from './revoke-token.ts';
import { rotateKey } from './rotate-key.ts';
import { splitAsset } from './split-asset.ts';
import { splunkAck } from './splunk-ack.ts';
import { splunkEvent } from './splunk-event.ts';
import { splunkHealth } from './splunk-health.ts';
import { splunkRaw } from './splunk-raw.ts';
import { startScan } from './start-scan.ts';
import { testRule } from './test-rule.ts';
import { updateAlert } from './update-alert.ts';
import { updateAsset } from './update-asset.ts';
import { updateConfig } from './update-config.ts';
import { updateIntel } from './update-intel.ts';
import { updatePolicy } from './update-policy.ts';
import { updatePrincipal } from './update-principal.ts';
import { updateRule } from './update-rule.ts';
import { updateSilence } from './update-silence.ts';
import { validateRule } from './validate-rule.ts';
import { whoAmI } from './who-am-i.ts';

/** Every operation of the contract that is answered over HTTP, and what answers it. */
export const handlers = {
  login,
  refresh,
  logout,
  whoAmI,
  changePassword,
  ingest,
  ingestNetworkEvents,
  ingestDnsEvents,
  elasticsearchInfo,
  elasticsearchBulk,
  elasticsearchBulkOfIndex,
  elasticsearchProbe,
  elasticsearchSetup,
  splunkEvent,
  splunkRaw,
  splunkAck,
  splunkHealth,
  otlpLogs,
  getReceipt,
  listNetworkEvents,
  getNetworkEventHistogram,
  getNetworkEventValues,
  getNetworkEvent,
  getNetworkEventProof,
  listDnsEvents,
  getDnsEventHistogram,
  getDnsEventValues,
  getDnsEvent,
  getDnsEventProof,
  listAlerts,
  getAlertHistogram,
  bulkUpdateAlerts,
  exportAlerts,
  groupAlerts,
  getAlert,
  updateAlert,
  listAlertHistory,
  listAlertNotes,
  addAlertNote,
  listAssets,
  createAsset,
  getAsset,
  updateAsset,
  deleteAsset,
  mergeAsset,
  splitAsset,
  listAssetHistory,
  getAssetRiskHistory,
  listServices,
  getService,
  listAssetServices,
  startScan,
  getScanStatus,
  listScans,
  getScan,
  cancelScan,
  listPrincipals,
  createPrincipal,
  getPrincipal,
  updatePrincipal,
  getPolicy,
  updatePolicy,
  reloadPolicy,
  listAuditRecords,
  listTokens,
  issueToken,
  getToken,
  revokeToken,
  listKeys,
  rotateKey,
  retireKey,
  revokeKey,
  listBackups,
  createBackup,
  getBackup,
  listRules,
  createRule,
  reloadRules,
  validateRule,
  testRule,
  getRule,
  updateRule,
  deleteRule,
  listIntel,
  createIntel,
  getIntel,
  listIndicators,
  updateIntel,
  deleteIntel,
  listSilences,
  createSilence,
  getSilence,
  updateSilence,
  deleteSilence,
  getConfig,
  updateConfig,
  confirmClock,
  getStatus,
  getOpenApi,
  getHealth,
  getMetrics,
  getTopology,
  getDashboard,
  getTrends,
  getRiskScore,
  getTriageModel,
  getTreeHead,
  getInclusionProof,
  getConsistencyProof,
  getLeaf,
  listTreeHeads,
  listEntries,
  getProofBundle,
  getCheckpoint,
  getTile,
  getEntryBundle,
  listKeyHistory,
  listPublicKeys,
  getKeySet,
} satisfies { [Op in HttpOperation]: Handler<Op> };

/** A single body fits in any case. */
function ingestBytesOfPrincipal(config: Services['config']): number {
  const all = config['limits.max_ingest_in_flight_bytes'];
  return Math.max(all * limits.maxIngestShareOfPrincipal, Math.min(all, config['limits.max_body_bytes']));
}

/** The endpoints of the whole contract, for `startServer`. */
export function endpoints(services: Services): Endpoint[] {
  const budgets: BodyBudgets = {
    json: new Budget(limits.maxJsonInFlightBytes),
    jsonOfPrincipal: new BudgetOfEach(limits.maxJsonInFlightBytesPerPrincipal),
    ingestOfPrincipal: new BudgetOfEach(ingestBytesOfPrincipal(services.config)),
    publicJson: new Budget(limits.maxPublicJsonInFlightBytes),
    largeJson: new Budget(limits.maxIntelInFlightBytes),
    ingest: new Budget(services.config['limits.max_ingest_in_flight_bytes']),
  };
  services.metrics.watch(
    'candor_ingest_body_bytes',
    'Bytes of ingest bodies received or in work.',
    () => budgets.ingest.used,
  );
  const serve = <Op extends HttpOperation>(operation: Op) =>
    bind(operation, handlers[operation] as Handler<Op>, services, budgets);
  return [
    ...(Object.keys(handlers) as HttpOperation[]).flatMap(serve),
    ...operationIds.filter((operation) => routeOf(operation).websocket !== undefined).map(refuseUpgrade),
  ];
}
