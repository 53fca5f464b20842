import { parseAddress, parseIpv4, writeIpv4 } from './ip.ts';
import { ownText } from './own-text.ts';

const most = 16_384;
/** Twice as many, so that one in two is free: looking up takes one step or two. */
const ipv4Slots = 2 * most;

/**
 * The addresses that one thread met last, by their text: they recur within a body, from one body to the next and in
 * every column. With `most` of them it begins anew: 2 MB.
 */
export class KnownAddresses {
  static readonly most = most;
  /** 16 bytes for each place. */
  readonly bytes = new Uint8Array(16 * most);
  /** As they were written, for each place. */
  readonly texts: string[] = [];
  /** Another, when places have come to stand for other addresses. */
  generation = 1;
  #count = 0;
  readonly #ipv6 = new Map<string, number>();
  /**
   * IPv4 addresses by their value, each followed by one more than its place: reading the text and looking here takes
   * 60 ns, where a map of texts takes 120, as it has to look at three places in memory more.
   */
  readonly #ipv4 = new Int32Array(2 * ipv4Slots);
  /** The two that were asked for last: both ends of an event are asked for when it is read, and when it is kept. */
  #last = '';
  #lastPlace = -1;
  #before = '';
  #beforePlace = -1;

  /** Below `most`; -1 for what is no address. */
  place(text: string): number {
    if (text === this.#before) return this.#beforePlace;
    if (text === this.#last) return this.#lastPlace;
    const place = this.#find(text);
    this.#before = this.#last;
    this.#beforePlace = this.#lastPlace;
    this.#last = text;
    this.#lastPlace = place;
    return place;
  }

  #find(text: string): number {
    const value = parseIpv4(text);
    if (value >= 0) return this.#findIpv4(text, value | 0);
    const known = this.#ipv6.get(text);
    if (known !== undefined) return known;
    const place = this.#next();
    if (!parseAddress(text, this.bytes, 16 * place)) return -1;
    this.texts[place] = ownText(text);
    this.#ipv6.set(this.texts[place], place);
    this.#count++;
    return place;
  }

  #findIpv4(text: string, value: number): number {
    let slot = slotOf(value);
    while (this.#ipv4[slot + 1] !== 0) {
      if (this.#ipv4[slot] === value) return this.#ipv4[slot + 1]! - 1;
      slot = (slot + 2) % this.#ipv4.length;
    }
    const place = this.#next();
    if (place === 0) slot = slotOf(value);
    writeIpv4(value >>> 0, this.bytes, 16 * place);
    this.texts[place] = ownText(text);
    this.#ipv4[slot] = value;
    this.#ipv4[slot + 1] = place + 1;
    this.#count++;
    return place;
  }

  #next(): number {
    if (this.#count === most) {
      this.#ipv6.clear();
      this.#ipv4.fill(0);
      this.#count = 0;
      this.generation++;
      this.#lastPlace = -1;
      this.#last = '';
      this.#before = '';
      this.#beforePlace = -1;
    }
    return this.#count;
  }
}

/** By the high bits of a product, in which all bits of the address have a part. */
function slotOf(value: number): number {
  return 2 * (Math.imul(value, 0x9e3779b1) >>> 17);
}

export const knownAddresses = new KnownAddresses();
