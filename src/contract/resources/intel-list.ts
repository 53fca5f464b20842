import { Type } from 'typebox';
import { limits } from '../../limits.ts';
import { indicatorKinds, intelFormats, severities } from '../vocabulary.ts';
import { oneOf, type Static } from './common.ts';
import {
  between,
  count,
  flag,
  hex32,
  line,
  lines,
  list,
  optional,
  ordinal,
  part,
  real,
  shape,
  text,
  timestamp,
} from './fields.ts';

const name = line('What it is called, in alerts too.', { minLength: 1, maxLength: 200 });
const description = lines('What it is about.', { maxLength: 2000 });
const source = line('Where it comes from: a name or a URL.', { maxLength: 1000 });
const severity = oneOf(severities, {
  description:
    'Severity of what is found by it: of lookups and their answers, of requests that name a host, of attempts to reach what it names, and of answers to it. Probes from what it names that nobody answered are low.',
});
const confidence = real('How sure it is, where it says nothing else of an indicator.', {
  minimum: 0,
  maximum: 1,
});
const enabled = flag('Whether it is looked in.');
const format = oneOf(intelFormats, { description: 'Plain lines, or a bundle of STIX 2.' });
const expiresAt = timestamp('From when on, by our clock, nothing of it counts.');
const validDays = between(
  1,
  36_500,
  'How many days indicators without an end of their own hold, from when they came.',
);

const rejected = part(
  {
    line: optional(ordinal('Of plain lines: which, from 1.')),
    object: optional(count("Of STIX: which of the bundle's objects, from 0.")),
    value: text('As it is written, cut.'),
    reason: text('Why it is not taken.'),
  },
  'An indicator that is not taken.',
);

/** A list of known-bad addresses and domains. */
export const IntelList = shape('IntelList', {
  name,
  description: optional(description),
  source: optional(source),
  severity,
  confidence: optional(confidence),
  enabled,
  format,
  expires_at: optional(expiresAt),
  default_valid_days: optional(validDays),
  indicators: count('Different addresses, blocks and domains that it names.'),
  expired: count('Those of them whose end has come.'),
  rejected: list(rejected, 'What could not be taken, the first hundred.', {
    maxItems: limits.maxIntelRejected,
  }),
  rejected_total: count('How much could not be taken.'),
  content_sha256: hex32(
    'SHA-256 of the content: of its text in UTF-8, of a bundle that came as JSON as it is without blanks.',
  ),
  content_changed_at: timestamp('When its content came.'),
  hits: count('Events in which something of it was met.'),
  last_hit_at: optional(timestamp('Time of the last of them.')),
  created_at: timestamp('When it was made.'),
  changed_at: timestamp('When it was made or changed last.'),
  version: ordinal('Grows with every change; for If-Match.'),
});
export type IntelList = Static<typeof IntelList>;

const content = Type.Unsafe<unknown>({
  description:
    'Plain lines (an address, CIDR block, domain or URL each, perhaps with a comma and until when it holds; comments behind # or ;; hosts files are taken, and what is written defanged), or a STIX 2 bundle as an object or as text.',
});

export const IntelListInput = shape('IntelListInput', {
  name,
  description: optional(description),
  source: optional(source),
  severity: optional(severity),
  confidence: optional(confidence),
  enabled: optional(enabled),
  format: optional(format),
  expires_at: optional(expiresAt),
  default_valid_days: optional(validDays),
  content,
});
export type IntelListInput = Static<typeof IntelListInput>;

export const IntelListUpdateInput = shape('IntelListUpdateInput', {
  name: optional(name),
  description: optional(description),
  source: optional(source),
  severity: optional(severity),
  confidence: optional(confidence),
  enabled: optional(enabled),
  format: optional(format),
  expires_at: optional(expiresAt),
  default_valid_days: optional(validDays),
  content: optional(content),
});
export type IntelListUpdateInput = Static<typeof IntelListUpdateInput>;

/** One indicator of a list. */
export const IntelIndicator = shape('IntelIndicator', {
  value: text('The address, block or domain.'),
  kind: oneOf(indicatorKinds, { description: 'Addresses or a domain.' }),
  page: flag(
    'The list names a page of this host: names below it do not count, and findings have one step less.',
  ),
  valid_from: optional(timestamp('Events from this time on.')),
  valid_until: optional(timestamp('Events before this time.')),
  confidence: optional(confidence),
  label: optional(text('What the list calls it.')),
});
export type IntelIndicator = Static<typeof IntelIndicator>;
