import { X509Certificate } from 'node:crypto';
import { AsnConvert } from '@peculiar/asn1-schema';
import {
  Certificate,
  ExtendedKeyUsage,
  id_ce_extKeyUsage as extKeyUsage,
  id_kp_timeStamping as timeStamping,
} from '@peculiar/asn1-x509';
import { readFile } from '../files/read-file.ts';
import { TimestampError } from './timestamp-error.ts';

/** Maximum bytes of a PEM file; a certificate takes about 2 kB. */
const maxFileBytes = 2 ** 20;

/** Maximum certificates in a chain. Typical chains have three: authority, intermediate and root. */
const maxChain = 8;

/**
 * Parses the certificates in a PEM file.
 *
 * @throws Error if there is no certificate, or a certificate is not valid
 */
export function parseCertificates(pem: string): X509Certificate[] {
  const blocks = pem.match(/-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g) ?? [];
  if (blocks.length === 0) throw new Error('no PEM certificate found');
  return blocks.map((block) => new X509Certificate(block));
}

/**
 * Reads the certificates in a PEM file.
 *
 * @throws Error that names the setting
 */
export function readCertificates(path: string): X509Certificate[] {
  try {
    return parseCertificates(new TextDecoder().decode(readFile(path, maxFileBytes).bytes));
  } catch (error) {
    throw new Error(`timestamps.ca_file: cannot load ${path}: ${(error as Error).message}; set it to a PEM file`);
  }
}

/**
 * Checks that the certificate may sign timestamps (RFC 3161 section 2.3: a critical extended key usage with only
 * timeStamping), and was valid at `atMs`.
 *
 * @throws TimestampError bad_certificate
 */
export function checkTimestampingCertificate(certificate: X509Certificate, atMs: number): void {
  const { tbsCertificate } = AsnConvert.parse(certificate.raw, Certificate);
  const usage = tbsCertificate.extensions?.filter(({ extnID }) => extnID === extKeyUsage) ?? [];
  const purposes = usage.flatMap(({ extnValue }) => [...AsnConvert.parse(extnValue, ExtendedKeyUsage)]);
  const isFor = usage.length === 1 && usage[0]!.critical && purposes.length === 1 && purposes[0] === timeStamping;
  if (!isFor)
    throw new TimestampError(
      'bad_certificate',
      `${nameOf(certificate)}: its extended key usage must be critical and only timeStamping`,
    );
  checkValidity(certificate, atMs);
}

/**
 * Checks that a chain leads from the certificate to a certificate in `trusted`, possibly the certificate itself.
 * `others` are the certificates in the token. Revocation, name constraints and policies are not checked.
 *
 * @throws TimestampError untrusted, bad_certificate
 */
export function checkChain(
  certificate: X509Certificate,
  others: readonly X509Certificate[],
  trusted: readonly X509Certificate[],
  atMs: number,
): void {
  let current = certificate;
  for (let length = 0; length < maxChain; length++) {
    checkValidity(current, atMs);
    if (trusted.some(({ raw }) => raw.equals(current.raw))) return;
    const issuer = [...trusted, ...others].find((one) => isIssuer(one, current));
    if (issuer === undefined || issuer.raw.equals(current.raw)) break;
    current = issuer;
  }
  throw new TimestampError('untrusted', `${nameOf(certificate)} does not chain to a trusted certificate`);
}

function isIssuer(issuer: X509Certificate, certificate: X509Certificate): boolean {
  return issuer.ca && certificate.checkIssued(issuer) && certificate.verify(issuer.publicKey);
}

function checkValidity(certificate: X509Certificate, atMs: number): void {
  const { validFrom, validTo } = certificate;
  if (atMs >= Date.parse(validFrom) && atMs <= Date.parse(validTo)) return;
  const at = new Date(atMs).toISOString();
  throw new TimestampError(
    'bad_certificate',
    `${nameOf(certificate)} is valid from ${validFrom} to ${validTo}, but not at ${at}`,
  );
}

/** Returns the subject in one line. */
export function nameOf({ subject }: X509Certificate): string {
  return subject.replaceAll('\n', ', ');
}
