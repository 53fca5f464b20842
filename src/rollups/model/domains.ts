import { registeredDomain } from '../../net/registered-domain.ts';

/**
 * Maximum number of cached names, which is enough for an hour in a large network. The cache is cleared when it
 * is full.
 */
const maxRemembered = 16_384;
/** Maximum length of a domain in DNS. */
const maxLength = 255;

/** Caches the domains of names, because looking up a domain takes 1 µs. */
export class Domains {
  readonly #remembered = new Map<string, string>();

  /**
   * Returns the registered domain; if the name has no registered domain, the name itself in lower case and
   * without a final dot. Cuts the result to 255 characters.
   */
  of(query: string): string {
    const known = this.#remembered.get(query);
    if (known !== undefined) return known;
    const name = (query.length > 1 && query.endsWith('.') ? query.slice(0, -1) : query).toLowerCase();
    const domain = registeredDomain(name) ?? name;
    const kept = domain.length > maxLength ? domain.slice(0, maxLength).toWellFormed() : domain;
    if (this.#remembered.size >= maxRemembered) this.#remembered.clear();
    if (query.length <= maxLength) this.#remembered.set(query, kept);
    return kept;
  }
}
