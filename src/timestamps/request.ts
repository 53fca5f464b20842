import { AsnConvert, OctetString } from '@peculiar/asn1-schema';
import { MessageImprint, PKIStatus, TimeStampReq, TimeStampResp } from '@peculiar/asn1-tsp';
import { AlgorithmIdentifier } from '@peculiar/asn1-x509';
import { TimestampError } from './timestamp-error.ts';

export const sha256Oid = '2.16.840.1.101.3.4.2.1';

/**
 * Encodes a TimeStampReq (RFC 3161 section 2.4.1) in DER for a SHA-256 hash. The request asks for the authority's
 * certificates.
 */
export function timestampRequest(sha256: Uint8Array, nonce: Uint8Array): Uint8Array {
  const hashAlgorithm = new AlgorithmIdentifier({ algorithm: sha256Oid, parameters: null });
  const request = new TimeStampReq({
    messageImprint: new MessageImprint({ hashAlgorithm, hashedMessage: new OctetString(sha256) }),
    nonce: asInteger(nonce),
    certReq: true,
  });
  return new Uint8Array(AsnConvert.serialize(request));
}

/**
 * Extracts the token from a TimeStampResp in DER.
 *
 * @throws TimestampError malformed, not_granted
 */
export function tokenOf(answer: Uint8Array): Uint8Array {
  const { status, timeStampToken } = parse(answer);
  if (status.status !== PKIStatus.granted && status.status !== PKIStatus.grantedWithMods) {
    const texts = (status.statusString ?? []).map((text) => String(text)).join(' ');
    throw new TimestampError('not_granted', `status ${PKIStatus[status.status] ?? status.status} ${texts}`.trim());
  }
  if (timeStampToken === undefined) throw new TimestampError('malformed', 'the response has no token');
  return new Uint8Array(AsnConvert.serialize(timeStampToken));
}

function parse(answer: Uint8Array): TimeStampResp {
  try {
    return AsnConvert.parse(answer, TimeStampResp);
  } catch (error) {
    throw new TimestampError('malformed', `the response is not a TimeStampResp: ${(error as Error).message}`);
  }
}

/** Encodes the content bytes of a positive INTEGER, without leading zeros. */
export function asInteger(bytes: Uint8Array): ArrayBuffer {
  const from = bytes.findIndex((byte) => byte !== 0);
  const digits = from < 0 ? Uint8Array.of(0) : bytes.slice(from);
  return Uint8Array.from(digits[0]! >= 0x80 ? [0, ...digits] : digits).buffer;
}
