import { importPublicKey, verifyEd25519 } from '../crypto/ed25519.ts';
import type { Ed25519Verifier } from '../tlog/note.ts';

/** Verifies note signatures under the product's Ed25519 policy. */
export const verifyNative: Ed25519Verifier = (publicKey, message, signature) => {
  const key = importPublicKey(publicKey);
  return key !== undefined && verifyEd25519(key, message, signature);
};
