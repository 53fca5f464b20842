import { assetActions, assetStates } from '../vocabulary.ts';
import { oneOf, type Static } from './common.ts';
import { address, list, optional, part, shape, text, timestamp, uuid } from './fields.ts';

export const actorKinds = ['principal', 'scan', 'network'] as const;

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
