import { registeredDomain } from '../events/registered-domain.ts';

/** Names remembered with their domains: those of an hour of a large network. Forgotten all at once when there are more. */
const maxRemembered = 16_384;
/** Characters kept of a domain: those of DNS have no more. */
const maxLength = 255;

/** The domains of names that are asked for, those met of late remembered: finding one takes 1 µs. */
export class Domains {
  readonly #remembered = new Map<string, string>();

  /** The registered domain; the name itself, in lower case and without a final dot, where it has none. */
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
