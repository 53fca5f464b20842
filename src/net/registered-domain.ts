import { getDomain, parse } from 'tldts';

/**
 * Returns the registrable part of a name by the public suffix list (ICANN section), in lower case; undefined for names
 * without a registrable part: single labels, public suffixes, addresses.
 */
export function registeredDomain(name: string): string | undefined {
  const host = name.endsWith('.') ? name.slice(0, -1) : name;
  return getDomain(host.toLowerCase(), options) ?? undefined;
}

/** Returns whether the name ends with a public suffix in the ICANN section of the list. */
export function isPublicName(name: string): boolean {
  return parse(name, options).isIcann === true;
}

/**
 * Returns whether the names below this name have different owners, because this name is a public suffix of a
 * registry (`co.uk`) or a company (`github.io`), or a single label.
 */
export function isPublicSuffix(name: string): boolean {
  return getDomain(name, { ...options, allowPrivateDomains: true }) === null;
}

/**
 * Options that accept DNS names, which may have underscores and other characters that host names in URLs do not
 * have.
 */
const options = { extractHostname: false, validateHostname: false } as const;
