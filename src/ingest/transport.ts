import { limits } from '../limits.ts';
import { requiredText, text } from './fields.ts';
import { named, reject } from './rejection.ts';
import { remembered } from './remembered.ts';

/**
 * Names of IP protocols, in lower case: those of IANA, as Suricata writes all of them (the longest is
 * `rsvp-e2e-ignore`, the oddest are `tp++`, `a/n` and `ax.25`), or numbers.
 */
const protocolName = /^[a-z0-9+./_-]+$/;

/** In lower case, where it is one; undefined where it is none. */
const protocol = remembered((given) => {
  const name = given.toLowerCase();
  return { name: name.length <= limits.maxTransportLength && protocolName.test(name) ? name : undefined };
});

/** The protocol that a sensor names; undefined where it names none. */
export function transportField(value: unknown, field: string): string | undefined {
  const given = text(value, field);
  if (given === undefined) return undefined;
  const { name } = protocol(given);
  if (name !== undefined) return name;
  const most = `up to ${limits.maxTransportLength} of a–z, 0–9 and + . / _ -`;
  return reject(field, `is ${named(value)}, not the name of a protocol: ${most}`);
}

export function requiredTransport(value: unknown, field: string): string {
  return transportField(requiredText(value, field), field) as string;
}
