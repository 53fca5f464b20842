import { randomUUID } from 'node:crypto';
import { isUuid } from '../events/event-id.ts';

/**
 * A UUIDv7 (RFC 9562, section 5.7): 48 bits of `timeMs`, then the random bits and the variant of a UUIDv4, which Node
 * makes from pooled randomness in 0.1 µs (randomBytes: 7 µs).
 */
export function uuid7(timeMs: number, random: string = randomUUID()): string {
  const time = timeMs.toString(16).padStart(12, '0');
  return `${time.slice(0, 8)}-${time.slice(8)}-7${random.slice(15)}`;
}

/** The one spelling under which a UUID is a key, or undefined for anything that is none. */
export function canonicalUuid(text: string): string | undefined {
  return text.length === 36 && isUuid(text) ? text.toLowerCase() : undefined;
}
