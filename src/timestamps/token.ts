import { constants, createHash, type KeyObject, verify, X509Certificate } from 'node:crypto';
import { type Attribute, ContentInfo, SignedData, type SignerInfo } from '@peculiar/asn1-cms';
import { AsnConvert } from '@peculiar/asn1-schema';
import { TSTInfo, id_ct_tstInfo as tstInfoType } from '@peculiar/asn1-tsp';
import { Certificate, SubjectKeyIdentifier } from '@peculiar/asn1-x509';
import { Set as AsnSet, fromBER, ObjectIdentifier, OctetString, Sequence } from 'asn1js';
import { checkChain, checkTimestampingCertificate } from './certificates.ts';
import { asInteger, sha256Oid } from './request.ts';
import { TimestampError } from './timestamp-error.ts';

export interface Expected {
  /** The hash that the token must be for. */
  readonly sha256: Uint8Array;
  /** The nonce of the request. Absent for a stored token. */
  readonly nonce?: Uint8Array;
}

export interface VerifiedToken {
  /** Time of the timestamp, in epoch milliseconds. */
  readonly genTimeMs: number;
  /** Accuracy of the authority's clock in either direction; 0 if not stated. */
  readonly accuracyMs: number;
  /** Serial number in lowercase hex. */
  readonly serial: string;
  readonly certificate: X509Certificate;
  /** Whether the authority's certificate chains to a trusted certificate. */
  readonly trusted: boolean;
}

const contentTypeAttribute = '1.2.840.113549.1.9.3';
const messageDigestAttribute = '1.2.840.113549.1.9.4';
const signedDataType = '1.2.840.113549.1.7.2';
/**
 * ESSCertID (RFC 2634) identifies the certificate by SHA-1, ESSCertIDv2 (RFC 5035) by SHA-256 unless it names
 * another hash.
 */
const signingCertificates: ReadonlyMap<string, string> = new Map([
  ['1.2.840.113549.1.9.16.2.12', 'sha1'],
  ['1.2.840.113549.1.9.16.2.47', 'sha256'],
]);
/** SHA-1 is excluded: a collision would give two contents the same timestamp. */
const digests: ReadonlyMap<string, string> = new Map([
  [sha256Oid, 'sha256'],
  ['2.16.840.1.101.3.4.2.2', 'sha384'],
  ['2.16.840.1.101.3.4.2.3', 'sha512'],
]);

/**
 * Verifies a TimeStampToken in DER (RFC 3161 section 2.4.2, a CMS SignedData of RFC 5652): its hash, its nonce, and the
 * signature over its signed attributes. The attributes must identify the certificate (RFC 5816), which must be for
 * timestamping and valid at the time in the token. With `trusted`, a chain must lead to one of these certificates.
 *
 * @throws TimestampError
 */
export function verifyToken(
  token: Uint8Array,
  expected: Expected,
  trusted?: readonly X509Certificate[],
): VerifiedToken {
  const { content, info, signer, certificates } = parsed(() => parseToken(token));
  checkInfo(info, expected);
  const certificate = certificates.find((one) => isNamed(one, signer));
  if (certificate === undefined) throw new TimestampError('bad_signature', "the token lacks its signer's certificate");
  parsed(() => checkSignature(signer, content, certificate));
  const genTimeMs = info.genTime.getTime();
  parsed(() => checkTimestampingCertificate(certificate, genTimeMs));
  if (trusted !== undefined) checkChain(certificate, certificates, trusted, genTimeMs);
  const { seconds = 0, millis = 0, micros = 0 } = info.accuracy ?? {};
  return {
    genTimeMs,
    accuracyMs: seconds * 1000 + millis + Math.ceil(micros / 1000),
    serial: Buffer.from(info.serialNumber).toString('hex'),
    certificate,
    trusted: trusted !== undefined,
  };
}

