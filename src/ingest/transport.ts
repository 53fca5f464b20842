import { limits } from '../limits.ts';
import { requiredText, text } from './fields.ts';
import { memoize } from './memoize.ts';
import { named, reject } from './rejection.ts';

/**
 * Matches names of IP protocols in lower case, or numbers. Suricata writes all IANA names (the longest is
 * `rsvp-e2e-ignore`; unusual names are `tp++`, `a/n` and `ax.25`).
 */
const protocolName = /^[a-z0-9+./_-]+$/;

/** Returns the protocol in lower case; undefined if the name is not valid. */
const protocol = memoize((given) => {
  const name = given.toLowerCase();
  return { name: name.length <= limits.maxTransportLength && protocolName.test(name) ? name : undefined };
});

/** Reads a sensor's protocol; returns undefined if it is missing. */
export function transportField(value: unknown, field: string): string | undefined {
  const given = text(value, field);
  if (given === undefined) return undefined;
  const { name } = protocol(given);
  if (name !== undefined) return name;
  const most = `1 to ${limits.maxTransportLength} characters from a–z, 0–9 and + . / _ -`;
  return reject(field, `is ${named(value)}, not a protocol name of ${most}`);
}

export function requiredTransport(value: unknown, field: string): string {
  return transportField(requiredText(value, field), field) as string;
}
