/** Secret numbers: a sender of events cannot choose addresses whose hashes collide. */
const keys = crypto.getRandomValues(new Int32Array(64));

/**
 * Hashes a part of a key for tables in memory: multilinear for texts (Lemire and Kaser, "Strongly universal string
 * hashing is fast", 2014), and without collisions for integers. Results differ between processes, so they must not be
 * stored. Texts are expected to have at most 64 characters, as addresses do.
 */
export function keyedHash(part: string | number): number {
  if (typeof part === 'number') return Math.imul(part, keys[0]! | 1);
  let hash = 0;
  for (let i = 0; i < part.length; i++) hash = (hash + Math.imul(keys[i & 63]!, part.charCodeAt(i))) | 0;
  return hash;
}
