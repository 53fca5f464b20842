import { limits } from '../../limits.ts';
import { ruleSources, silenceStates } from '../vocabulary.ts';
import { oneOf, type Static } from './common.ts';
import {
  hostname,
  list,
  network,
  optional,
  ordinal,
  part,
  severity,
  shape,
  text,
  timestamp,
  uuid,
} from './fields.ts';

/** Any of some values. */
const anyOf = <T extends Parameters<typeof list>[0]>(items: T, description: string) =>
  optional(list(items, description, { minItems: 1, maxItems: limits.maxSilenceValues, uniqueItems: true }));
const word = (description: string) => text(description, { minLength: 1, maxLength: 500 });
const block = () => network('An address or a CIDR block.');

const matcher = part(
  {
    rule_id: anyOf(word('A rule, as alerts name it.'), 'Findings of these rules.'),
    rule_source: anyOf(
      oneOf(ruleSources, { description: 'Where rules come from.' }),
      'Findings of rules from there.',
    ),
    category: anyOf(word('A category, whole.'), 'Findings of rules of these categories.'),
    src_ip: anyOf(block(), 'Whose source is or lies in one of these.'),
    dst_ip: anyOf(block(), 'Whose target is or lies in one of these.'),
    ip: anyOf(block(), 'Of which either end is or lies in one of these.'),
    domain: anyOf(hostname('A name.'), 'About one of these names or a name below one, in any case.'),
    asset_id: anyOf(uuid('An asset.'), 'Of which either end is an address that one of these has now.'),
    max_severity: optional(severity('Findings up to this severity; graver ones are not silenced.')),
  },
  'What findings must have, all of it, to be silenced. At least one besides max_severity is wanted.',
);
const reason = text('Why.', { minLength: 1, maxLength: 2000 });
const expires_at = timestamp('When it ends: at most 90 days ahead.');

/** Keeps findings from drawing attention, for a time: their alerts are suppressed, and no longer when it has ended. */
export const Silence = shape('Silence', {
  matcher,
  reason,
  owner: text('Who made it and answers for it.'),
  state: oneOf(silenceStates, { description: 'Whether it has ended.' }),
  expires_at,
  created_at: timestamp('When it was made.'),
  updated_at: timestamp('When it last changed.'),
  version: ordinal('Grows with every change; for If-Match.'),
});
export type Silence = Static<typeof Silence>;
export type SilenceMatcher = Silence['matcher'];

export const SilenceInput = shape('SilenceInput', { matcher, reason, expires_at });
export type SilenceInput = Static<typeof SilenceInput>;

/** What `PUT /api/v1/silences/:silence_id` may change; a matcher replaces the one before as a whole. */
export const SilenceUpdateInput = shape('SilenceUpdateInput', {
  matcher: optional(matcher),
  reason: optional(reason),
  expires_at: optional(expires_at),
});
export type SilenceUpdateInput = Static<typeof SilenceUpdateInput>;
