const form = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** Returns whether the text is a UUID (RFC 9562) of any version, in either case. */
export function isUuid(text: unknown): text is string {
  return typeof text === 'string' && form.test(text);
}

/** Returns the canonical (lower case) form of a UUID, or undefined if the text is not a UUID. */
export function canonicalUuid(text: unknown): string | undefined {
  return isUuid(text) ? text.toLowerCase() : undefined;
}

/**
 * Creates a UUIDv7 (RFC 9562, section 5.7): 48 bits of `timeMs`, then the random bits and the variant of a
 * UUIDv4, which Node generates from pooled randomness in 0.1 µs (randomBytes: 7 µs).
 */
export function uuid7(timeMs: number, random: string = crypto.randomUUID()): string {
  const time = timeMs.toString(16).padStart(12, '0');
  return `${time.slice(0, 8)}-${time.slice(8)}-7${random.slice(15)}`;
}

/** Returns the 16 bytes of a UUID in either case. */
export function uuidToBytes(uuid: string): Buffer {
  return Buffer.from(uuid.replaceAll('-', ''), 'hex');
}

/** Distances of the 16 pairs of hexadecimal digits from the start of a UUID's text. */
const pairAt = [0, 2, 4, 6, 9, 11, 14, 16, 19, 21, 24, 26, 28, 30, 32, 34] as const;

/** Values of hexadecimal digits by their ASCII codes. */
const digits = new Uint8Array(256);
for (let value = 0; value < 16; value++)
  for (const digit of [value.toString(16), value.toString(16).toUpperCase()]) digits[digit.charCodeAt(0)] = value;

/** Writes the 16 bytes of a UUID whose text, as ASCII in either case, begins at `from`. */
export function writeUuid(to: Uint8Array, at: number, text: Uint8Array, from: number): void {
  for (let i = 0; i < 16; i++) {
    const pair = from + pairAt[i]!;
    to[at + i] = (digits[text[pair]!]! << 4) | digits[text[pair + 1]!]!;
  }
}

/** @param bytes - 16 bytes */
export function bytesToUuid(bytes: Uint8Array): string {
  const hex = Buffer.from(bytes.buffer, bytes.byteOffset, 16).toString('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}
