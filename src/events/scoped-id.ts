import { hash } from 'node:crypto';

/**
 * Returns a sensor's own id of an event as a UUID that no other sensor can produce. The UUID is a UUIDv8 (RFC 9562,
 * section 5.8) of the first 122 bits of SHA-256 over `<sensor> <id>` in UTF-8.
 */
export function scopedId(sensorId: string, id: string): string {
  const hex = hash('sha256', `${sensorId} ${id}`);
  const variant = ((Number.parseInt(hex[16]!, 16) & 3) | 8).toString(16);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}
