import { formats } from '../contract/formats.ts';

/**
 * Normalises a DNS name: lower case, without a final dot. Returns undefined for text with control characters,
 * blanks or wildcards, and for addresses.
 */
export function domainName(text: string): string | undefined {
  const name = text.trim().normalize('NFC').toLowerCase().replace(/\.$/, '');
  return formats.hostname.test(name) && !/^[\d.]+$/.test(name) ? name : undefined;
}

/** Normalises a host name. Also returns undefined for `localhost`, `local` and names of reverse lookups. */
export function hostName(text: string): string | undefined {
  const name = domainName(text);
  if (name === undefined) return undefined;
  return /^(localhost|local)$|^localhost\.|(^|\.)(in-addr|ip6)\.arpa$/.test(name) ? undefined : name;
}
