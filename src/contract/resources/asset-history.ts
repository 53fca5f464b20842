import { assetActions, assetStates } from '../vocabulary.ts';
import { oneOf, type Static } from './common.ts';
import { address, list, optional, part, shape, text, timestamp, uuid } from './fields.ts';

export const actorKinds = ['principal', 'scan', 'network'] as const;

/** One thing that happened to an asset. */
export const AssetHistory = shape('AssetHistory', {
  asset_id: uuid('The asset.'),
  at: timestamp('When; of what the network showed, the time of the event that did.'),
  action: oneOf(assetActions, { description: 'What happened.' }),
  by: part(
    {
      kind: oneOf(actorKinds, { description: 'A person or program, a scan, or the events themselves.' }),
      id: optional(text('Which principal or scan.')),
      name: optional(text('Name of the principal.')),
    },
    'Who caused it.',
  ),
  ip_address: optional(address('The address that came or went.')),
  mac_address: optional(text('The link-layer address that came or went.')),
  hostname: optional(text('The name that came.')),
  state: optional(oneOf(assetStates, { description: 'The state that it has since.' })),
  fields: optional(list(text('An attribute.'), 'What was edited.')),
  other_asset_id: optional(uuid('The asset that it was merged with, or split from or into.')),
  identifiers: optional(list(text('An IP or MAC address.'), 'What moved with it.')),
  reason: optional(text('Why, where the network alone does not say it.')),
});
export type AssetHistory = Static<typeof AssetHistory>;
