import { type Severity, severities } from '../../contract/vocabulary.ts';
import type { Finding } from '../../events/finding.ts';
import type { IntelHit } from './intel-matcher.ts';

/**
 * The part of an event that is on a list: an address of a connection, the looked-up name, an answer to the look-up,
 * or the host named by the client in a TLS handshake or an HTTP request.
 */
export type BadPart = 'src' | 'dst' | 'domain' | 'answer' | 'server_name' | 'http_host';

/** The event that contains the indicator. */
export interface IntelContact {
  readonly bad: BadPart;
  /** Event time, epoch milliseconds. */
  readonly timestamp: number;
  readonly src_ip?: string;
  readonly src_port?: number;
  readonly dst_ip?: string;
  readonly dst_port?: number;
  readonly transport?: string;
  /** The part that is on the list, unless it is `src`, `dst` or `domain`. */
  readonly seen?: string;
  /** The looked-up name, if any. */
  readonly domain?: string;
  readonly direction?: 'inbound' | 'outbound' | 'internal' | 'external';
  /** True if the responder answered. */
  readonly answered: boolean;
  readonly event?: Finding['event'];
}

/** Titles by the part that is on the list. */
const contacts: Readonly<Record<BadPart, (answered: boolean) => string>> = {
  src: (answered) => (answered ? 'Answered a known-bad address' : 'Probed by a known-bad address'),
  dst: (answered) => (answered ? 'Contact with a known-bad address' : 'Attempt to reach a known-bad address'),
  domain: () => 'Lookup of a known-bad domain',
  answer: () => 'DNS answer with a known-bad address or domain',
  server_name: (answered) => (answered ? 'TLS connection to a known-bad host' : 'TLS request for a known-bad host'),
  http_host: () => 'HTTP request for a known-bad host',
};

/**
 * Creates the finding about a known-bad address or name. A host that looks up such a name, connects to such an address
 * or answers a connection from such an address may be compromised. The finding therefore has the severity of the list,
 * or one level less if the list names only a URL of the host. Unanswered connections from listed addresses reach every
 * network, so their severity is at most low.
 */
export function intelFinding(hit: IntelHit, contact: IntelContact): Finding {
  const { bad, answered, direction, event, timestamp, seen = seenOf(contact), ...ends } = contact;
  const { list_id, list_name, indicator, confidence, valid_until, label, page } = hit;
  const rule = `intel.${list_id}`;
  const said = label === undefined ? '' : `, labelled ${label}`;
  const title = `${contacts[bad](answered)}: ${indicator} (${list_name})`;
  const about = page
    ? 'a URL of this host'
    : seen === undefined || seen === indicator
      ? 'this indicator'
      : `${seen} as ${indicator}`;
  return {
    rule_id: rule,
    rule_name: list_name,
    rule_source: 'intel',
    title,
    description: `The list ${list_name} contains ${about}${said}.`,
    category: 'known-bad',
    severity: severityOf(hit, contact),
    ...(confidence === undefined ? {} : { confidence }),
    timestamp,
    ...ends,
    about: indicator,
    evidence: {
      indicator,
      list: list_name,
      part: bad,
      answered,
      ...(direction === undefined ? {} : { direction }),
      ...(label === undefined ? {} : { label }),
      ...(valid_until === undefined ? {} : { valid_until: new Date(valid_until).toISOString() }),
      ...(page ? { names_a_page: true } : {}),
    },
    ...(event === undefined ? {} : { event }),
  };
}

const seenOf = ({ bad, domain, src_ip, dst_ip }: IntelContact): string | undefined =>
  bad === 'src' ? src_ip : bad === 'dst' ? dst_ip : domain;

function severityOf({ severity, page }: IntelHit, { bad, answered }: IntelContact): Severity {
  const listed = severities.indexOf(severity);
  if (bad === 'src' && !answered) return severities[Math.min(listed, severities.indexOf('low'))]!;
  return severities[page ? Math.max(0, listed - 1) : listed]!;
}
