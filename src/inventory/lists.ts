import type { AssetHistory } from '../contract/resources/asset.ts';
import {
  assetActions,
  assetKinds,
  assetSources,
  assetStates,
  criticalities,
  riskLevels,
  serviceSources,
  serviceStates,
} from '../contract/vocabulary.ts';
import { address, anyCase, members, number, oneOf, since, text } from '../database/lists/filter.ts';
import type { ListSpec } from '../database/lists/list.ts';
import { addressOrder, rank } from '../database/lists/order.ts';
import { canonicalUuid } from '../uuid.ts';
import { riskLevelOf } from './model/asset-risk.ts';
import { serviceName } from './model/service-names.ts';
import { type AssetRow, at, lines, someText, tagsOf, unseen } from './store/asset-row.ts';
import { type ServiceRow, at as serviceAt, sourceOf, stateOf } from './store/service-row.ts';

/** A record with its number, from 0, which orders records with the same time. */
export interface NumberedRecord {
  readonly number: number;
  /** Time of the record, epoch milliseconds. */
  readonly at: number;
  readonly record: Omit<AssetHistory, 'asset_id' | 'at'>;
}

/** Returns milliseconds and number as text that sorts by time, then by number. */
const order = ({ at, number }: NumberedRecord): string =>
  `${Math.max(at, 0).toString().padStart(16, '0')} ${number.toString().padStart(16, '0')}`;

/** Returns the definition of the list of one asset's history. */
export const assetHistoryListOf = (assetId: string): ListSpec<NumberedRecord> => ({
  type: 'asset_history',
  of: assetId,
  terms: { action: oneOf(assetActions, ({ record }) => record.action) },
  sorts: { at: order },
  time: ({ at }) => at,
  names: ({ record }) => [record.action, record.ip_address, record.mac_address, record.hostname],
});

/** Definition of the list of services, which works on stored rows. `from` and `to` bound `last_seen`. */
export const serviceList: ListSpec<ServiceRow> = {
  type: 'service',
  terms: {
    asset_id: (field, values) =>
      text<ServiceRow>((row) => row[serviceAt.assetId])(
        field,
        values.map((id) => canonicalUuid(id) ?? id),
      ),
    ip: address((row) => row[serviceAt.ip]),
    port: number((row) => row[serviceAt.port]),
    transport: text((row) => row[serviceAt.transport]),
    name: (field, values) =>
      text<ServiceRow>((row) => row[serviceAt.name] ?? undefined)(
        field,
        values.map((name) => serviceName(String(name))),
      ),
    product: text((row) => row[serviceAt.product] ?? undefined),
    version: text((row) => row[serviceAt.version] ?? undefined),
    state: oneOf(serviceStates, stateOf),
    source: oneOf(serviceSources, sourceOf),
    connections: number((row) => row[serviceAt.connections]),
    clients: number((row) => row[serviceAt.clients]),
    first_seen_from: since((row) => row[serviceAt.firstSeen]),
  },
  sorts: {
    first_seen: (row) => row[serviceAt.firstSeen],
    last_seen: (row) => row[serviceAt.lastSeen],
    name: (row) => row[serviceAt.name] ?? undefined,
    product: (row) => row[serviceAt.product] ?? undefined,
    version: (row) => row[serviceAt.version] ?? undefined,
    transport: (row) => row[serviceAt.transport],
    port: (row) => row[serviceAt.port],
    ip: (row) => addressOrder(row[serviceAt.ip]),
    state: stateOf,
    source: sourceOf,
    connections: (row) => row[serviceAt.connections],
    clients: (row) => row[serviceAt.clients],
  },
  time: (row) => row[serviceAt.lastSeen],
  names: (row) => [
    row[serviceAt.name] ?? undefined,
    row[serviceAt.product] ?? undefined,
    row[serviceAt.version] ?? undefined,
    row[serviceAt.ip],
  ],
};

/** Returns the time; undefined for an asset that was never seen. */
const seenAt = (ms: number): number | undefined => (ms === unseen ? undefined : ms);

const tag = anyCase(members<AssetRow>((row) => tagsOf(row[at.tags]).map((each) => each.toLowerCase())));

/** Definition of the list of assets. `from` and `to` bound `last_seen`. */
export const assetList: ListSpec<AssetRow> = {
  type: 'asset',
  terms: {
    name: anyCase(text((row) => row[at.name].toLowerCase())),
    kind: oneOf(assetKinds, (row) => row[at.kind]),
    ip: address((row) => lines(row[at.ips])),
    mac: members((row) => lines(row[at.macs])),
    // Values are compared as stored: in lower case, without a final dot.
    hostname: (field, values) =>
      members<AssetRow>((row) => lines(row[at.hostnames]))(
        field,
        values.map((name) => String(name).toLowerCase().replace(/\.$/, '')),
      ),
    os: anyCase(text((row) => someText(row[at.os])?.toLowerCase())),
    vendor: anyCase(text((row) => someText(row[at.vendor])?.toLowerCase())),
    criticality: oneOf(criticalities, (row) => row[at.criticality]),
    owner: anyCase(text((row) => someText(row[at.owner])?.toLowerCase())),
    tag,
    tags: tag,
    state: oneOf(assetStates, (row) => row[at.state]),
    source: oneOf(assetSources, (row) => row[at.source]),
    risk_score: number((row) => row[at.risk]),
    risk_level: oneOf(riskLevels, (row) => riskLevelOf(row[at.risk])),
    open_alerts: number((row) => row[at.openAlerts]),
    service_count: number((row) => row[at.services]),
    first_seen_from: since((row) => seenAt(row[at.firstSeen])),
  },
  sorts: {
    last_seen: (row) => seenAt(row[at.lastSeen]),
    first_seen: (row) => seenAt(row[at.firstSeen]),
    name: (row) => row[at.name],
    ip: (row) => addressOrder(lines(row[at.ips])[0]),
    kind: (row) => rank(assetKinds, row[at.kind]),
    criticality: (row) => rank(criticalities, row[at.criticality]),
    owner: (row) => someText(row[at.owner]),
    os: (row) => someText(row[at.os]),
    vendor: (row) => someText(row[at.vendor]),
    state: (row) => rank(assetStates, row[at.state]),
    source: (row) => rank(assetSources, row[at.source]),
    risk_score: (row) => row[at.risk],
    risk_level: (row) => rank(riskLevels, riskLevelOf(row[at.risk])),
    open_alerts: (row) => row[at.openAlerts],
    service_count: (row) => row[at.services],
  },
  time: (row) => seenAt(row[at.lastSeen]),
  names: (row) => [
    row[at.name],
    row[at.hostnames],
    row[at.ips],
    row[at.macs],
    row[at.owner],
    row[at.os],
    row[at.vendor],
    row[at.notes],
    ...tagsOf(row[at.tags]),
  ],
};
