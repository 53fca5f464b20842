import type { IsHome } from '../events/home-networks.ts';
import { parseAddress } from '../events/ip.ts';
import type { NetworkRecord } from '../events/records.ts';
import { named, reject } from './rejection.ts';

export interface Address {
  readonly text: string;
  readonly home: boolean;
}

/**
 * The addresses of one body, each checked and placed once: they recur, and looking one up costs 30 ns where reading
 * it and comparing it with the home networks costs 300. Bounded by the body, and gone with it.
 */
export class Addresses {
  readonly #known = new Map<string, Address>();
  readonly #bytes = new Uint8Array(16);
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
    const known = this.#known.get(value);
    if (known !== undefined) return known;
    if (!parseAddress(value, this.#bytes)) return reject(field, `is ${named(value)}, not an IP address`);
    const address = { text: value, home: this.#isHome(this.#bytes) };
    this.#known.set(value, address);
    return address;
  }
}

/** By the home networks alone, whatever a sensor holds to be local: one configuration decides for all of them. */
export function direction(src: Address, dst: Address): NetworkRecord['direction'] {
  if (src.home) return dst.home ? 'internal' : 'outbound';
  return dst.home ? 'inbound' : 'external';
}
