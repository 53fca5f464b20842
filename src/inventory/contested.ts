import { limits } from '../limits.ts';

const dayMs = 86_400_000;

interface Claims {
  /** Of the first of these claims, epoch milliseconds. */
  since: number;
  readonly macs: Set<string>;
  /** Contested until then; undefined while it isn't. */
  until: number | undefined;
}

/**
 * Addresses that more MAC addresses claim within a day than machines share one: somebody invents them. Nothing says which
 * is real, so that none is believed for a day. Of `most` addresses it is remembered who claimed them, those claimed last.
 * Times are those of the evidence.
 */
export class Contested {
  readonly #claims = new Map<string, Claims>();
  readonly #most: number;

  constructor(most: number = limits.maxWatchedAddresses) {
    this.#most = most;
  }

  /** An address that was seen with one MAC address is seen with another. True where neither is to be believed. */
  claim(ip: string, before: string | undefined, mac: string, at: number): boolean {
    const claims = this.#of(ip, at);
    if (claims.until !== undefined) return true;
    if (before !== undefined) claims.macs.add(before);
    claims.macs.add(mac);
    if (claims.macs.size <= limits.maxMachinesPerAddress) return false;
    claims.until = at + dayMs;
    claims.macs.clear();
    return true;
  }

  forget(): void {
    this.#claims.clear();
  }

  #of(ip: string, at: number): Claims {
    let claims = this.#claims.get(ip);
    this.#claims.delete(ip);
    if (claims === undefined || at >= (claims.until ?? claims.since + dayMs))
      claims = { since: at, macs: new Set(), until: undefined };
    if (this.#claims.size >= this.#most) this.#dropOldest();
    this.#claims.set(ip, claims);
    return claims;
  }

  #dropOldest(): void {
    for (const ip of this.#claims.keys()) {
      this.#claims.delete(ip);
      return;
    }
  }
}
