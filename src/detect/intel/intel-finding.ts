import { type Severity, severities } from '../../contract/vocabulary.ts';
import type { Finding } from '../../events/finding.ts';
import type { IntelHit } from './intel-matcher.ts';

/**
 * Which part of an event is on a list: an end of a connection, the name that was looked up, an answer to the lookup, or
 * the host that a client named in a TLS handshake or an HTTP request.
 */
export type BadPart = 'src' | 'dst' | 'domain' | 'answer' | 'server_name' | 'http_host';

/** The event in which it was met. */
export interface IntelContact {
  readonly bad: BadPart;
  /** Event time, epoch milliseconds. */
  readonly timestamp: number;
  readonly src_ip?: string;
  readonly src_port?: number;
  readonly dst_ip?: string;
  readonly dst_port?: number;
  readonly transport?: string;
  /** The part that is on the list, where it is neither an end nor `domain`. */
  readonly seen?: string;
  /** The name as it was asked for, where it was. */
  readonly domain?: string;
  readonly direction?: 'inbound' | 'outbound' | 'internal' | 'external';
  /** Whether the other end sent anything back. */
  readonly answered: boolean;
  readonly event?: Finding['event'];
}

/** Its end that is on the list, in words. */
const contacts: Readonly<Record<BadPart, (answered: boolean) => string>> = {
  src: (answered) => (answered ? 'Answered a known-bad address' : 'Probed by a known-bad address'),
  dst: (answered) => (answered ? 'Contact with a known-bad address' : 'Attempt to reach a known-bad address'),
  domain: () => 'Lookup of a known-bad domain',
  answer: () => 'DNS answer with a known-bad address or domain',
  server_name: (answered) =>
    answered ? 'TLS connection to a known-bad host' : 'TLS request for a known-bad host',
  http_host: () => 'HTTP request for a known-bad host',
};

/**
 * What use of a known-bad address or name is as a finding. Who looks such a name up, tries to reach such an address or
 * answers one may be compromised: that has the severity of the list, one step less where the list names a page of the
 * host and not the host. What comes from such an address and gets no answer is what every network meets: low at most.
 */
export function intelFinding(hit: IntelHit, contact: IntelContact): Finding {
  const { bad, answered, direction, event, timestamp, seen = seenOf(contact), ...ends } = contact;
  const { list_id, list_name, indicator, confidence, valid_until, label, page } = hit;
  const rule = `intel.${list_id}`;
  const said = label === undefined ? '' : `, as ${label}`;
  const title = `${contacts[bad](answered)}: ${indicator} (${list_name})`;
  const about = page
    ? 'a page of this host'
    : seen === undefined || seen === indicator
      ? 'it'
      : `${seen} as ${indicator}`;
  return {
    rule_id: rule,
    rule_name: list_name,
    rule_source: 'intel',
    title,
    description: `The list ${list_name} names ${about}${said}.`,
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
