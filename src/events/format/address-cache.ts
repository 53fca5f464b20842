import { parseAddress, parseIpv4, parseIpv4Bytes, printIpv4, writeIpv4 } from '../../net/ip.ts';
import { detachString } from './text-span.ts';

const most = 16_384;
/** Number of slots: half of them stay free, so that a lookup takes one or two steps. */
const ipv4Slots = 2 * most;

/**
 * Cache of the addresses last used by one thread, by their text, because addresses recur within a request body,
 * across bodies and in every column. The cache is cleared when it contains `most` addresses, which take 2 MB.
 */
export class AddressCache {
  static readonly most = most;
  /** 16 bytes for each address. */
  readonly bytes = new Uint8Array(16 * most);
  /** The text of each address as written. */
  readonly texts: string[] = [];
  /** Increases when the cache is cleared, because its indices are then assigned to other addresses. */
  generation = 1;
  #count = 0;
  readonly #ipv6 = new Map<string, number>();
  /**
   * IPv4 addresses by value, each followed by its index plus 1. Parsing the text and looking up the value take 60 ns.
   * A lookup in a map of texts takes 120 ns, because it reads three more places in memory.
   */
  readonly #ipv4 = new Int32Array(2 * ipv4Slots);
  /**
   * Text of the last lookup. The last two results are stored because both addresses of an event are looked up when
   * the event is read, and again when it is stored.
   */
  #last = '';
  #lastPlace = -1;
  #before = '';
  #beforePlace = -1;

  /** Returns the index of an address, below `most`; -1 if the text is not an address. */
  place(text: string): number {
    if (text === this.#before) return this.#beforePlace;
    if (text === this.#last) return this.#lastPlace;
    const place = this.#find(text);
    this.#remember(text, place);
    return place;
  }

  /** Returns the index of an IPv4 address in ASCII bytes; -1 if the bytes are not such an address. */
  placeOfIpv4(bytes: Uint8Array, start: number, end: number): number {
    const value = parseIpv4Bytes(bytes, start, end);
    if (value < 0) return -1;
    const place = this.#findIpv4(value | 0);
    this.#remember(this.texts[place]!, place);
    return place;
  }

  #remember(text: string, place: number): void {
    this.#before = this.#last;
    this.#beforePlace = this.#lastPlace;
    this.#last = text;
    this.#lastPlace = place;
  }

  #find(text: string): number {
    const value = parseIpv4(text);
    if (value >= 0) return this.#findIpv4(value | 0);
    const known = this.#ipv6.get(text);
    if (known !== undefined) return known;
    const place = this.#next();
    if (!parseAddress(text, this.bytes, 16 * place)) return -1;
    this.texts[place] = detachString(text);
    this.#ipv6.set(this.texts[place], place);
    this.#count++;
    return place;
  }

  #findIpv4(value: number): number {
    let slot = slotOf(value);
    while (this.#ipv4[slot + 1] !== 0) {
      if (this.#ipv4[slot] === value) return this.#ipv4[slot + 1]! - 1;
      slot = (slot + 2) % this.#ipv4.length;
    }
    const place = this.#next();
    if (place === 0) slot = slotOf(value);
    writeIpv4(value >>> 0, this.bytes, 16 * place);
    this.texts[place] = printIpv4(value >>> 0);
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

/**
 * Returns the slot of a value. The slot is taken from the high bits of a product, which depend on all bits of the
 * address.
 */
function slotOf(value: number): number {
  return 2 * (Math.imul(value, 0x9e3779b1) >>> 17);
}

export const knownAddresses = new AddressCache();
