import { hash } from 'node:crypto';
import type { Hasher } from '../tlog/tree.ts';

/**
 * Computes SHA-256 natively, via a binary string, which OpenSSL's binding returns faster than a Buffer. Times for
 * 65 bytes, in µs: this function 0.30, `crypto.hash` to a Buffer 1.05, `createHash` 1.24, hash-wasm 0.49,
 * @noble/hashes 1.43. Times for 600 bytes, in the same order: 0.55, 1.24, 1.54, 1.83, 3.82.
 */
export const sha256: Hasher = (bytes) => {
  const text = hash('sha256', bytes, 'binary');
  const digest = new Uint8Array(32);
  for (let i = 0; i < 32; i++) digest[i] = text.charCodeAt(i);
  return digest;
};
