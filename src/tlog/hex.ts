import { TlogError } from './fault.ts';

const digits = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'));

/** Node's native conversion: 0.08 µs for 32 bytes, instead of 0.28 µs with the table that browsers use. */
const native = (globalThis as { Buffer?: { prototype: { hexSlice?: (this: Uint8Array) => string } } }).Buffer?.prototype
  .hexSlice;

/** Encodes as lowercase hex. */
export function bytesToHex(bytes: Uint8Array): string {
  if (native !== undefined) return native.call(bytes);
  let text = '';
  for (let i = 0; i < bytes.length; i++) text += digits[bytes[i]!];
  return text;
}

/**
 * Decodes exactly `length` bytes from twice as many hexadecimal digits of either case. No character is skipped, and the
 * input is not padded.
 */
export function hexToBytes(text: string, length: number): Uint8Array<ArrayBuffer> {
  if (typeof text !== 'string' || text.length !== 2 * length || !/^[0-9a-fA-F]*$/.test(text)) {
    throw new TlogError('bad_hex', `it is not the hexadecimal form of ${length} bytes`);
  }
  const bytes = new Uint8Array(length);
  for (let i = 0; i < length; i++) bytes[i] = Number.parseInt(text.slice(2 * i, 2 * i + 2), 16);
  return bytes;
}
