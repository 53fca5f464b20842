import { limits } from '../../limits.ts';

/**
 * Number of external addresses that identify a gateway. A single frame could be forged; a real gateway soon
 * forwards for this many addresses.
 */
const enough = 3;

/**
 * External addresses seen with MAC addresses. Stores only as many addresses as identify a gateway, for the
 * `most` MAC addresses seen last: 200 bytes each.
 */
export class GatewayMemory {
  /** Number of evicted MAC addresses that were not yet identified as gateways. Only increases. */
  forgotten = 0;
  readonly #known = new Map<string, Set<number>>();
  readonly #most: number;

  constructor(most: number = limits.rememberedForwarders) {
    this.#most = most;
  }

  /**
   * Records external addresses, by hash, of a MAC address. Returns true if the MAC address belongs to a
   * gateway.
   */
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

/**
 * Collects, per MAC address of a block, the first external addresses seen with the MAC address, as indices into the
 * block's lists. Collects no more addresses than identify a gateway.
 */
export class ExternalEnds {
  readonly #places: Int32Array;

  /** @param codes - number of codes of MAC addresses in the block, including absent */
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
