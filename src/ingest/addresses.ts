import { knownAddresses } from '../events/format/address-cache.ts';
import type { NetworkRecord } from '../events/records.ts';
import type { IsHome } from '../net/home-networks.ts';
import { named, reject } from './rejection.ts';

export interface Address {
  readonly text: string;
  readonly home: boolean;
}

/**
 * Whether each address is in the current home networks, by the index of the address in `knownAddresses`. Contains only
 * addresses that this thread has compared with the home networks.
 */
const placed = {
  isHome: undefined as IsHome | undefined,
  generation: 0,
  addresses: [] as (Address | undefined)[],
};

/**
 * The addresses of one body. Each thread parses an address, and compares it with the home networks, only once
 * while the address is cached.
 */
export class Addresses {
  readonly #isHome: IsHome;

  constructor(isHome: IsHome) {
    this.#isHome = isHome;
  }

  required(value: unknown, field: string): Address {
    return this.optional(value, field) ?? reject(field, 'is missing');
  }

  optional(value: unknown, field: string): Address | undefined {
    if (value === undefined || value === null) return undefined;
    if (typeof value !== 'string') return reject(field, `is ${named(value)}, not a string`);
    const place = knownAddresses.place(value);
    if (place < 0) return reject(field, `is ${named(value)}, not an IP address`);
    return this.#at(place);
  }

  /** Returns an IPv4 address in ASCII bytes; undefined if the bytes are not such an address. */
  ipv4(bytes: Uint8Array, start: number, end: number): Address | undefined {
    const place = knownAddresses.placeOfIpv4(bytes, start, end);
    return place < 0 ? undefined : this.#at(place);
  }

  #at(place: number): Address {
    if (placed.isHome !== this.#isHome || placed.generation !== knownAddresses.generation) this.#begin();
    return placed.addresses[place] ?? this.#add(place);
  }

  #begin(): void {
    placed.isHome = this.#isHome;
    placed.generation = knownAddresses.generation;
    placed.addresses = [];
  }

  #add(place: number): Address {
    const text = knownAddresses.texts[place] as string;
    const address = { text, home: this.#isHome(knownAddresses.bytes.subarray(16 * place, 16 * place + 16)) };
    placed.addresses[place] = address;
    return address;
  }
}

/**
 * Returns the direction of a connection. Depends only on the configured home networks, not on the networks
 * that a sensor considers local.
 */
export function direction(src: Address, dst: Address): NetworkRecord['direction'] {
  if (src.home) return dst.home ? 'internal' : 'outbound';
  return dst.home ? 'inbound' : 'external';
}
