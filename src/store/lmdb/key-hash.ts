import { hash } from 'node:crypto';

/**
 * Returns the SHA-256 (hex) of a list of strings, as a key. JSON keeps their boundaries, so that no two lists
 * have the same bytes; the key has 64 characters, whatever an attacker sends.
 */
export function keyHash(...parts: readonly string[]): string {
  return hash('sha256', JSON.stringify(parts));
}
