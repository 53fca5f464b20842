import { limits } from '../../limits.ts';
import {
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
  shape,
  text,
  timestamp,
  uuid,
} from './fields.ts';

export const riskLevel = oneOf(riskLevels, { description: 'The score in words.' });

const most = { maxItems: limits.maxCurrentAddresses };
const words = { maxLength: maxLineLength };
const name = line('What people call it.', { minLength: 1, maxLength: maxLineLength });
const kind = oneOf(assetKinds, { description: 'What it is.' });
const criticality = oneOf(criticalities, { description: 'How much it matters.' });
const state = oneOf(assetStates, { description: 'What the network shows starts staged.' });
const tags = list(line('A tag.', { minLength: 1, maxLength: 100 }), 'Free labels.', {
  maxItems: maxTags,
});
/** @param none - what an empty text means, @param heard - the same of what the network says something of, too */
const described = (none: string, heard: string) => ({
  os: optional(line(`Operating system${heard}.`, words)),
  vendor: optional(line(`Maker of the device${heard}.`, words)),
  owner: optional(line(`Who answers for it${none}.`, words)),
  notes: optional(lines(`Free text${none}.`, { maxLength: maxNotesLength })),
});
const unsaid = '; empty to leave it to what the network shows';

export const Asset = shape('Asset', {
  name,
  kind,
  ip_addresses: list(address('An address.'), 'Addresses that it has now.', most),
  mac_addresses: list(text('A link-layer address.'), 'Lowercase with colons.', most),
  hostnames: list(text('A name.', { maxLength: maxLineLength }), 'Names that it goes by.', most),
  ...described('', ''),
  criticality,
  tags,
  state,
  source: oneOf(assetSources, { description: 'How it became known.' }),
  first_seen: optional(timestamp('First sign of it; absent until there is one.')),
  last_seen: optional(timestamp('Last sign of it.')),
  risk_score: between(0, 100, 'Risk by its alerts and criticality.'),
  risk_level: riskLevel,
  open_alerts: count('Alerts on it that are not resolved, suppressed or archived.'),
  service_count: count('Services open on it.'),
  version: ordinal('Grows with every change by people, not with what the network shows; for If-Match.'),
});
export type Asset = Static<typeof Asset>;

/** What `POST` and `PUT` may set. */
const settable = {
  name: optional(name),
  kind: optional(kind),
  ip_addresses: optional(list(address('An address of one host.'), 'Addresses that it has now.', most)),
  mac_addresses: optional(list(mac('A link-layer address of one host.'), 'In any usual spelling.', most)),
  hostnames: optional(list(hostname('A host name.'), `Names that it goes by${unsaid}.`, most)),
  ...described('; empty for none', unsaid),
  criticality: optional(criticality),
  tags: optional(tags),
  state: optional(state),
};

/** A name, an address or a host name it must have. Defaults: unknown, medium, managed; named after what it has. */
export const AssetInput = shape('AssetInput', settable);
export type AssetInput = Static<typeof AssetInput>;

/** A list replaces the one that is there. */
export const AssetUpdateInput = shape('AssetUpdateInput', settable);
export type AssetUpdateInput = Static<typeof AssetUpdateInput>;

export const AssetMergeInput = shape('AssetMergeInput', {
  into: uuid('The asset that takes over everything and stays.'),
});
export type AssetMergeInput = Static<typeof AssetMergeInput>;

export const AssetSplitInput = shape('AssetSplitInput', {
  identifiers: list(identifier('An IP or MAC address of the asset.'), 'What the new asset gets.', {
    minItems: 1,
    ...most,
  }),
});
export type AssetSplitInput = Static<typeof AssetSplitInput>;
