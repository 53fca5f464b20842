import type { PeerCertificate } from 'node:tls';
import { safeHostName, safeText } from './safe-text.ts';

/** What a server's certificate says. Nobody has checked whether it is true. */
export interface Certificate {
  /** Common name of the subject. */
  readonly subject?: string;
  /**
   * Host names that it is for (RFC 6125: the subject only where there are no others), at most 16; wildcards are left
   * out.
   */
  readonly names: readonly string[];
  /** Common name of the issuer, else its organization. */
  readonly issuer?: string;
  /** ISO 8601. */
  readonly not_before?: string;
  readonly not_after?: string;
  /** Of the whole certificate: lowercase hexadecimal. */
  readonly sha256: string;
}

const maxNames = 16;
const maxNameLength = 200;

/** Undefined where the server showed none. */
export function certificateOf(peer: PeerCertificate): Certificate | undefined {
  if (typeof peer.fingerprint256 !== 'string') return undefined;
  const subject = textOf(peer.subject?.CN);
  const issuer = textOf(peer.issuer?.CN) ?? textOf(peer.issuer?.O);
  const [notBefore, notAfter] = [timeOf(peer.valid_from), timeOf(peer.valid_to)];
  return {
    ...(subject === undefined ? {} : { subject }),
    names: namesOf(peer.subjectaltname ?? `DNS:${subject ?? ''}`),
    ...(issuer === undefined ? {} : { issuer }),
    ...(notBefore === undefined ? {} : { not_before: notBefore }),
    ...(notAfter === undefined ? {} : { not_after: notAfter }),
    sha256: peer.fingerprint256.replaceAll(':', '').toLowerCase(),
  };
}

/** Fields that occur more than once come as a list. */
function textOf(value: string | readonly string[] | undefined): string | undefined {
  const first = typeof value === 'string' || value === undefined ? value : value[0];
  return first === undefined ? undefined : safeText(first, maxNameLength);
}

/** OpenSSL writes `Nov 21 12:00:00 2026 GMT`. */
function timeOf(text: string | undefined): string | undefined {
  const time = Date.parse(text ?? '');
  return Number.isNaN(time) ? undefined : new Date(time).toISOString();
}

/** `DNS:a.example, DNS:"b, c", IP Address:…`: Node quotes names with commas in them, which are none of a host. */
function namesOf(alternatives: string): string[] {
  const names = new Set<string>();
  for (const [, name = ''] of alternatives
    .slice(0, 16_384)
    .matchAll(/(?:^|, )DNS:([^",\s]{1,255})(?=,|$)/g)) {
    const host = safeHostName(name);
    if (host !== undefined) names.add(host);
    if (names.size === maxNames) break;
  }
  return [...names];
}
