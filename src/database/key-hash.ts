import { hash } from 'node:crypto';

/**
 * Returns the SHA-256 (hex) of a list of strings, as a key of 64 characters. The strings are hashed as JSON, so
 * that their boundaries are preserved and different lists have different hashes.
 */
export function keyHash(...parts: readonly string[]): string {
  return hash('sha256', JSON.stringify(parts));
}
