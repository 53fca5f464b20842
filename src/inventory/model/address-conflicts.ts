import { limits } from '../../limits.ts';

const dayMs = 86_400_000;

interface Claims {
  /** Time of the first claim, epoch milliseconds. */
  since: number;
  readonly macs: Set<string>;
  /** End of the contested time; undefined if the address is not contested. */
  until: number | undefined;
}

/**
 * Detects IP addresses that so many MAC addresses claim within a day that some claims must be forged. The real MAC
 * address is unknown, so all claims are ignored for a day. Stores the claims of the `most` addresses that were
 * claimed last. Times are event times.
 */
export class AddressConflicts {
  readonly #claims = new Map<string, Claims>();
  readonly #most: number;

  constructor(most: number = limits.maxWatchedAddresses) {
    this.#most = most;
  }

  /**
   * Records that an IP address is seen with a different MAC address than before. Returns true if both MAC addresses
   * must be ignored.
   */
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
