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
  removable,
  shape,
  text,
  timestamp,
} from './fields.ts';

const name = line('Name of the list, also used in alerts.', { minLength: 1, maxLength: 200 });
const description = lines('Description of the list.', { maxLength: 2000 });
const source = line('Source of the list: a name or a URL.', { maxLength: 1000 });
const severity = oneOf(
  severities,
  'Severity of findings: DNS lookups and their answers, requests that name a listed host, connection attempts to indicators, and replies to them. Unanswered probes from indicators are low.',
);
const confidence = real('Confidence of indicators that have none of their own, from 0 to 1.', {
  minimum: 0,
  maximum: 1,
});
const enabled = flag('Whether the list is enabled.');
const format = oneOf(intelFormats, 'Format of the list: plain lines or a STIX 2 bundle.');
const expiresAt = timestamp('Time at which the whole list expires, by the clock of the service.');
const validDays = between(1, 36_500, 'Days for which indicators without an expiry are valid, from the time of upload.');

const rejected = part('A rejected indicator.', {
  line: optional(ordinal('Line number from 1, for plain lines.')),
  object: optional(count('Index of the object in the bundle from 0, for STIX.')),
  value: text('Text of the indicator, truncated.'),
  reason: text('Why the indicator was rejected.'),
});

/** A threat intelligence list of known-bad addresses and domains. */
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
  indicators: count('Number of distinct addresses, CIDR blocks and domains in the list.'),
  expired: count('Number of expired indicators.'),
  rejected: list(rejected, 'The first 100 rejected indicators.', {
    maxItems: limits.maxIntelRejected,
  }),
  rejected_total: count('Number of rejected indicators.'),
  content_sha256: hex32(
    'SHA-256 of the content: of the text in UTF-8, or of a bundle sent as a JSON object, serialised without whitespace.',
  ),
  content_changed_at: timestamp('Time at which the content was uploaded.'),
  hits: count('Number of events that matched an indicator.'),
  last_hit_at: optional(timestamp('Time of the last event that matched.')),
  created_at: timestamp('Time at which the list was created.'),
  changed_at: timestamp('Time at which the list was created or last changed.'),
  version: ordinal('Version, increased by every change; use it with If-Match.'),
});
export type IntelList = Static<typeof IntelList>;

const content = Type.Unsafe<unknown>({
  description:
    'Plain lines, or a STIX 2 bundle as an object or as text. A line has one address, CIDR block, domain or URL, optionally followed by a comma and its expiry. Comments start with # or ;. Hosts files and defanged indicators are accepted.',
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
  confidence: optional(removable(confidence)),
  enabled: optional(enabled),
  format: optional(format),
  expires_at: optional(removable(expiresAt)),
  default_valid_days: optional(removable(validDays)),
  content: optional(content),
});
export type IntelListUpdateInput = Static<typeof IntelListUpdateInput>;

export const IntelIndicator = shape('IntelIndicator', {
  value: text('Address, CIDR block or domain.'),
  kind: oneOf(indicatorKinds, 'Kind of indicator: addresses or a domain.'),
  page: flag(
    'Whether the list names a page of this host (a URL). Subdomains then do not match, and findings are one severity lower.',
  ),
  valid_from: optional(timestamp('Start of validity: events from this time match.')),
  valid_until: optional(timestamp('End of validity: events before this time match.')),
  confidence: optional(confidence),
  label: optional(text('Name of the indicator in the list.')),
});
export type IntelIndicator = Static<typeof IntelIndicator>;
