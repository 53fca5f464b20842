import { formats } from '../../../contract/formats.ts';
import { bytes, decimal, duration, number } from '../../ui/numbers.ts';
import { title, words } from '../../ui/words.ts';
import type { Alert } from './question.ts';

/** Formats the evidence of alerts. All functions here are pure. */

const dnsPort = 53;
/** Margin before and after the alert's time span, because events carry the time at which they began. */
const marginMs = 60_000;

/** Returns the table that most likely holds the events of an alert. */
export const eventTable = ({ domain, dst_port }: Pick<Alert, 'domain' | 'dst_port'>): 'network' | 'dns' =>
  domain !== undefined && (dst_port === undefined || dst_port === dnsPort) ? 'dns' : 'network';

/**
 * Returns URL parameters of the events page for the alert's time span: network events between the alert's endpoints, or
 * DNS events of its source, limited to names that contain the alert's domain.
 */
export function eventsOf(
  alert: Pick<Alert, 'src_ip' | 'dst_ip' | 'dst_port' | 'domain' | 'count' | 'first_seen' | 'last_seen'>,
  table: 'network' | 'dns',
): Readonly<Record<string, string | number | undefined>> {
  const { src_ip, dst_ip, dst_port, domain } = alert;
  const time = {
    from: new Date(Date.parse(alert.first_seen) - marginMs).toISOString(),
    to: new Date(Date.parse(alert.last_seen) + marginMs).toISOString(),
  };
  if (table === 'dns')
    return { table: 'dns', ...time, src_ip: src_ip ?? undefined, ...(domain !== undefined && { q: domain }) };
  return { ...time, src_ip, dst_ip, dst_port };
}

type Given = number | string | boolean | readonly (number | string)[];

/** A value of the evidence, by how it is displayed. */
export type Part =
  | { readonly kind: 'text'; readonly text: string }
  /** A time, in epoch milliseconds. */
  | { readonly kind: 'time'; readonly at: number }
  /** An address; `rest` is a note on it, such as a count. */
  | { readonly kind: 'address'; readonly ip: string; readonly port?: number; readonly rest?: string }
  | { readonly kind: 'domain'; readonly name: string };

/** One field of the evidence: its label, the values shown, and the number of further values. */
export interface EvidenceFact {
  readonly name: string;
  readonly parts: readonly Part[];
  readonly more: number;
}

type Kind = 'time' | 'bytes' | 'ms' | 'seconds' | 'minutes' | 'hours' | 'domain' | 'ends';

/** Fields whose kind does not follow from their names. */
const kinds: Readonly<Record<string, Kind>> = {
  began: 'time',
  first_seen: 'time',
  window_from: 'time',
  window_to: 'time',
  seconds: 'seconds',
  baseline_median: 'bytes',
  baseline_deviation: 'bytes',
  baseline_most: 'bytes',
  domain: 'domain',
  most_frequent_domain: 'domain',
  found_domains: 'domain',
  some_generated: 'domain',
  some_names: 'domain',
  query: 'domain',
  'dns.question.name': 'domain',
  top_sources: 'ends',
  new_connections: 'ends',
  destinations: 'ends',
};
const kindByEnding: readonly (readonly [RegExp, Kind])[] = [
  [/(^|_)bytes(_|$)/, 'bytes'],
  [/_at$/, 'time'],
  [/_ms$/, 'ms'],
  [/_seconds$/, 'seconds'],
  [/_minutes$/, 'minutes'],
  [/_hours$/, 'hours'],
];
/** Milliseconds per unit of time. */
const unitMs: Readonly<Partial<Record<Kind, number>>> = {
  ms: 1,
  seconds: 1000,
  minutes: 60_000,
  hours: 3_600_000,
};
/** Labels of fields whose names carry a unit; values are shown in the unit that fits. */
const titles: Readonly<Record<string, string>> = {
  seconds: 'Time span',
  duration_hours: 'Duration',
  duration_minutes: 'Duration',
  thresholds_hours: 'Thresholds',
  window_hours: 'Window',
  within_minutes: 'Within',
  burst_minutes: 'Burst',
  interval_seconds: 'Interval',
  interval_deviation_seconds: 'Interval deviation',
  typical_seconds: 'Typical duration',
  session_seconds: 'Session duration',
};
const maxListed = 12;

