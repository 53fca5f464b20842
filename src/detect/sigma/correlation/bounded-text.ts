import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';

/** Returns 128 bits of the text's SHA-256, in hexadecimal. */
export function shortHash(text: string): string {
  return bytesToHex(sha256(utf8ToBytes(text)).subarray(0, 16));
}

/**
 * Returns the text, or its beginning and hash if it is longer than `maxLength`, which must be at least 33.
 */
export function boundedText(text: string, maxLength: number): string {
  if (text.length <= maxLength) return text;
  return `${text.slice(0, maxLength - 33)}#${shortHash(text)}`;
}
