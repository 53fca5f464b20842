import { Point } from '@noble/ed25519';
import { sha512 } from '@noble/hashes/sha2.js';

/** Order of the base point (RFC 8032 section 5.1). */
const order = Point.CURVE().n;

/**
 * Verifies an Ed25519 signature under the product's policy: RFC 8032 with canonical encodings of key, R and
 * s, no low-order keys, and the cofactorless equation. The service uses OpenSSL under the same policy.
 *
 * `noble.verify(…, { zip215: false })` has the same rules for encodings and keys but uses the cofactored
 * equation, so it accepts signatures that OpenSSL rejects (RFC 8032 allows both). The equation is therefore
 * computed here from noble's points. Wrong lengths are invalid, not errors. Takes about 1 ms.
 */
export function verifyEd25519(publicKey: Uint8Array, message: Uint8Array, signature: Uint8Array): boolean {
  if (publicKey.length !== 32 || signature.length !== 64) return false;
  const key = decodePoint(publicKey);
  if (key === undefined || key.isSmallOrder()) return false;
  const s = littleEndian(signature.subarray(32));
  if (s >= order) return false;
  const hashed = new Uint8Array(64 + message.length);
  hashed.set(signature.subarray(0, 32));
  hashed.set(publicKey, 32);
  hashed.set(message, 64);
  const k = littleEndian(sha512(hashed)) % order;
  const r = Point.BASE.multiply(s, false).subtract(key.multiply(k, false)).toBytes();
  return r.every((byte, i) => byte === signature[i]);
}

/** Returns whether a public key is valid: 32 bytes, canonical, on the curve, not of low order. */
export function isEd25519Key(publicKey: Uint8Array): boolean {
  return publicKey.length === 32 && decodePoint(publicKey)?.isSmallOrder() === false;
}

function decodePoint(bytes: Uint8Array): Point | undefined {
  try {
    return Point.fromBytes(bytes, false);
  } catch {
    return undefined; // not canonical, or not on the curve
  }
}

function littleEndian(bytes: Uint8Array): bigint {
  let value = 0n;
  for (let i = bytes.length - 1; i >= 0; i--) value = value * 256n + BigInt(bytes[i]!);
  return value;
}