/** Formats each field of the evidence by its kind. */
export const evidenceFacts = ({ evidence = {} }: Pick<Alert, 'evidence'>): EvidenceFact[] =>
  Object.entries(evidence).map(([field, value]) => {
    const kind = kindOf(field, evidence);
    const values = typeof value === 'object' ? value.slice(0, maxListed) : [value];
    return {
      name: Object.hasOwn(titles, field) ? titles[field]! : nameOf(field),
      parts: values.map((one) => partOf(field, kind, one, typeof value === 'object')),
      more: typeof value === 'object' ? value.length - values.length : 0,
    };
  });

function kindOf(field: string, evidence: Readonly<Record<string, Given>>): Kind | undefined {
  if (Object.hasOwn(kinds, field)) return kinds[field];
  // A threshold is in bytes if its detector measures bytes.
  if (field === 'threshold') return Object.hasOwn(evidence, 'baseline_most') ? 'bytes' : undefined;
  if (field === 'indicator') return evidence.part === 'domain' ? 'domain' : undefined;
  return kindByEnding.find(([ending]) => ending.test(field))?.[1];
}

const acronym = /\b(asn|dns|http|icmp|id|ip|ips|ja3|ja4|md5|mime|nxdomain|sha256|smb|ssh|tcp|tls|ttl|txt|udp|url)\b/g;

/** Returns the label of a field; names with other characters, such as rule fields with dots, are unchanged. */
const nameOf = (field: string): string =>
  /^[a-z0-9_]+$/.test(field) ? title(words(field).replaceAll(acronym, upper)) : field;

const upper = (text: string): string => text.toUpperCase();

const text = (text: string): Part => ({ kind: 'text', text });

function partOf(field: string, kind: Kind | undefined, value: number | string | boolean, isListed: boolean): Part {
  if (typeof value === 'boolean') return text(value ? 'yes' : 'no');
  if (typeof value === 'string') return partOfText(kind, value);
  if (kind === 'bytes') return text(bytes(value));
  if (kind === 'time' && isEpochMs(value)) return { kind: 'time', at: value };
  const unit = kind && unitMs[kind];
  if (unit !== undefined && value >= 0) return text(duration(value * unit));
  const isName = isListed || /(^|_)(port|id|asn)$/.test(field);
  return text(isName ? String(value) : decimal(value));
}

/** Returns whether the number can be a time: from 1973 to the latest time that a Date can hold. */
const isEpochMs = (value: number): boolean => value >= 1e11 && value <= 8.64e15;

const isoTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:?\d\d)$/;

function partOfText(kind: Kind | undefined, value: string): Part {
  // The endpoint is tried first, because `2001:db8::1:22` is also a valid address.
  const end = kind === 'ends' ? endOf(value) : undefined;
  if (end !== undefined) return end;
  if (formats.ip.test(value)) return { kind: 'address', ip: value };
  if (isoTime.test(value) && !Number.isNaN(Date.parse(value))) return { kind: 'time', at: Date.parse(value) };
  if (kind === 'domain' && value !== '') return { kind: 'domain', name: value };
  return text(value);
}

/**
 * Parses an endpoint with its note, as detectors write them: `address: times`, `address:port`, `address bytes` and
 * `address:port/transport bytes out bytes in`.
 */
function endOf(value: string): Part | undefined {
  const [, counted = '', times] = /^(\S+): (\d+)$/.exec(value) ?? [];
  if (formats.ip.test(counted)) return { kind: 'address', ip: counted, rest: `${number(Number(times))} times` };
  const [, sized = '', size] = /^(\S+) (\d+)$/.exec(value) ?? [];
  if (formats.ip.test(sized)) return { kind: 'address', ip: sized, rest: bytes(Number(size)) };
  const found = /^(\S+):(\d+)(?:\/(\S*) (\d+) out (\d+) in)?$/.exec(value);
  const [, ip = '', port, transport, out, back] = found ?? [];
  if (!formats.ip.test(ip)) return undefined;
  const rest = out === undefined ? '' : `${transport}, ${bytes(Number(out))} out, ${bytes(Number(back))} in`;
  return { kind: 'address', ip, port: Number(port), ...(rest !== '' && { rest }) };
}
