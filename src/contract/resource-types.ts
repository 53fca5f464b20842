import { Alert, AlertHistory } from './resources/alert.ts';
import { AlertNote } from './resources/alert-note.ts';
import { Asset, AssetHistory } from './resources/asset.ts';
import { AuditRecord } from './resources/audit-record.ts';
import { Backup } from './resources/backup.ts';
import type { TSchema } from './resources/common.ts';
import { Config } from './resources/config.ts';
import { Dashboard } from './resources/dashboard.ts';
import { DnsEvent } from './resources/dns-event.ts';
import { EventProof } from './resources/event-proof.ts';
import { Histogram } from './resources/histogram.ts';
import { IntelList } from './resources/intel-list.ts';
import { Key } from './resources/key.ts';
import { NetworkEvent } from './resources/network-event.ts';
import { Policy } from './resources/policy.ts';
import { Principal } from './resources/principal.ts';
import { Receipt } from './resources/receipt.ts';
import { RiskHistory } from './resources/risk-history.ts';
import { RiskScore } from './resources/risk-score.ts';
import { Rule } from './resources/rule.ts';
import { Scan } from './resources/scan.ts';
import { Service } from './resources/service.ts';
import { Silence } from './resources/silence.ts';
import { Status } from './resources/status.ts';
import { Token } from './resources/token.ts';
import { Topology, TopologyUpdate } from './resources/topology.ts';
import { Trends } from './resources/trends.ts';
import { TriageModel } from './resources/triage-model.ts';
import { ValueCounts } from './resources/value-counts.ts';

/** Schemas of the attributes by `data.type` of an envelope. */
export const resourceTypes = {
  asset: Asset,
  asset_history: AssetHistory,
  network_event: NetworkEvent,
  dns_event: DnsEvent,
  event_proof: EventProof,
  alert: Alert,
  alert_history: AlertHistory,
  alert_note: AlertNote,
  service: Service,
  topology: Topology,
  topology_update: TopologyUpdate,
  scan: Scan,
  config: Config,
  dashboard: Dashboard,
  histogram: Histogram,
  value_counts: ValueCounts,
  risk_history: RiskHistory,
  risk_score: RiskScore,
  trends: Trends,
  triage_model: TriageModel,
  principal: Principal,
  token: Token,
  key: Key,
  policy: Policy,
  rule: Rule,
  silence: Silence,
  intel_list: IntelList,
  backup: Backup,
  receipt: Receipt,
  audit_record: AuditRecord,
  status: Status,
} as const satisfies Record<string, TSchema>;

export type ResourceType = keyof typeof resourceTypes;
