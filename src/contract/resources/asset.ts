import { oneOf, type Static } from './common.ts';
import { address, between, count, list, optional, ordinal, shape, text, timestamp } from './fields.ts';

export const assetKinds = [
  'server',
  'workstation',
  'network',
  'iot',
  'printer',
  'mobile',
  'unknown',
] as const;
export const criticalities = ['low', 'medium', 'high', 'critical'] as const;
export const assetStates = ['staged', 'managed', 'retired'] as const;
export const riskLevels = ['low', 'moderate', 'high', 'critical'] as const;

export const riskLevel = oneOf(riskLevels, { description: 'The score in words.' });

/** What `POST` and `PUT` may set. */
const writable = {
  name: text('What people call it.', { minLength: 1, maxLength: 255 }),
  kind: oneOf(assetKinds, { description: 'What it is.' }),
  ip_addresses: list(address('An address.'), 'Addresses that it has now.', { maxItems: 256 }),
  mac_addresses: list(text('A link-layer address.'), 'Lowercase with colons.', { maxItems: 256 }),
  hostnames: list(text('A name.', { maxLength: 255 }), 'Names that it goes by.', { maxItems: 256 }),
  os: optional(text('Operating system.', { maxLength: 255 })),
  vendor: optional(text('Maker of the device.', { maxLength: 255 })),
  criticality: oneOf(criticalities, { description: 'How much it matters.' }),
  owner: optional(text('Who answers for it.', { maxLength: 255 })),
  tags: list(text('A tag.', { minLength: 1, maxLength: 100 }), 'Free labels.', { maxItems: 100 }),
  notes: optional(text('Free text.', { maxLength: 10_000 })),
  state: oneOf(assetStates, { description: 'What the network shows starts staged.' }),
};

export const Asset = shape('Asset', {
  ...writable,
  source: oneOf(['passive', 'scan', 'manual'], { description: 'How it became known.' }),
  first_seen: optional(timestamp('First sign of it; absent until there is one.')),
  last_seen: optional(timestamp('Last sign of it.')),
  risk_score: between(0, 100, 'Risk by its alerts and criticality.'),
  risk_level: riskLevel,
  open_alerts: count('Alerts on it that are not resolved, suppressed or archived.'),
  service_count: count('Services open on it.'),
  version: ordinal('Grows with every change; for If-Match.'),
});
export type Asset = Static<typeof Asset>;
