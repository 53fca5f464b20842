import { decimal, number } from '../../ui/numbers.ts';
import { title, words } from '../../ui/words.ts';
import type { Alert } from './question.ts';

/** Pure: what an alert says of what shows it. */

const dnsPort = 53;
/** Events are looked for this much before and after what the alert counts: their times are of their beginnings. */
const marginMs = 60_000;

/** In which table the events of an alert most likely are. */
export const eventTable = ({ domain, dst_port }: Pick<Alert, 'domain' | 'dst_port'>): 'network' | 'dns' =>
  domain !== undefined && (dst_port === undefined || dst_port === dnsPort) ? 'dns' : 'network';

/** The address of the page of events: those of the alert's ends, in its time. */
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

type Figure = number | string | boolean | readonly (number | string)[];
const maxListed = 12;

/** The detector's figures as names and texts. */
export const evidenceFacts = ({ evidence = {} }: Pick<Alert, 'evidence'>): [string, string][] =>
  Object.entries(evidence).map(([name, value]) => [nameOf(name), textOf(name, value)]);

const acronym =
  /\b(asn|dns|http|icmp|id|ip|ips|ja3|ja4|md5|mime|nxdomain|sha256|smb|ssh|tcp|tls|ttl|txt|udp|url)\b/g;

/** What a detector's figure is called; a field of a rule stays as the rule has it. */
const nameOf = (field: string): string =>
  /^[a-z0-9_]+$/.test(field) ? title(words(field).replaceAll(acronym, upper)) : field;

const upper = (text: string): string => text.toUpperCase();

function textOf(name: string, value: Figure): string {
  if (typeof value === 'number') return /(^|_)(port|id|asn)$/.test(name) ? String(value) : decimal(value);
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (typeof value === 'string') return value;
  const rest = value.length - maxListed;
  return value.slice(0, maxListed).join(', ') + (rest > 0 ? ` and ${number(rest)} more` : '');
}
