import { TlogError } from './fault.ts';

/**
 * Standard base64 with padding (RFC 4648 section 4), in the one spelling that its bytes have: decoders that skip
 * junk or ignore leftover bits take several texts for one value, and then what was compared isn't what was signed.
 * Undefined for anything else.
 */
export function fromBase64(text: string): Uint8Array<ArrayBuffer> | undefined {
  if (text.length % 4 !== 0 || !/^[A-Za-z0-9+/]*={0,2}$/.test(text)) return undefined;
  const binary = atob(text);
  return btoa(binary) === text ? Uint8Array.from(binary, (char) => char.charCodeAt(0)) : undefined;
}

/** As `fromBase64`, with the fault `bad_base64` that names `what` it was to be. */
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
