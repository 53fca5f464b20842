import { createHash, randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ContentInfo, SignedData } from '@peculiar/asn1-cms';
import { AsnConvert } from '@peculiar/asn1-schema';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parseCertificates, readCertificates } from '../../src/timestamps/certificates.ts';
import { timestampRequest, tokenOf } from '../../src/timestamps/request.ts';
import { TimestampError, type TimestampFault } from '../../src/timestamps/timestamp-error.ts';
import { verifyToken } from '../../src/timestamps/token.ts';
import { flip } from '../tlog/faults.ts';
import { Authority } from './authority.ts';

const sha256 = (text: string) => new Uint8Array(createHash('sha256').update(text).digest());
const hash = sha256('a checkpoint');
const nonce = Uint8Array.from([0, 0x80, 1, 2, 3, 4, 5, 6]);

function faultOf(run: () => unknown): TimestampFault | 'none' {
  try {
    run();
    return 'none';
  } catch (error) {
    if (error instanceof TimestampError) return error.fault;
    throw error;
  }
}

describe('an RFC 3161 token of openssl', () => {
  let authority: Authority;
  let token: Uint8Array;
  let root: ReturnType<typeof parseCertificates>;
  const certificatesOf = (name: string) => parseCertificates(readFileSync(join(authority.folder, name), 'utf8'));

  beforeAll(() => {
    authority = new Authority();
    token = tokenOf(authority.reply(timestampRequest(hash, nonce)));
    root = certificatesOf('ca.pem');
  });
  afterAll(() => authority.close());

  test('verifies against the CA certificate or the signer’s own certificate, and returns the signing time', () => {
    const verified = verifyToken(token, { sha256: hash, nonce }, root);
    expect(Math.abs(verified.genTimeMs - Date.now())).toBeLessThan(60_000);
    expect(verified).toMatchObject({ accuracyMs: 1500, trusted: true });
    expect(verified.certificate.subject).toBe('CN=Test tsa');
    expect(verifyToken(token, { sha256: hash }, certificatesOf('tsa.pem')).trusted).toBe(true);
    expect(verifyToken(token, { sha256: hash }).trusted).toBe(false);
  });

  test.each(['sha256', 'sha384', 'sha512'])('verifies when RSA signs it with %s', (digest) => {
    authority.issue('rsa', { key: 'rsa' });
    const signed = authority.sign(infoOf(token), 'rsa', ['-cades', '-md', digest]);
    expect(verifyToken(signed, { sha256: hash }, root).certificate.subject).toBe('CN=Test rsa');
  });

  test('verifies when RSA signs with PSS', () => {
    authority.issue('pss', { key: 'rsa' });
    const signed = authority.sign(infoOf(token), 'pss', ['-cades', '-keyopt', 'rsa_padding_mode:pss']);
    expect(verifyToken(signed, { sha256: hash }, root).trusted).toBe(true);
  });

  test('is rejected for another hash, another nonce and another issuer', () => {
    const other = new Authority();
    try {
      const otherRoot = parseCertificates(readFileSync(other.ca, 'utf8'));
      expect(faultOf(() => verifyToken(token, { sha256: sha256('other'), nonce }, root))).toBe('wrong_hash');
      expect(faultOf(() => verifyToken(token, { sha256: hash, nonce: randomBytes(8) }, root))).toBe('wrong_nonce');
      expect(faultOf(() => verifyToken(token, { sha256: hash }, otherRoot))).toBe('untrusted');
      expect(faultOf(() => verifyToken(token, { sha256: hash }, []))).toBe('untrusted');
    } finally {
      other.close();
    }
  });

  test.each([
    ['for another purpose', { eku: 'critical,codeSigning' }],
    ['for two purposes', { eku: 'critical,timeStamping,codeSigning' }],
    ['whose purpose is not critical', { eku: 'timeStamping' }],
    ['that had expired', { until: '20200101000000Z' }],
  ])('is rejected if signed by a certificate %s', (_, issued) => {
    authority.issue('wrong', issued);
    const signed = authority.sign(infoOf(token), 'wrong');
    expect(faultOf(() => verifyToken(signed, { sha256: hash }, root))).toBe('bad_certificate');
    expect(faultOf(() => verifyToken(signed, { sha256: hash }))).toBe('bad_certificate');
  });

  test('is rejected if no signed attribute names the certificate', () => {
    authority.issue('unnamed');
    const signed = authority.sign(infoOf(token), 'unnamed', []);
    expect(faultOf(() => verifyToken(signed, { sha256: hash }, root))).toBe('bad_signature');
  });

  test('is rejected if the signature is for different content', () => {
    const other = tokenOf(authority.reply(timestampRequest(sha256('other'), nonce)));
    const mixed = withContent(token, infoOf(other));
    expect(faultOf(() => verifyToken(mixed, { sha256: sha256('other') }, root))).toBe('bad_signature');
  });

  test('never verifies with another time or hash after a bit flip, and throws only TimestampError', () => {
    const { genTimeMs, serial } = verifyToken(token, { sha256: hash, nonce }, root);
    for (let n = 0; n < 400; n++) {
      const changed = flip(token, n);
      const fault = faultOf(() => {
        expect(verifyToken(changed, { sha256: hash, nonce }, root)).toMatchObject({ genTimeMs, serial });
      });
      expect(fault).toBeTypeOf('string');
    }
    for (const length of [0, 1, 2, 100, token.length - 1])
      expect(faultOf(() => verifyToken(token.slice(0, length), { sha256: hash }, root))).toBe('malformed');
  });

  test('is not found in a response that rejects the request, or is malformed', () => {
    const unaccepted = timestampRequest(new Uint8Array(20), nonce);
    expect(faultOf(() => tokenOf(authority.reply(unaccepted)))).toBe('not_granted');
    for (const garbage of [new Uint8Array(0), Uint8Array.of(0x30, 0x80), Buffer.from('<html>'), randomBytes(2000)])
      expect(faultOf(() => tokenOf(garbage))).toBe('malformed');
  });

  test('a file without a certificate is rejected', () => {
    const absent = join(authority.folder, 'absent.pem');
    expect(() => readCertificates(absent)).toThrow(
      /^timestamps\.ca_file: cannot load .*absent\.pem: it cannot be read \(ENOENT\)/,
    );
    expect(() => parseCertificates('none here')).toThrow('no PEM certificate found');
    expect(() => parseCertificates('-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----')).toThrow();
  });
});

/** Returns the TSTInfo in a token. */
function infoOf(token: Uint8Array): Uint8Array {
  const { content } = AsnConvert.parse(token, ContentInfo);
  return new Uint8Array(AsnConvert.parse(content, SignedData).encapContentInfo.eContent!.single!.buffer);
}

function withContent(token: Uint8Array, info: Uint8Array): Uint8Array {
  const whole = AsnConvert.parse(token, ContentInfo);
  const signed = AsnConvert.parse(whole.content, SignedData);
  signed.encapContentInfo.eContent!.single!.buffer = Uint8Array.from(info).buffer;
  whole.content = AsnConvert.serialize(signed);
  return new Uint8Array(AsnConvert.serialize(whole));
}
