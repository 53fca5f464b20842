import { limits } from '../limits.ts';

/** A frame can be forged; a gateway soon forwards for so many. */
const enough = 3;

/**
 * With how many external addresses MAC addresses were seen: with as many as make one a gateway's, further ones are not
 * kept. Up to `most` MAC addresses, those that were told of last: 200 bytes each.
 */
export class GatewayMemory {
  /** How often one that was no gateway's yet was forgotten for another. Only grows. */
  forgotten = 0;
  readonly #known = new Map<string, Set<number>>();
  readonly #most: number;

  constructor(most: number = limits.rememberedForwarders) {
    this.#most = most;
  }

  /** A MAC address was seen with these external addresses, by their hashes. True where it is a gateway's. */
  saw(mac: string, addresses: Iterable<number>): boolean {
    const before = this.#known.get(mac);
    const known = before ?? new Set();
    for (const address of addresses) if (known.size < enough) known.add(address);
    if (before !== undefined) this.#known.delete(mac);
    else if (this.#known.size >= this.#most) this.#dropOldest();
    this.#known.set(mac, known);
    return known.size >= enough;
  }

  #dropOldest(): void {
    for (const [mac, addresses] of this.#known) {
      if (addresses.size < enough) this.forgotten++;
      this.#known.delete(mac);
      return;
    }
  }
}

/** The first external addresses of each MAC address of a block, by their places in its lists: as many as matter. */
export class ExternalEnds {
  readonly #places: Int32Array;

  /** @param codes - how many codes the MAC addresses of the block have, none included */
  constructor(codes: number) {
    this.#places = new Int32Array(codes * enough).fill(-1);
  }

  add(code: number, place: number): void {
    const end = (code + 1) * enough;
    for (let i = end - enough; i < end; i++) {
      if (this.#places[i] === place) return;
      if (this.#places[i] === -1) {
        this.#places[i] = place;
        return;
      }
    }
  }

  of(code: number): Int32Array {
    const places = this.#places.subarray(code * enough, (code + 1) * enough);
    const count = places.indexOf(-1);
    return count === -1 ? places : places.subarray(0, count);
  }
}
