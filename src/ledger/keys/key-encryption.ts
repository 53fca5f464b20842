import { CompactEncrypt, compactDecrypt, decodeProtectedHeader, errors } from 'jose';
import { limits } from '../../limits.ts';
import { type KeyFile, KeyFileError } from './key-file.ts';

/**
 * Rounds of PBKDF2-HMAC-SHA512, as recommended by OWASP. Each guess of an attacker, and each key at start-up, takes 0.1
 * s of processor time.
 */
const rounds = 210_000;

/** Thrown if the passphrase is missing or wrong. The message is one line for the operator. */
export class PassphraseError extends Error {
  override readonly name = 'PassphraseError';
}

/**
 * Encrypts the private key as a JWE in compact form (RFC 7517 appendix C): the encryption key is derived from
 * the passphrase by PBES2-HS512+A256KW (RFC 7518, section 4.8), the content is encrypted with A256GCM.
 */
export function encryptPrivate(
  { kid, x }: Pick<KeyFile, 'kid' | 'x'>,
  d: string,
  passphrase: string,
  p2c = rounds,
): Promise<string> {
  const jwk = JSON.stringify({ kty: 'OKP', crv: 'Ed25519', kid, x, d });
  return new CompactEncrypt(new TextEncoder().encode(jwk))
    .setProtectedHeader({ alg: 'PBES2-HS512+A256KW', enc: 'A256GCM', cty: 'jwk+json' })
    .setKeyManagementParameters({ p2c })
    .encrypt(octets(passphrase));
}

/**
 * Decrypts the member `d` of the private key.
 *
 * @throws PassphraseError for a wrong passphrase; KeyFileError if `encryptPrivate` cannot have written the
 * JWE for this key
 */
export async function decryptPrivate(file: KeyFile, jwe: string, passphrase: string): Promise<string> {
  checkHeader(jwe);
  const { plaintext } = await compactDecrypt(jwe, octets(passphrase), {
    keyManagementAlgorithms: ['PBES2-HS512+A256KW'],
    contentEncryptionAlgorithms: ['A256GCM'],
    maxPBES2Count: limits.maxKeyDerivationRounds,
  }).catch((error: unknown) => {
    if (error instanceof errors.JWEDecryptionFailed) throw wrongPassphrase(file.kid);
    if (error instanceof errors.JOSEError)
      throw new KeyFileError(`svc_encrypted is not a JWE of a key (${error.message})`);
    throw error;
  });
  const jwk: unknown = JSON.parse(new TextDecoder().decode(plaintext));
  const { kid, x, d } = jwk as Record<string, unknown>;
  if (kid !== file.kid || x !== file.x || typeof d !== 'string') {
    throw new KeyFileError('svc_encrypted does not contain the private part of this key');
  }
  return d;
}

export function noPassphrase(): PassphraseError {
  return new PassphraseError('the private keys are encrypted; set CANDOR_KEY_PASSPHRASE to their passphrase');
}

function wrongPassphrase(kid: string): PassphraseError {
  return new PassphraseError(
    `CANDOR_KEY_PASSPHRASE cannot decrypt the private key ${kid}: the keys were encrypted with another passphrase`,
  );
}

/** Limits the rounds separately, because jose reports too many rounds as a wrong passphrase. */
function checkHeader(jwe: string): void {
  let rounds: unknown;
  try {
    rounds = decodeProtectedHeader(jwe).p2c;
  } catch {
    throw new KeyFileError('svc_encrypted is not a JWE');
  }
  if (typeof rounds !== 'number' || rounds > limits.maxKeyDerivationRounds) {
    throw new KeyFileError(
      `svc_encrypted requires ${String(rounds)} rounds of key derivation (maximum: ${limits.maxKeyDerivationRounds})`,
    );
  }
}

/** Encodes the NFC form as UTF-8, so that the bytes do not depend on the keyboard (RFC 8265, section 4.2). */
function octets(passphrase: string): Uint8Array {
  return new TextEncoder().encode(passphrase.normalize('NFC'));
}
