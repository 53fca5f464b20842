import type { X509Certificate } from 'node:crypto';
import { ServiceError } from '../errors.ts';
import type { Principal } from '../store/store.ts';
import type { IdentityReader } from './identities.ts';
import { nameAsStored } from './principal-name.ts';

/**
 * A client certificate from the TLS handshake, which has verified that the client has its key and that a
 * configured authority issued it. No part of it comes from a header.
 */
export interface ClientCertificate {
  readonly x509: X509Certificate;
  /** First valid time, epoch milliseconds, inclusive (RFC 5280, section 4.1.2.5). */
  readonly validFrom: number;
  /** Last valid time, epoch milliseconds, inclusive. */
  readonly validTo: number;
}

/** Maximum number of names per certificate; real certificates have one or two. */
const maxNames = 16;

/**
 * Returns the active principal that a certificate names at `nowMs`. The dates are checked again because
 * connections and resumed sessions outlive the check in the handshake.
 *
 * @throws UNAUTHENTICATED for a certificate that is not valid at `nowMs`, or that does not name exactly one
 * active principal
 */
export function certificatePrincipal(
  reader: Pick<IdentityReader, 'principalByName'>,
  certificate: ClientCertificate,
  nowMs: number,
): Principal {
  if (!(nowMs >= certificate.validFrom && nowMs <= certificate.validTo)) throw refused('is not valid now');
  const found = new Map<string, Principal>();
  for (const name of namesOf(certificate)) {
    const principal = reader.principalByName(nameAsStored(name));
    if (principal !== undefined) found.set(principal.id, principal);
  }
  const [principal] = found.values();
  if (found.size > 1) throw refused('names several principals');
  if (principal?.status !== 'active') throw refused('names no active principal');
  return principal;
}

/**
 * Cached names by certificate, because parsing takes 10 µs. An entry is kept until its connection ends, because
 * the connection holds the certificate.
 */
const namesByCertificate = new WeakMap<ClientCertificate, readonly string[]>();

/**
 * Returns the names in a certificate: the subject alternative names of the kinds dNSName, uniformResourceIdentifier and
 * rfc822Name. The common names of the subject are used only if the certificate has no alternative names of any kind,
 * not even addresses (as in RFC 6125, section 6.4.4; RFC 9525 no longer allows common names). Names are compared
 * exactly; DNS names are also looked up in lower case (RFC 4343), so that `Sensor-1.Example` matches
 * `sensor-1.example`. Wildcards, addresses and other kinds of names are ignored.
 *
 * @throws UNAUTHENTICATED for more than 16 names, and for a name extension that cannot be parsed.
 */
export function namesOf(certificate: ClientCertificate): readonly string[] {
  const before = namesByCertificate.get(certificate);
  if (before !== undefined) return before;
  const { subjectAltName } = certificate.x509;
  const names = subjectAltName === undefined ? commonNames(certificate.x509) : alternativeNames(subjectAltName);
  if (names.length > maxNames) throw refused(`has more than ${maxNames} names`);
  namesByCertificate.set(certificate, names);
  return names;
}

const kinds: Readonly<Record<string, (value: string) => readonly string[]>> = {
  DNS: (value) => [...new Set([value, value.toLowerCase()])],
  URI: (value) => [value],
  email: (value) => [value],
};

/**
 * Pattern of a name in the text form of Node.js, `kind:value`. A value with a comma, a quote or unusual
 * characters is quoted as a JSON string, so that one name cannot be read as several names (CVE-2021-44532).
 */
const altName = /([A-Za-z0-9 ]+):((?:[^",]|"(?:[^"\\]|\\.)*")*)(?:, |$)/y;

function alternativeNames(text: string): string[] {
  const names: string[] = [];
  altName.lastIndex = 0;
  for (let end = 0; end < text.length; end = altName.lastIndex) {
    const [, kind = '', value = ''] = altName.exec(text) ?? [];
    if (kind === '') throw refused('has alternative names that cannot be parsed');
    if (Object.hasOwn(kinds, kind)) names.push(...kinds[kind]!(unquoted(value)));
  }
  return names.filter((name) => !name.includes('*'));
}

function unquoted(value: string): string {
  if (!value.startsWith('"')) return value;
  try {
    return JSON.parse(value) as string;
  } catch {
    throw refused('has alternative names that cannot be parsed');
  }
}

function commonNames(x509: X509Certificate): string[] {
  // Node.js's types declare one value, but a subject may have several common names.
  const { CN } = x509.toLegacyObject().subject as { readonly CN?: string | readonly string[] };
  const names = CN === undefined ? [] : typeof CN === 'string' ? [CN] : [...CN];
  return names.filter((name) => !name.includes('*'));
}

const refused = (problem: string) => new ServiceError('UNAUTHENTICATED', `the client certificate ${problem}`);
