import type { PeerCertificate } from 'node:tls';
import { omitUndefined } from '../database/omit-undefined.ts';
import { safeHostName, safeText } from './safe-text.ts';

/** Contents of a server certificate, which is not verified. */
export interface Certificate {
  /** Common name of the subject. */
  readonly subject?: string;
  /**
   * Host names in the certificate, at most 16 (RFC 6125: the subject only if there are no alternative names).
   * Wildcards are left out.
   */
  readonly names: readonly string[];
  /** Common name of the issuer, otherwise its organization. */
  readonly issuer?: string;
  /** Start of the validity, ISO 8601. */
  readonly not_before?: string;
  /** End of the validity, ISO 8601. */
  readonly not_after?: string;
  /** SHA-256 of the whole certificate in lowercase hexadecimal. */
  readonly sha256: string;
}

const maxNames = 16;
const maxNameLength = 200;

/** Returns the contents of a certificate; undefined if the server sent none. */
export function certificateOf(peer: PeerCertificate): Certificate | undefined {
  if (typeof peer.fingerprint256 !== 'string') return undefined;
  const subject = textOf(peer.subject?.CN);
  const issuer = textOf(peer.issuer?.CN) ?? textOf(peer.issuer?.O);
  return {
    ...omitUndefined({ subject }),
    names: namesOf(peer.subjectaltname ?? `DNS:${subject ?? ''}`),
    ...omitUndefined({ issuer, not_before: timeOf(peer.valid_from), not_after: timeOf(peer.valid_to) }),
    sha256: peer.fingerprint256.replaceAll(':', '').toLowerCase(),
  };
}

/** Returns the text of a field; the first value if the field is repeated. */
function textOf(value: string | readonly string[] | undefined): string | undefined {
  const first = typeof value === 'string' || value === undefined ? value : value[0];
  return first === undefined ? undefined : safeText(first, maxNameLength);
}

/** Converts a time in OpenSSL's form (`Nov 21 12:00:00 2026 GMT`) to ISO 8601; undefined for other texts. */
function timeOf(text: string | undefined): string | undefined {
  const time = Date.parse(text ?? '');
  return Number.isNaN(time) ? undefined : new Date(time).toISOString();
}

/**
 * Returns the host names in `DNS:a.example, DNS:"b, c", IP Address:…`. Node.js quotes names that contain commas; such
 * names are not host names.
 */
function namesOf(alternatives: string): string[] {
  const names = new Set<string>();
  for (const [, name = ''] of alternatives.slice(0, 16_384).matchAll(/(?:^|, )DNS:([^",\s]{1,255})(?=,|$)/g)) {
    const host = safeHostName(name);
    if (host !== undefined) names.add(host);
    if (names.size === maxNames) break;
  }
  return [...names];
}
