import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { importPublicKey } from '../crypto/ed25519.ts';
import { sha256 } from '../crypto/sha256.ts';
import { replaceFile } from '../files/durable-file.ts';
import { ifPresent } from '../files/if-present.ts';
import { cosignedMessage, encodeCosignature } from '../tlog/cosignature.ts';
import { TlogError } from '../tlog/fault.ts';
import { type NoteSignature, signatureTypes, type VerifierKey, verifierKey } from '../tlog/note.ts';

/** A state folder that can't be used. The message has the file, the problem and the remedy. */
export class WitnessStateError extends Error {
  override readonly name = 'WitnessStateError';
}

/** The key of a witness. It signs only cosignatures, and its name never changes. */
export class WitnessKey {
  readonly public: VerifierKey;
  readonly #private: KeyObject;

  constructor(name: string, privateKey: KeyObject) {
    const { x } = createPublicKey(privateKey).export({ format: 'jwk' });
    const raw = new Uint8Array(Buffer.from(x ?? '', 'base64url'));
    if (importPublicKey(raw) === undefined) throw new WitnessStateError('the key is not a valid Ed25519 key');
    this.public = verifierKey(sha256, name, signatureTypes.cosignature, raw);
    this.#private = privateKey;
  }

  /**
   * Cosigns a checkpoint: states that at `timeS` its tree was the largest tree seen, and consistent with all other
   * trees seen.
   */
  cosign(timeS: number, noteText: string): NoteSignature {
    const signature = sign(null, cosignedMessage(timeS, noteText), this.#private);
    const { name, keyId } = this.public;
    return { name, keyId, signature: encodeCosignature(timeS, signature) };
  }
}

/**
 * Opens the key file: a private JWK (RFC 8037) of mode 0600 with the name of the witness. A missing file is created,
 * which requires a name. A given name must match the file: the signed message does not contain the name, so a key under
 * two names would count as two witnesses.
 */
export async function openWitnessKey(path: string, name: string | undefined): Promise<WitnessKey> {
  const text = await ifPresent(readFile(path, 'utf8'));
  if (text === undefined) return makeKey(path, name);
  const { named, jwk } = parseKeyFile(path, text);
  if (name !== undefined && name !== named) {
    throw new WitnessStateError(`${path} is the key of ${named}, not of ${name}; a key cannot be renamed`);
  }
  return importKey(path, named, jwk);
}

async function makeKey(path: string, name: string | undefined): Promise<WitnessKey> {
  if (name === undefined) throw new WitnessStateError(`${path} does not exist; pass --name to create a key`);
  const { privateKey } = generateKeyPairSync('ed25519');
  const key = named(name, () => new WitnessKey(name, privateKey));
  const { x, d } = privateKey.export({ format: 'jwk' });
  const jwk = { kty: 'OKP', crv: 'Ed25519', x, d, use: 'sig', alg: 'EdDSA', svc_purpose: 'witness', name };
  await replaceFile(path, `${JSON.stringify(jwk)}\n`, { mode: 0o600 });
  return key;
}

function parseKeyFile(path: string, text: string): { named: string; jwk: { x: string; d: string } } {
  let jwk: Record<string, unknown> | null | undefined;
  try {
    jwk = JSON.parse(text);
  } catch {
    jwk = undefined;
  }
  const { kty, crv, x, d, svc_purpose, name } = jwk ?? {};
  const whole = kty === 'OKP' && crv === 'Ed25519' && typeof x === 'string' && typeof d === 'string';
  if (!whole || svc_purpose !== 'witness' || typeof name !== 'string') throw damaged(path);
  return { named: name, jwk: { x, d } };
}

function importKey(path: string, name: string, jwk: { x: string; d: string }): WitnessKey {
  let privateKey: KeyObject;
  try {
    privateKey = createPrivateKey({ key: { kty: 'OKP', crv: 'Ed25519', ...jwk }, format: 'jwk' });
  } catch {
    throw damaged(path);
  }
  // OpenSSL derives the public key from d and ignores x.
  if (privateKey.export({ format: 'jwk' }).x !== jwk.x) throw damaged(path);
  return named(name, () => new WitnessKey(name, privateKey));
}

function named(name: string, make: () => WitnessKey): WitnessKey {
  try {
    return make();
  } catch (error) {
    if (!(error instanceof TlogError)) throw error;
    throw new WitnessStateError(`${JSON.stringify(name)} is not a valid key name: ${error.message}`);
  }
}

function damaged(path: string): WitnessStateError {
  return new WitnessStateError(`${path} is damaged; restore it from a copy, or create a new witness in another folder`);
}
