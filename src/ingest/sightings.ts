import type { Sighting } from '../inventory/model/sighting.ts';
import { limits } from '../limits.ts';
import { addressBytes, printAddress } from '../net/ip.ts';

/** `Omit` that preserves union members. */
type Without<T, K extends PropertyKey> = T extends unknown ? Omit<T, K> : never;

/** A fact about a host, without its time. */
export type Told = Without<Sighting, 'at'>;

/**
 * Facts about hosts in the records of a batch, without duplicates, with the latest time of each fact.
 * Bounded by `limits.maxBodySightings`.
 */
export class Sightings {
  readonly #found = new Map<string, Sighting>();
  /** True if a fact was left out because of the limit. */
  overflowed = false;

  /** Adds a fact. Returns false, without adding the fact, if there are too many different facts. */
  add(told: Told, at: number): boolean {
    const key = Object.values({ ...told, clients: '' }).join('\n');
    const known = this.#found.get(key);
    if (known === undefined && this.#found.size >= limits.maxBodySightings) {
      this.overflowed = true;
      return false;
    }
    if (known !== undefined && known.at >= at && !('clients' in told)) return true;
    const sighting = { ...canonical(told), at: Math.max(at, known?.at ?? at) } as Sighting;
    this.#found.set(key, withClientsOf(sighting, known));
    return true;
  }

  list(): Sighting[] {
    return [...this.#found.values()];
  }
}

/** Merges the hosts that used a name, up to the limit. */
function withClientsOf(sighting: Sighting, known: Sighting | undefined): Sighting {
  if (sighting.kind !== 'name' || known?.kind !== 'name' || sighting.clients === undefined) return sighting;
  const clients = [...new Set([...(known.clients ?? []), ...sighting.clients])].slice(0, limits.maxClientsPerName);
  return { ...sighting, clients };
}

/** Returns the fact with addresses in canonical form, because sensors write addresses in several ways. */
function canonical(told: Told): Told {
  const bytes = told.ip === undefined ? undefined : addressBytes(told.ip);
  return bytes === undefined ? told : { ...told, ip: printAddress(bytes) };
}
