import { assetKinds, assetSources, assetStates, criticalities, riskLevels } from '../../contract/vocabulary.ts';
import { address, anyCase, members, number, oneOf, since, text } from '../../database/lists/filter.ts';
import type { ListSpec } from '../../database/lists/list.ts';
import { addressOrder, rank } from '../../database/lists/order.ts';
import { riskLevelOf } from '../model/asset-risk.ts';
import { type AssetRow, at, lines, someText, tagsOf, unseen } from '../store/asset-row.ts';

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
