import { formats } from '../contract/formats.ts';

/**
 * A name as DNS has them, in its one spelling: lower case, without a final dot. Undefined for what is none: text with
 * control characters, blanks or wildcards, and addresses.
 */
export function domainName(text: string): string | undefined {
  const name = text.trim().normalize('NFC').toLowerCase().replace(/\.$/, '');
  return formats.hostname.test(name) && !/^[\d.]+$/.test(name) ? name : undefined;
}

/** The same of a host: not the loopback's name, nor those of reverse lookups. */
export function hostName(text: string): string | undefined {
  const name = domainName(text);
  if (name === undefined) return undefined;
  return /^(localhost|local)$|^localhost\.|(^|\.)(in-addr|ip6)\.arpa$/.test(name) ? undefined : name;
}
