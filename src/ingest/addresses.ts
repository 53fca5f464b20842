import type { IsHome } from '../events/home-networks.ts';
import { knownAddresses } from '../events/known-addresses.ts';
import type { NetworkRecord } from '../events/records.ts';
import { named, reject } from './rejection.ts';

export interface Address {
  readonly text: string;
  readonly home: boolean;
}

/** Addresses of the last home networks that this thread was asked about, by their places among those known. */
const placed = {
  isHome: undefined as IsHome | undefined,
  generation: 0,
  addresses: [] as (Address | undefined)[],
};

/** The addresses of one body, each checked and compared with the home networks once in a thread. */
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
    if (typeof value !== 'string') return reject(field, `is ${named(value)}, not a text`);
    const place = knownAddresses.place(value);
    if (place < 0) return reject(field, `is ${named(value)}, not an IP address`);
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

/** By the home networks alone, whatever a sensor holds to be local: one configuration decides for all of them. */
export function direction(src: Address, dst: Address): NetworkRecord['direction'] {
  if (src.home) return dst.home ? 'internal' : 'outbound';
  return dst.home ? 'inbound' : 'external';
}
