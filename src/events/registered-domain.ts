import { getDomain, parse } from 'tldts';

/**
 * The registrable part of a name by the public suffix list (ICANN section), in lower case; undefined for names that
 * have none: single labels, public suffixes, addresses.
 */
export function registeredDomain(name: string): string | undefined {
  const host = name.endsWith('.') ? name.slice(0, -1) : name;
  return getDomain(host.toLowerCase(), options) ?? undefined;
}

/** Whether the name is one that somebody can have in the public DNS: under a suffix of the list's ICANN section. */
export function isPublicName(name: string): boolean {
  return parse(name, options).isIcann === true;
}

/** Names of DNS have underscores and other characters that host names in URLs don't. */
const options = { extractHostname: false, validateHostname: false } as const;
