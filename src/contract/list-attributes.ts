import {
  alertStatuses,
  backupStates,
  indicatorKinds,
  intelFormats,
  keyPurposes,
  keyStates,
  principalKinds,
  principalStatuses,
  priorities,
  ruleKinds,
  ruleOrigins,
  ruleSources,
  ruleStatuses,
  scanEngines,
  scanStatuses,
  severities,
  silenceStates,
  tokenKinds,
  verdicts,
} from './vocabulary.ts';

/**
 * The attributes by which lists are filtered and sorted: the parameters of the contract and the specifications of the
 * lists are derived from these tables. The first sort is the default. Filters and sorts that are not attributes, or
 * that read an attribute in another way, are in the specification of the list.
 */

/** The kind of an attribute, or the words that it may have. */
export type AttributeKind = 'text' | 'number' | 'flag' | 'time' | 'address' | readonly string[];

interface Listed {
  readonly kind: AttributeKind;
  readonly filter: boolean;
  readonly sort: boolean;
}
export type ListAttributes = Readonly<Record<string, Listed>>;

const both = (kind: AttributeKind) => ({ kind, filter: true, sort: true }) as const;
const filter = (kind: AttributeKind) => ({ kind, filter: true, sort: false }) as const;
const sort = (kind: AttributeKind) => ({ kind, filter: false, sort: true }) as const;

type NamesWith<T extends ListAttributes, Use extends 'filter' | 'sort'> = {
  [K in keyof T & string]: T[K][Use] extends true ? K : never;
}[keyof T & string];

/** Returns the names of the attributes by which a list is filtered or sorted, in the order of the table. */
export const attributesTo = <T extends ListAttributes, const Use extends 'filter' | 'sort'>(use: Use, table: T) =>
  Object.keys(table).filter((name) => table[name]![use]) as [NamesWith<T, Use>, ...NamesWith<T, Use>[]];

export const alertAttributes = {
  last_seen: sort('time'),
  first_seen: sort('time'),
  created_at: sort('time'),
  updated_at: sort('time'),
  severity: sort(severities),
  priority: both(priorities),
  status: both(alertStatuses),
  verdict: both(verdicts),
  title: both('text'),
  category: both('text'),
  rule_id: both('text'),
  rule_name: both('text'),
  rule_source: both(ruleSources),
  risk_score: both('number'),
  confidence: both('number'),
  src_ip: both('address'),
  src_port: both('number'),
  dst_ip: both('address'),
  dst_port: both('number'),
  transport: both('text'),
  domain: both('text'),
  count: both('number'),
  assignee: both('text'),
  note_count: sort('number'),
  dedup_key: filter('text'),
  previous_alert_id: filter('text'),
  silence_id: filter('text'),
  folded_into: filter('text'),
} as const satisfies ListAttributes;

export const silenceAttributes = {
  created_at: sort('time'),
  expires_at: sort('time'),
  updated_at: sort('time'),
  owner: both('text'),
  state: filter(silenceStates),
} as const satisfies ListAttributes;

export const scanAttributes = {
  requested_at: sort('time'),
  started_at: sort('time'),
  finished_at: sort('time'),
  status: both(scanStatuses),
  engine: both(scanEngines),
  requested_by: both('text'),
} as const satisfies ListAttributes;

export const ruleAttributes = {
  changed_at: sort('time'),
  title: both('text'),
  level: both(severities),
  hits: sort('number'),
  enabled: filter('flag'),
  status: filter(ruleStatuses),
  kind: filter(ruleKinds),
  origin: filter(ruleOrigins),
} as const satisfies ListAttributes;

export const intelAttributes = {
  changed_at: sort('time'),
  name: both('text'),
  severity: both(severities),
  indicators: sort('number'),
  hits: sort('number'),
  enabled: filter('flag'),
  format: filter(intelFormats),
} as const satisfies ListAttributes;

export const indicatorAttributes = {
  value: sort('text'),
  valid_until: sort('time'),
  kind: filter(indicatorKinds),
} as const satisfies ListAttributes;

export const principalAttributes = {
  created_at: sort('time'),
  name: both('text'),
  kind: both(principalKinds),
  status: both(principalStatuses),
  last_login_at: sort('time'),
} as const satisfies ListAttributes;

export const tokenAttributes = {
  issued_at: sort('time'),
  expires_at: sort('time'),
  last_used_at: sort('time'),
  name: both('text'),
  jti: filter('text'),
  principal_id: filter('text'),
  kind: filter(tokenKinds),
} as const satisfies ListAttributes;

export const keyAttributes = {
  created_at: sort('time'),
  activated_at: sort('time'),
  retired_at: sort('time'),
  purpose: both(keyPurposes),
  state: both(keyStates),
  kid: filter('text'),
} as const satisfies ListAttributes;

export const backupAttributes = {
  created_at: sort('time'),
  state: filter(backupStates),
} as const satisfies ListAttributes;
