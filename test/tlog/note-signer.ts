import { generateKeyPairSync, sign } from 'node:crypto';
import { verifyEd25519 } from '../../src/client/ed25519.ts';
import { cosignedMessage, encodeCosignature } from '../../src/tlog/cosignature.ts';
import { type NoteSignature, signatureTypes, type VerifierKey, verifierKey } from '../../src/tlog/note.ts';
import { sha256 } from './oracle.ts';

/** A key that signs notes. */
export interface NoteSigner {
  readonly key: VerifierKey;
  sign(text: string): NoteSignature;
}

export function noteSigner(name: string): NoteSigner {
  const { key, signBytes } = ed25519(name, signatureTypes.ed25519);
  return {
    key,
    sign: (text) => ({ name, keyId: key.keyId, signature: signBytes(new TextEncoder().encode(text)) }),
  };
}

export function cosigner(name: string, timeS: number): NoteSigner {
  const { key, signBytes } = ed25519(name, signatureTypes.cosignature);
  return {
    key,
    sign: (text) => ({
      name,
      keyId: key.keyId,
      signature: encodeCosignature(timeS, signBytes(cosignedMessage(timeS, text))),
    }),
  };
}

export const verify = verifyEd25519;

function ed25519(name: string, type: number) {
  const pair = generateKeyPairSync('ed25519');
  const publicKey = new Uint8Array(Buffer.from(pair.publicKey.export({ format: 'jwk' }).x!, 'base64url'));
  return {
    key: verifierKey(sha256, name, type, publicKey),
    signBytes: (bytes: Uint8Array) => new Uint8Array(sign(null, bytes, pair.privateKey)),
  };
}
