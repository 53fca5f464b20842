import { limits } from '../limits.ts';
import { requiredText, text } from './fields.ts';
import { named, reject } from './rejection.ts';

/**
 * Names of IP protocols, in lower case: those of IANA, as Suricata writes all of them (the longest is
 * `rsvp-e2e-ignore`, the oddest are `tp++`, `a/n` and `ax.25`), or numbers.
 */
const protocolName = /^[a-z0-9+./_-]+$/;

/** The protocol that a sensor names; undefined where it names none. */
export function transportField(value: unknown, field: string): string | undefined {
  const name = text(value, field)?.toLowerCase();
  if (name === undefined || (name.length <= limits.maxTransportLength && protocolName.test(name)))
    return name;
  const most = `up to ${limits.maxTransportLength} of a–z, 0–9 and + . / _ -`;
  return reject(field, `is ${named(value)}, not the name of a protocol: ${most}`);
}

export function requiredTransport(value: unknown, field: string): string {
  return transportField(requiredText(value, field), field) as string;
}
