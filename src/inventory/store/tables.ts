import { type OpenTables, table } from '../../database/rows.ts';
import type { Table } from '../../events/records.ts';
import type { Checkpoint } from '../../projections/inventory-engine.ts';
import type { AlertEntry, AlertKey } from './alert-entries.ts';
import type { AssetRow } from './asset-row.ts';
import type { AddressRow, EarlierBinding, MacRow } from './bindings.ts';
import type { HistoryRow } from './history.ts';
import type { SeenAgain } from './last-seen-journal.ts';
import type { AssetRisk } from './open-alerts.ts';
import type { ToldRow } from './pending-sightings.ts';
import type { RiskChangeRow } from './risk-history.ts';
import type { ServiceKey, ServiceRow } from './service-row.ts';

export type AssetCounter = 'generation' | 'risks';

/** A stored event that is not projected, because processing it failed. */
export interface SkippedEvent {
  readonly id: string;
  /** The error. */
  readonly reason: string;
  /** Time of the failure, epoch milliseconds. */
  readonly at: number;
}

export const inventoryTables = {
  /** asset id → row */
  assets: table<AssetRow, string>('assets'),
  /** address → its newest binding */
  assetAddresses: table<AddressRow, string>('asset-addresses'),
  /** [address, since in epoch ms] → an earlier binding of the address */
  assetBindings: table<EarlierBinding, [string, number]>('asset-bindings'),
  /** [asset id, current or earlier address] → nothing */
  assetAddressesOf: table<true, [string, string]>('asset-addresses-of'),
  /** MAC address → its owner, and whether it belongs to a gateway */
  assetMacs: table<MacRow, string>('asset-macs'),
  /** number → hosts that were last seen later than their rows record, in order of time */
  assetsSeen: table<readonly SeenAgain[], number>('assets-seen'),
  /** [asset id, number from 0] → history record */
  assetHistory: table<HistoryRow, [string, number]>('asset-history'),
  /** id of a merged asset → the asset into which it was merged */
  assetMerges: table<string, string>('asset-merges'),
  /** Alerts that are open or contribute to risk, by address, highest risk first */
  openAlerts: table<AlertEntry, AlertKey>('open-alerts'),
  /** asset id → its risk score, and the time when the score falls */
  assetRisks: table<AssetRisk, string>('asset-risks'),
  /** [100 − risk score, asset id] → nothing; assets at risk only */
  riskRanks: table<true, [number, string]>('risk-ranks'),
  /** [time at which the asset's risk score falls, in epoch ms; asset id] → nothing */
  riskFalls: table<true, [number, string]>('risk-falls'),
  /** [asset id, epoch ms] → change of its risk score */
  riskHistory: table<RiskChangeRow, [string, number]>('risk-history'),
  /**
   * `generation` → generation of the bindings; `risks` → the sequence of the last alert change that the assets include
   */
  assetCounters: table<number, AssetCounter>('asset-counters'),
  /** service id → row */
  services: table<ServiceRow, string>('services'),
  /** [asset id, transport, port, address] → service id */
  serviceKeys: table<string, ServiceKey>('service-keys'),
  /** service id → its clients, encoded by `src/sketch/client-count.ts` */
  serviceClients: table<Buffer, string>('service-clients', { encoding: 'binary' }),
  /** table of events → progress of the inventory */
  inventoryState: table<Checkpoint, Table>('inventory-state'),
  /** [table, sequence] → an event that is not projected */
  skippedEvents: table<SkippedEvent, [Table, number]>('skipped-events'),
  /** number → sightings of a batch that the inventory has not processed yet */
  inventoryTold: table<ToldRow, number>('inventory-told'),
};

export type InventoryTables = OpenTables<typeof inventoryTables>;
