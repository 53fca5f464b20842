import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';

/** 128 bits of the text's SHA-256, in hexadecimal. */
export function shortHash(text: string): string {
  return bytesToHex(sha256(utf8ToBytes(text)).subarray(0, 16));
}

/** The text, or where it is longer than `maxLength` (33 and more) its beginning and hash, which is no longer. */
export function boundedText(text: string, maxLength: number): string {
  if (text.length <= maxLength) return text;
  return `${text.slice(0, maxLength - 33)}#${shortHash(text)}`;
}
