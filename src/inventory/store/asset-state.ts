import type { Asset } from '../../contract/resources/asset.ts';
import { type HeardName, ownNames, standingName } from '../model/names.ts';
import { type AssetRow, at, lines, someText, tagsOf, unseen } from './asset-row.ts';

/** Attributes that follow the network until a user sets them. */
export type SetField = 'name' | 'hostnames' | 'os' | 'vendor' | 'kind';

/** An asset in the memory of the writer, which is changed in place. */
export interface AssetState {
  readonly id: string;
  /** Name set by users. */
  name: string | undefined;
  kind: Asset['kind'];
  /** IP addresses in the order in which they were assigned. */
  ips: string[];
  macs: string[];
  /** Host names set by users; undefined while the names learned from the network apply. */
  hostnames: string[] | undefined;
  heard: readonly HeardName[];
  /** Whether the host opened a tunnel (CONNECT) for a client. */
  isProxy?: boolean;
  os: string | undefined;
  vendor: string | undefined;
  criticality: Asset['criticality'];
  owner: string | undefined;
  tags: string[];
  notes: string | undefined;
  state: Asset['state'];
  source: Asset['source'];
  /** Time when the asset was first seen, epoch milliseconds; `unseen` if never. */
  first: number;
  /** Time when the asset was last seen, epoch milliseconds; `unseen` if never. */
  last: number;
  risk: number;
  openAlerts: number;
  services: number;
  version: number;
  /** Attributes that users set, so that the network does not overwrite them. */
  set: SetField[];
  /** The fallback name: the address with which the asset was found; '' without an address. */
  origin: string;
  /** Number of history records. */
  records: number;
  /** Number of the next history record. */
  nextRecord: number;
  /** When the asset was last retired, epoch milliseconds; 0 if never. */
  retiredAt: number;
  /** Whether the history records that the asset was seen after it was retired. */
  seenRetired: boolean;
}

type Inner = Pick<
  AssetState,
  'name' | 'hostnames' | 'heard' | 'isProxy' | 'set' | 'origin' | 'records' | 'nextRecord' | 'retiredAt' | 'seenRetired'
>;

export const newAsset = (id: string, parts: Pick<AssetState, 'source' | 'state' | 'origin'>): AssetState => ({
  id,
  name: undefined,
  kind: 'unknown',
  ips: [],
  macs: [],
  hostnames: undefined,
  heard: [],
  os: undefined,
  vendor: undefined,
  criticality: 'medium',
  owner: undefined,
  tags: [],
  notes: undefined,
  first: unseen,
  last: unseen,
  risk: 0,
  openAlerts: 0,
  services: 0,
  version: 1,
  set: [],
  records: 0,
  nextRecord: 0,
  retiredAt: 0,
  seenRetired: false,
  ...parts,
});

export const hostnamesOf = ({ hostnames, heard, isProxy }: AssetState): readonly string[] =>
  hostnames ?? ownNames(heard, isProxy).map(({ name }) => name);

/** Returns the user's name for the asset, otherwise its best host name, an address, or its id. */
export const nameOf = (asset: AssetState): string =>
  asset.name ??
  asset.hostnames?.[0] ??
  standingName(ownNames(asset.heard, asset.isProxy)) ??
  asset.ips[0] ??
  asset.macs[0] ??
  (asset.origin || asset.id);

/** Encoding of an asset row. */
export const assetCodec = {
  pack(asset: AssetState): AssetRow {
    const { name, hostnames, heard, isProxy, set, origin, records, nextRecord, retiredAt, seenRetired } = asset;
    const inner: Inner = {
      name,
      hostnames,
      heard,
      ...(isProxy && { isProxy }),
      set,
      origin,
      records,
      nextRecord,
      retiredAt,
      seenRetired,
    };
    return [
      nameOf(asset),
      asset.kind,
      asset.ips.join('\n'),
      asset.macs.join('\n'),
      hostnamesOf(asset).join('\n'),
      asset.os ?? '',
      asset.vendor ?? '',
      asset.criticality,
      asset.owner ?? '',
      asset.tags.length === 0 ? '' : JSON.stringify(asset.tags),
      asset.notes ?? '',
      asset.state,
      asset.source,
      asset.first,
      asset.last,
      asset.risk,
      asset.openAlerts,
      asset.services,
      asset.version,
      JSON.stringify(inner),
    ];
  },
  unpack(row: AssetRow, id: string): AssetState {
    const inner = JSON.parse(row[at.inner]) as Inner;
    return {
      id,
      kind: row[at.kind],
      ips: lines(row[at.ips]),
      macs: lines(row[at.macs]),
      os: someText(row[at.os]),
      vendor: someText(row[at.vendor]),
      criticality: row[at.criticality],
      owner: someText(row[at.owner]),
      tags: tagsOf(row[at.tags]),
      notes: someText(row[at.notes]),
      state: row[at.state],
      source: row[at.source],
      first: row[at.firstSeen],
      last: row[at.lastSeen],
      risk: row[at.risk],
      openAlerts: row[at.openAlerts],
      services: row[at.services],
      version: row[at.version],
      ...inner,
      name: inner.name,
      hostnames: inner.hostnames,
    };
  },
};
