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

/** @param bytes - 16 bytes */
export function bytesToUuid(bytes: Uint8Array): string {
  const hex = Buffer.from(bytes.buffer, bytes.byteOffset, 16).toString('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}
