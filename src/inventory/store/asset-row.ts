import type { Asset } from '../../contract/resources/asset.ts';
import { omitUndefined } from '../../database/omit-undefined.ts';
import { riskLevelOf } from '../model/asset-risk.ts';

/**
 * A stored asset: an array of strings and numbers, because reading an array takes 1 µs, and reading an object 3
 * µs. Lists of addresses and host names are joined by line feeds, tags are JSON, and '' means absent. Times are
 * epoch milliseconds; `unseen` if never. `inner` is JSON that only the writer reads: values set by users and
 * values from the network.
 */
export type AssetRow = readonly [
  name: string,
  kind: Asset['kind'],
  ipAddresses: string,
  macAddresses: string,
  hostnames: string,
  os: string,
  vendor: string,
  criticality: Asset['criticality'],
  owner: string,
  tags: string,
  notes: string,
  state: Asset['state'],
  source: Asset['source'],
  firstSeen: number,
  lastSeen: number,
  riskScore: number,
  openAlerts: number,
  serviceCount: number,
  version: number,
  inner: string,
];

/** The time of an asset that was never seen: earlier than all times of events. */
export const unseen = -1;

/** Indexes in a row. */
export const at = {
  name: 0,
  kind: 1,
  ips: 2,
  macs: 3,
  hostnames: 4,
  os: 5,
  vendor: 6,
  criticality: 7,
  owner: 8,
  tags: 9,
  notes: 10,
  state: 11,
  source: 12,
  firstSeen: 13,
  lastSeen: 14,
  risk: 15,
  openAlerts: 16,
  services: 17,
  version: 18,
  inner: 19,
} as const;

export const lines = (text: string): string[] => (text === '' ? [] : text.split('\n'));
export const tagsOf = (json: string): string[] => (json === '' ? [] : JSON.parse(json));
export const someText = (text: string): string | undefined => (text === '' ? undefined : text);
const someTime = (ms: number): string | undefined => (ms === unseen ? undefined : new Date(ms).toISOString());

/** Returns the attributes of the resource. */
export function assetOf(row: AssetRow): Asset {
  return {
    name: row[at.name],
    kind: row[at.kind],
    ip_addresses: lines(row[at.ips]),
    mac_addresses: lines(row[at.macs]),
    hostnames: lines(row[at.hostnames]),
    ...omitUndefined({
      os: someText(row[at.os]),
      vendor: someText(row[at.vendor]),
      owner: someText(row[at.owner]),
      notes: someText(row[at.notes]),
    }),
    criticality: row[at.criticality],
    tags: tagsOf(row[at.tags]),
    state: row[at.state],
    source: row[at.source],
    ...omitUndefined({ first_seen: someTime(row[at.firstSeen]), last_seen: someTime(row[at.lastSeen]) }),
    risk_score: row[at.risk],
    risk_level: riskLevelOf(row[at.risk]),
    open_alerts: row[at.openAlerts],
    service_count: row[at.services],
    version: row[at.version],
  };
}
