import { importPublicKey, verifyEd25519 } from '../crypto/ed25519.ts';
import type { Ed25519Verifier } from '../tlog/note.ts';

/**
 * Creates a verifier that uses OpenSSL's Ed25519 under the product's verification policy, for commands that verify
 * every entry of a log: 12 times as fast as @noble/ed25519. Caches imported keys, of which a log has a handful.
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
