import type { X509Certificate } from 'node:crypto';
import { ServiceError } from '../errors.ts';
import type { Principal } from '../store/store.ts';
import type { IdentityReader } from './identities.ts';
import { nameAsStored } from './principal-name.ts';

/**
 * The certificate that a client proved to have the key of, under an authority that the operator named: the TLS
 * handshake has checked both. Nothing in here comes from a header.
 */
export interface ClientCertificate {
  readonly x509: X509Certificate;
  /** Epoch milliseconds, both inclusive (RFC 5280, section 4.1.2.5). */
  readonly validFrom: number;
  readonly validTo: number;
}

/** Names of one certificate that are looked up: real ones have one or two. */
const maxNames = 16;

/**
 * The active principal that a certificate names at `nowMs`. The handshake saw the dates once; connections and resumed
 * sessions outlive it.
 *
 * @throws UNAUTHENTICATED for a certificate that is not valid now, names nobody who is active, or several.
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

/** Reading them takes 10 µs; a certificate is kept by whoever serves its connection. */
const known = new WeakMap<ClientCertificate, readonly string[]>();

/**
 * What a certificate calls its holder: the subject alternative names of the kinds dNSName, uniformResourceIdentifier and
 * rfc822Name; the common names of the subject only where it has no alternative names of any kind, addresses included
 * (RFC 6125, section 6.4.4, is as wide; RFC 9525 knows no common names any more). Each is taken
 * whole and letter by letter; DNS names also in lower case (RFC 4343), so that `Sensor-1.Example` is `sensor-1.example`
 * too. A wildcard is nobody's name. Addresses and other kinds name no principal.
 *
 * @throws UNAUTHENTICATED for more than 16 names, and for a name extension that cannot be read.
 */
export function namesOf(certificate: ClientCertificate): readonly string[] {
  const before = known.get(certificate);
  if (before !== undefined) return before;
  const { subjectAltName } = certificate.x509;
  const names =
    subjectAltName === undefined ? commonNames(certificate.x509) : alternativeNames(subjectAltName);
  if (names.length > maxNames) throw refused(`has more than ${maxNames} names`);
  known.set(certificate, names);
  return names;
}

const kinds: Readonly<Record<string, (value: string) => readonly string[]>> = {
  DNS: (value) => [...new Set([value, value.toLowerCase()])],
  URI: (value) => [value],
  email: (value) => [value],
};

/**
 * One name in Node's text form, `kind:value`. A value with a comma, a quote or anything unusual is written as a JSON
 * string, so that none can pass for several names (CVE-2021-44532).
 */
const altName = /([A-Za-z0-9 ]+):((?:[^",]|"(?:[^"\\]|\\.)*")*)(?:, |$)/y;

function alternativeNames(text: string): string[] {
  const names: string[] = [];
  altName.lastIndex = 0;
  for (let end = 0; end < text.length; end = altName.lastIndex) {
    const [, kind = '', value = ''] = altName.exec(text) ?? [];
    if (kind === '') throw refused('has alternative names that cannot be read');
    if (Object.hasOwn(kinds, kind)) names.push(...kinds[kind]!(unquoted(value)));
  }
  return names.filter((name) => !name.includes('*'));
}

function unquoted(value: string): string {
  if (!value.startsWith('"')) return value;
  try {
    return JSON.parse(value) as string;
  } catch {
    throw refused('has alternative names that cannot be read');
  }
}

function commonNames(x509: X509Certificate): string[] {
  // Node's types know one value; a subject may have several.
  const { CN } = x509.toLegacyObject().subject as { readonly CN?: string | readonly string[] };
  const names = CN === undefined ? [] : typeof CN === 'string' ? [CN] : [...CN];
  return names.filter((name) => !name.includes('*'));
}

const refused = (problem: string) => new ServiceError('UNAUTHENTICATED', `the client certificate ${problem}`);
