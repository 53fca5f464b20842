import { hash } from 'node:crypto';

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/**
 * Returns the explicit id of a record from the id that its sender chose. A UUID is used in lower case. Other ids
 * are scoped to the sender, because several senders often use equal short ids.
 *
 * The name of the index is not included: it changes with the day and the version of the shipper, and a record
 * that is sent again must be found under any of these names.
 */
export const shippedId = (sender: string, id: string): string =>
  uuid.test(id) ? id.toLowerCase() : scopedId(sender, id);

/**
 * Converts a sensor's own id of an event to a UUID that no other sensor can produce: the UUID of `<sensor> <id>`.
 */
export const scopedId = (sensorId: string, id: string): string => nameUuid(`${sensorId} ${id}`);

/** Returns the UUIDv8 (RFC 9562, section 5.8) of a name: the first 122 bits of SHA-256 over the name in UTF-8. */
export function nameUuid(name: string): string {
  const hex = hash('sha256', name);
  const variant = ((Number.parseInt(hex[16]!, 16) & 3) | 8).toString(16);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}
