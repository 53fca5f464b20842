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

/**
 * Whether what is below the name belongs to many: a public suffix, be it a registry's (`co.uk`) or of a company that lets
 * others have names (`github.io`). Any single label is one.
 */
export function isPublicSuffix(name: string): boolean {
  return getDomain(name, { ...options, allowPrivateDomains: true }) === null;
}

/** Names of DNS have underscores and other characters that host names in URLs don't. */
const options = { extractHostname: false, validateHostname: false } as const;
