import { importPublicKey, verifyEd25519 } from '../ed25519.ts';
import type { Ed25519Verifier } from '../tlog/note.ts';

/**
 * Ed25519 by OpenSSL under the product's verification policy, for commands that verify every entry of a log:
 * 12 times as fast as @noble/ed25519. Caches imported keys, a handful per log.
 */
export function nativeVerifier(): Ed25519Verifier {
  const imported = new Map<string, ReturnType<typeof importPublicKey>>();
  return (publicKey, message, signature) => {
    const name = Buffer.from(publicKey).toString('hex');
    if (!imported.has(name)) imported.set(name, importPublicKey(publicKey));
    const key = imported.get(name);
    return key !== undefined && verifyEd25519(key, message, signature);
  };
}
