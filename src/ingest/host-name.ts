import { isAddress } from '../events/ip.ts';
import { text } from './fields.ts';

/** RFC 1035, section 2.3.4. */
const maxNameBytes = 253;

/**
 * A name of a host, in lower case without a final dot. Undefined where there is none, or what is there cannot be one:
 * an address, something too long, or with white space or control characters.
 */
export function hostName(value: unknown, field: string): string | undefined {
  const name = text(value, field)?.toLowerCase().replace(/\.$/, '');
  if (name === undefined || name === '' || Buffer.byteLength(name) > maxNameBytes) return undefined;
  return /[\s\p{C}]/u.test(name) || isAddress(name) ? undefined : name;
}
