import { addressBytes, printAddress } from '../events/ip.ts';
import type { Sighting } from '../inventory/sighting.ts';
import { limits } from '../limits.ts';

/** Omit that keeps the members of a union apart. */
type Without<T, K extends PropertyKey> = T extends unknown ? Omit<T, K> : never;

/** What a record tells of a host, without the time. */
export type Told = Without<Sighting, 'at'>;

/**
 * What the records of one body tell of hosts, each thing once, with the time of its last telling. Bounded by
 * `limits.maxBodySightings`.
 */
export class Sightings {
  readonly #found = new Map<string, Sighting>();
  /** Something was not kept. */
  overflowed = false;

  /** False, and nothing kept, where there are too many different ones already. */
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

/** A name is used by all hosts that used it, up to as many as matter. */
function withClientsOf(sighting: Sighting, known: Sighting | undefined): Sighting {
  if (sighting.kind !== 'name' || known?.kind !== 'name' || sighting.clients === undefined) return sighting;
  const clients = [...new Set([...(known.clients ?? []), ...sighting.clients])].slice(
    0,
    limits.maxClientsPerName,
  );
  return { ...sighting, clients };
}

/** Sensors write addresses in several ways. */
function canonical(told: Told): Told {
  const bytes = told.ip === undefined ? undefined : addressBytes(told.ip);
  return bytes === undefined ? told : { ...told, ip: printAddress(bytes) };
}
