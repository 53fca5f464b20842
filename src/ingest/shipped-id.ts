import { hash } from 'node:crypto';

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/**
 * The explicit id of a record whose sender calls it something: a UUID as it is, of anything else a UUIDv8 (RFC 9562,
 * section 5.8) of the first 122 bits of SHA-256 over `<sender> <id>` in UTF-8.
 *
 * The name of the index is not in it: it changes with the day and the version of the shipper, and a record that is sent
 * again must be found under whichever it has then. The sender is: short ids of others that are the same by chance, or by
 * intent, would make records vanish that were never stored.
 */
export function shippedId(sender: string, id: string): string {
  if (uuid.test(id)) return id.toLowerCase();
  const hex = hash('sha256', `${sender} ${id}`);
  const variant = ((Number.parseInt(hex[16]!, 16) & 3) | 8).toString(16);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}