function parseToken(token: Uint8Array) {
  const { contentType, content: signedData } = AsnConvert.parse(token, ContentInfo);
  if (contentType !== signedDataType) throw malformed(`unexpected content type ${contentType}`);
  const { encapContentInfo, certificates, signerInfos } = AsnConvert.parse(signedData, SignedData);
  const octets = encapContentInfo.eContent?.single;
  if (encapContentInfo.eContentType !== tstInfoType || octets === undefined) throw malformed('missing TSTInfo');
  const [signer, ...others] = signerInfos;
  if (signer === undefined || others.length > 0) throw malformed(`${signerInfos.length} signers instead of one`);
  const content = Buffer.from(octets.buffer);
  return {
    content,
    info: AsnConvert.parse(content, TSTInfo),
    signer,
    certificates: (certificates ?? []).flatMap(({ certificate: one }) =>
      one === undefined ? [] : [new X509Certificate(Buffer.from(AsnConvert.serialize(one)))],
    ),
  };
}

function checkInfo({ version, messageImprint, nonce, genTime }: TSTInfo, expected: Expected): void {
  const { hashAlgorithm, hashedMessage } = messageImprint;
  if (version !== 1 || Number.isNaN(genTime.getTime())) throw malformed('unsupported TSTInfo');
  const isSame = hashAlgorithm.algorithm === sha256Oid && Buffer.from(hashedMessage.buffer).equals(expected.sha256);
  if (!isSame) throw new TimestampError('wrong_hash', 'the token is for a different hash');
  if (expected.nonce === undefined) return;
  if (nonce === undefined || !Buffer.from(nonce).equals(Buffer.from(asInteger(expected.nonce))))
    throw new TimestampError('wrong_nonce', 'the token is for a different request');
}

function isNamed(certificate: X509Certificate, { sid }: SignerInfo): boolean {
  const { issuerAndSerialNumber: named, subjectKeyIdentifier: id } = sid;
  const { tbsCertificate } = AsnConvert.parse(certificate.raw, Certificate);
  if (named !== undefined) {
    const issuers = [named.issuer, tbsCertificate.issuer].map((one) => Buffer.from(AsnConvert.serialize(one)));
    const serials = [named.serialNumber, tbsCertificate.serialNumber].map((one) => Buffer.from(one));
    return issuers[0]!.equals(issuers[1]!) && serials[0]!.equals(serials[1]!);
  }
  const own = tbsCertificate.extensions?.find(({ extnID }) => extnID === '2.5.29.14');
  if (id === undefined || own === undefined) return false;
  return Buffer.from(AsnConvert.parse(own.extnValue, SubjectKeyIdentifier).buffer).equals(Buffer.from(id.buffer));
}

/**
 * Checks the signature (RFC 5652 section 5.4). The signature covers the attributes, and the attributes cover the
 * content and the certificate.
 */
function checkSignature(signer: SignerInfo, content: Buffer, certificate: X509Certificate): void {
  const { signedAttrs, digestAlgorithm, signatureAlgorithm, signature } = signer;
  const digest = digests.get(digestAlgorithm.algorithm);
  if (digest === undefined) throw badSignature(`digest algorithm ${digestAlgorithm.algorithm} is not accepted`);
  if (signedAttrs === undefined) throw badSignature('there are no signed attributes');
  const type = fromBER(singleValue(signedAttrs, contentTypeAttribute)).result;
  if (!(type instanceof ObjectIdentifier) || type.valueBlock.toString() !== tstInfoType)
    throw badSignature('the signed content type is not TSTInfo');
  const signedDigest = fromBER(singleValue(signedAttrs, messageDigestAttribute)).result;
  const hash = createHash(digest).update(content).digest();
  if (!(signedDigest instanceof OctetString) || !hash.equals(octets(signedDigest)))
    throw badSignature('the signed digest differs from the TSTInfo');
  checkSigningCertificate(signedAttrs, certificate);
  const { publicKey } = certificate;
  const message = derSet(signedAttrs);
  if (!verifies(signatureAlgorithm.algorithm, digest, message, publicKey, Buffer.from(signature.buffer)))
    throw badSignature('the signature does not verify');
}

