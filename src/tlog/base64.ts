import { TlogError } from './fault.ts';

/**
 * Decodes standard base64 with padding (RFC 4648 section 4) in canonical spelling; undefined for anything
 * else. Decoders that skip invalid characters or ignore leftover bits accept several texts for one value, so
 * that the text compared may not be the text signed.
 */
export function fromBase64(text: string): Uint8Array<ArrayBuffer> | undefined {
  if (text.length % 4 !== 0 || !/^[A-Za-z0-9+/]*={0,2}$/.test(text)) return undefined;
  const binary = atob(text);
  return btoa(binary) === text ? Uint8Array.from(binary, (char) => char.charCodeAt(0)) : undefined;
}

/** Decodes like `fromBase64`, but throws `bad_base64` for invalid text. `what` names the text in the message. */
export function base64ToBytes(text: string, what: string): Uint8Array<ArrayBuffer> {
  const bytes = fromBase64(text);
  if (bytes === undefined) throw new TlogError('bad_base64', `${what} is not in base64`);
  return bytes;
}

export function toBase64(bytes: Uint8Array): string {
  let binary = '';
  for (const byte of bytes) binary += String.fromCharCode(byte);
  return btoa(binary);
}
