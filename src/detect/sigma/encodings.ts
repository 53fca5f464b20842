// Encodings in which values of rules are searched: text to bytes, bytes to Base64. Values are short.

export function utf8(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

/** Encodes a text as UTF-16 without a byte order mark. */
export function utf16(text: string, littleEndian: boolean): Uint8Array {
  const bytes = Buffer.from(text, 'utf16le');
  return littleEndian ? bytes : bytes.swap16();
}

/** Encodes a text as PowerShell and other programs do: little-endian UTF-16 after a byte order mark. */
export function utf16WithMark(text: string): Uint8Array {
  return utf16(`\uFEFF${text}`, true);
}

/** Encodes bytes as Base64 with padding (RFC 4648, section 4). */
export function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('base64');
}

/**
 * Returns the digits of the bytes within the Base64 of a longer text, by the number of bytes before them modulo 3.
 * Digits that also depend on the bytes before or after are left out:
 *
 *     bytes before  0             1             2
 *     first digit   0             2             3          (the first whose 6 bits are all from these bytes)
 */
export function base64Offsets(bytes: Uint8Array): readonly string[] {
  return [0, 1, 2].map((before) => {
    const shifted = new Uint8Array(before + bytes.length);
    shifted.set(bytes, before);
    const start = Math.ceil((before * 8) / 6);
    const end = Math.floor((shifted.length * 8) / 6);
    return base64(shifted).slice(start, end);
  });
}

/**
 * Returns a text with one character per byte. The code of the character is the byte, as in tools that write binary
 * data.
 */
export function latin1(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('latin1');
}
