/** A version 7 UUID (RFC 9562 section 5.7): 48 bits of Unix milliseconds, then 74 of the 80 random bits given. */
export function uuidv7(timeMs: number, random: Uint8Array): string {
  const bytes = new Uint8Array(16);
  const view = new DataView(bytes.buffer);
  view.setUint16(0, Math.floor(timeMs / 2 ** 32));
  view.setUint32(2, timeMs % 2 ** 32);
  bytes.set(random.subarray(0, 10), 6);
  bytes[6] = 0x70 | (bytes[6]! & 0x0f);
  bytes[8] = 0x80 | (bytes[8]! & 0x3f);
  return bytesToUuid(bytes);
}

const form = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** The one spelling under which an id is kept and signed: lower case, with hyphens. */
export function isUuid(text: unknown): text is string {
  return typeof text === 'string' && form.test(text);
}

/** 16 bytes of a UUID in either case. */
export function uuidToBytes(uuid: string): Buffer {
  return Buffer.from(uuid.replaceAll('-', ''), 'hex');
}

export function bytesToUuid(bytes: Uint8Array): string {
  const hex = Buffer.from(bytes.buffer, bytes.byteOffset, 16).toString('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}
