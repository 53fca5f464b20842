import { limits } from '../../limits.ts';
import {
  assetActions,
  assetKinds,
  assetSources,
  assetStates,
  criticalities,
  maxLineLength,
  maxNotesLength,
  maxTags,
  riskLevels,
} from '../vocabulary.ts';
import { oneOf, type Static } from './common.ts';
import {
  address,
  between,
  count,
  hostname,
  identifier,
  line,
  lines,
  list,
  mac,
  optional,
  ordinal,
  part,
  shape,
  text,
  timestamp,
  uuid,
} from './fields.ts';

const actorKinds = ['principal', 'scan', 'network'] as const;

/** One change of an asset. */
export const AssetHistory = shape('AssetHistory', {
  asset_id: uuid('Identifier of the asset.'),
  at: timestamp('Time of the change. For changes observed in traffic, the time of the event.'),
  action: oneOf(assetActions, 'Kind of change.'),
  by: part('Cause of the change.', {
    kind: oneOf(actorKinds, 'Cause of the change: a principal, a scan, or network events.'),
    id: optional(text('Identifier of the principal or scan.')),
    name: optional(text('Name of the principal.')),
  }),
  ip_address: optional(address('IP address that was added or removed.')),
  mac_address: optional(text('MAC address that was added or removed.')),
  hostname: optional(text('Host name that was added.')),
  state: optional(oneOf(assetStates, 'New state of the asset.')),
  fields: optional(list(text('An attribute.'), 'Attributes that were edited.')),
  other_asset_id: optional(uuid('Identifier of the asset that it was merged with, or split from or into.')),
  identifiers: optional(list(text('An IP or MAC address.'), 'Identifiers that moved between the assets.')),
  reason: optional(text('Reason, if the other attributes do not show it.')),
});
export type AssetHistory = Static<typeof AssetHistory>;

export const riskLevel = oneOf(riskLevels, 'Risk level of the score.');

const most = { maxItems: limits.maxCurrentAddresses };
const words = { maxLength: maxLineLength };
const name = line('Name of the asset.', { minLength: 1, maxLength: maxLineLength });
const kind = oneOf(assetKinds, 'Kind of asset.');
const criticality = oneOf(criticalities, 'Criticality of the asset.');
const state = oneOf(assetStates, 'State of the asset. Assets discovered in traffic start as staged.');
const tags = list(line('A tag.', { minLength: 1, maxLength: 100 }), 'Free-form labels.', {
  maxItems: maxTags,
});
/**
 * Returns schemas whose descriptions state the meaning of an empty text: `ifEmpty`, and `ifDiscovered` for attributes
 * that are also discovered in traffic.
 */
const described = (ifEmpty: string, ifDiscovered: string) => ({
  os: optional(line(`Operating system${ifDiscovered}.`, words)),
  vendor: optional(line(`Vendor of the device${ifDiscovered}.`, words)),
  owner: optional(line(`Owner of the asset${ifEmpty}.`, words)),
  notes: optional(lines(`Free text${ifEmpty}.`, { maxLength: maxNotesLength })),
});
const emptyMeansDiscovered = '; empty to use the value discovered in traffic';

export const Asset = shape('Asset', {
  name,
  kind,
  ip_addresses: list(address('An IP address.'), 'Current IP addresses.', most),
  mac_addresses: list(text('A MAC address.'), 'MAC addresses, in lower case with colons.', most),
  hostnames: list(text('A host name.', { maxLength: maxLineLength }), 'Host names.', most),
  ...described('', ''),
  criticality,
  tags,
  state,
  source: oneOf(assetSources, 'How the asset was discovered.'),
  first_seen: optional(timestamp('Time at which the asset was first seen; absent until then.')),
  last_seen: optional(timestamp('Time at which the asset was last seen.')),
  risk_score: between(0, 100, 'Risk score of the asset, from its alerts and criticality.'),
  risk_level: riskLevel,
  open_alerts: count('Number of alerts on the asset that are not resolved, suppressed or archived.'),
  service_count: count('Number of open services.'),
  version: ordinal('Version, increased by every change by a user but not by discovery; use it with If-Match.'),
});
export type Asset = Static<typeof Asset>;

/** Attributes that `POST` and `PUT` can set. */
const settable = {
  name: optional(name),
  kind: optional(kind),
  ip_addresses: optional(list(address('A unicast IP address.'), 'Current IP addresses.', most)),
  mac_addresses: optional(list(mac('A unicast MAC address.'), 'MAC addresses, in any common notation.', most)),
  hostnames: optional(list(hostname('A host name.'), `Host names${emptyMeansDiscovered}.`, most)),
  ...described('; empty to remove it', emptyMeansDiscovered),
  criticality: optional(criticality),
  tags: optional(tags),
  state: optional(state),
};

/**
 * Requires a name, an IP or MAC address, or a host name. Defaults: kind unknown, criticality medium, state
 * managed; the name defaults to an identifier.
 */
export const AssetInput = shape('AssetInput', settable);
export type AssetInput = Static<typeof AssetInput>;

/** Body of a change. A list replaces the current list. */
export const AssetUpdateInput = shape('AssetUpdateInput', settable);
export type AssetUpdateInput = Static<typeof AssetUpdateInput>;

export const AssetMergeInput = shape('AssetMergeInput', {
  into: uuid('Identifier of the asset that remains. It receives all data of the other asset, which is removed.'),
});
export type AssetMergeInput = Static<typeof AssetMergeInput>;

export const AssetSplitInput = shape('AssetSplitInput', {
  identifiers: list(identifier('An IP or MAC address of the asset.'), 'Identifiers to move to the new asset.', {
    minItems: 1,
    ...most,
  }),
});
export type AssetSplitInput = Static<typeof AssetSplitInput>;
