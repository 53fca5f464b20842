import { limits } from '../../limits.ts';
import { ruleSources, silenceStates } from '../vocabulary.ts';
import { oneOf, type Static } from './common.ts';
import { hostname, list, network, optional, ordinal, part, severity, shape, text, timestamp, uuid } from './fields.ts';

/** Returns the schema of a matcher that matches any of the values. */
const anyOf = <T extends Parameters<typeof list>[0]>(items: T, description: string) =>
  optional(list(items, description, { minItems: 1, maxItems: limits.maxSilenceValues, uniqueItems: true }));
const word = (description: string) => text(description, { minLength: 1, maxLength: 500 });
const block = () => network('An IP address or a CIDR block.');

const matcher = part(
  'Conditions for silencing a finding, all of which must match. At least one condition other than max_severity is required.',
  {
    rule_id: anyOf(word('Identifier of a rule, as in alerts.'), 'Matches findings of these rules.'),
    rule_source: anyOf(oneOf(ruleSources, 'Source of a rule.'), 'Matches findings of rules from these sources.'),
    category: anyOf(word('Exact name of a category.'), 'Matches findings of rules of these categories.'),
    src_ip: anyOf(block(), 'Matches findings whose source is in one of these networks.'),
    dst_ip: anyOf(block(), 'Matches findings whose destination is in one of these networks.'),
    ip: anyOf(block(), 'Matches findings whose source or destination is in one of these networks.'),
    domain: anyOf(
      hostname('A domain name.'),
      'Matches findings about one of these domains or their subdomains, case-insensitive.',
    ),
    asset_id: anyOf(
      uuid('Identifier of an asset.'),
      'Matches findings whose source or destination is a current address of one of these assets.',
    ),
    max_severity: optional(severity('Maximum severity; more severe findings are not silenced.')),
  },
);
const reason = text('Reason for the silence.', { minLength: 1, maxLength: 2000 });
const expires_at = timestamp('Time at which the silence ends, at most 90 days ahead.');

/** A silence, which suppresses the alerts of matching findings until it ends. */
export const Silence = shape('Silence', {
  matcher,
  reason,
  owner: text('Name of the user who created the silence.'),
  state: oneOf(silenceStates, 'Whether the silence is active or has expired.'),
  expires_at,
  created_at: timestamp('Time at which the silence was created.'),
  updated_at: timestamp('Time of the last change.'),
  version: ordinal('Version, increased by every change; use it with If-Match.'),
});
export type Silence = Static<typeof Silence>;
export type SilenceMatcher = Silence['matcher'];

export const SilenceInput = shape('SilenceInput', { matcher, reason, expires_at });
export type SilenceInput = Static<typeof SilenceInput>;

/** Body of `PUT /api/v1/silences/:silence_id`. A matcher replaces the previous matcher as a whole. */
export const SilenceUpdateInput = shape('SilenceUpdateInput', {
  matcher: optional(matcher),
  reason: optional(reason),
  expires_at: optional(expires_at),
});
export type SilenceUpdateInput = Static<typeof SilenceUpdateInput>;