/** Encodes the signed bytes: the attributes as a DER SET OF, which is sorted. The token encodes them as [0]. */
function derSet(attributes: readonly Attribute[]): Buffer {
  const sorted = attributes.map((one) => Buffer.from(AsnConvert.serialize(one))).sort(Buffer.compare);
  return Buffer.from(new AsnSet({ value: sorted.map((one) => fromBER(one).result) }).toBER());
}

/** Checks that the first certificate in the attribute is the signer's (RFC 5035 section 5.4). */
function checkSigningCertificate(attributes: readonly Attribute[], certificate: X509Certificate): void {
  const found = attributes.filter(({ attrType }) => signingCertificates.has(attrType));
  if (found.length === 0) throw badSignature('no signed attribute identifies the certificate');
  for (const { attrType, attrValues } of found) {
    const attribute = fromBER(attrValues[0]!).result;
    const named = members(members(members(attribute)[0])[0]);
    const [first, second] = named;
    const algorithm = first instanceof Sequence ? members(first)[0] : undefined;
    const digest =
      algorithm instanceof ObjectIdentifier
        ? digests.get(algorithm.valueBlock.toString())
        : signingCertificates.get(attrType);
    const hash = algorithm === undefined ? first : second;
    const isSame =
      digest !== undefined &&
      hash instanceof OctetString &&
      createHash(digest).update(certificate.raw).digest().equals(octets(hash));
    if (!isSame) throw badSignature('a signed attribute identifies a different certificate');
  }
}

/** Signature algorithms by OID, with the digest if the algorithm implies one. */
const signatures: ReadonlyMap<string, { readonly key: string; readonly digest?: string; readonly pss?: true }> =
  new Map([
    ['1.2.840.113549.1.1.1', { key: 'rsa' }],
    ['1.2.840.113549.1.1.10', { key: 'rsa', pss: true }],
    ['1.2.840.113549.1.1.11', { key: 'rsa', digest: 'sha256' }],
    ['1.2.840.113549.1.1.12', { key: 'rsa', digest: 'sha384' }],
    ['1.2.840.113549.1.1.13', { key: 'rsa', digest: 'sha512' }],
    ['1.2.840.10045.2.1', { key: 'ec' }],
    ['1.2.840.10045.4.3.2', { key: 'ec', digest: 'sha256' }],
    ['1.2.840.10045.4.3.3', { key: 'ec', digest: 'sha384' }],
    ['1.2.840.10045.4.3.4', { key: 'ec', digest: 'sha512' }],
  ]);

function verifies(oid: string, digest: string, message: Buffer, key: KeyObject, signature: Buffer): boolean {
  const algorithm = signatures.get(oid);
  const keyType = key.asymmetricKeyType === 'rsa-pss' ? 'rsa' : key.asymmetricKeyType;
  if (algorithm === undefined || algorithm.key !== keyType)
    throw badSignature(`signature algorithm ${oid} is not accepted for a key of type ${keyType}`);
  if (algorithm.pss) {
    const padding = constants.RSA_PKCS1_PSS_PADDING;
    return verify(digest, message, { key, padding, saltLength: constants.RSA_PSS_SALTLEN_AUTO }, signature);
  }
  return verify(algorithm.digest ?? digest, message, key, signature);
}

/** Returns the value of an attribute that must occur exactly once. */
function singleValue(attributes: readonly Attribute[], type: string): ArrayBuffer {
  const [found, ...others] = attributes.filter(({ attrType }) => attrType === type);
  if (found === undefined || others.length > 0 || found.attrValues.length !== 1)
    throw badSignature(`signed attribute ${type} must occur exactly once`);
  return found.attrValues[0]!;
}

function members(value: unknown): readonly unknown[] {
  return value instanceof Sequence ? value.valueBlock.value : [];
}

function octets(value: OctetString): Uint8Array {
  return value.valueBlock.valueHexView;
}

/** Converts errors of ASN.1 parsers and node:crypto on untrusted bytes into `malformed`. */
function parsed<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof TimestampError) throw error;
    throw malformed((error as Error).message);
  }
}

function malformed(reason: string): TimestampError {
  return new TimestampError('malformed', `the token is malformed: ${reason}`);
}

function badSignature(reason: string): TimestampError {
  return new TimestampError('bad_signature', reason);
}
