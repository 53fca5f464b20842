import { hash } from 'node:crypto';

/**
 * SHA-256 (hex) of a list of texts, as a key. JSON keeps the borders between them, so that no two lists share
 * their bytes; whatever an attacker writes, the key has 64 characters.
 */
export function keyHash(...parts: readonly string[]): string {
  return hash('sha256', JSON.stringify(parts));
}
