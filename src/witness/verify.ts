import { importPublicKey, verifyEd25519 } from '../ed25519.ts';
import type { Ed25519Verifier } from '../tlog/note.ts';

/** Signatures of notes under the product's one policy for Ed25519. */
export const verifyNative: Ed25519Verifier = (publicKey, message, signature) => {
  const key = importPublicKey(publicKey);
  return key !== undefined && verifyEd25519(key, message, signature);
};
