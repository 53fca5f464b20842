import {
  type AddressRange,
  addressRanges,
  addressWord,
  disjointRanges,
  ipv4Of,
  parseAddress,
  parseIpv4,
} from '../../net/ip.ts';
import { refuse, shown } from './fault.ts';

/**
 * A text parsed as an address, once for all lists of blocks. The 32-bit words are stored minus 2³¹, so that they are
 * small integers for the JavaScript engine and sort in the order of addresses.
 */
export class Address {
  /** Address family; 0 if the text is not an address. `::ffff:10.0.0.1` counts as IPv4. */
  family: 0 | 4 | 6 = 0;
  /** Words of the address. IPv4 uses only the last word. */
  readonly words = new Int32Array(4);

  read(text: string): void {
    const value = parseIpv4(text);
    if (value >= 0) this.#isIpv4(value);
    else this.#readOther(text);
  }

  #readOther(text: string): void {
    this.family = 0;
    if (!parseAddress(text, bytes)) return;
    const value = ipv4Of(bytes);
    if (value >= 0) return this.#isIpv4(value);
    this.family = 6;
    for (let at = 0; at < 4; at++) this.words[at] = ordered(addressWord(bytes, 4 * at));
  }

  #isIpv4(value: number): void {
    this.family = 4;
    this.words[3] = ordered(value);
  }
}

const bytes = new Uint8Array(16);

const ordered = (word: number): number => word ^ 0x8000_0000;

/** Address blocks as ascending, disjoint ranges. A membership test takes log₂(number of blocks) steps. */
export class Blocks {
  /** Key that is equal for lists with the same disjoint ranges, regardless of notation. */
  readonly key: string;
  /** The first and the last address of each range, one word each. */
  readonly #ipv4: Int32Array;
  /** The first and the last address of each range, four words each. */
  readonly #ipv6: Int32Array;

  /** @throws RuleError for texts other than addresses and CIDR blocks */
  constructor(blocks: readonly string[]) {
    const ranges = disjointRanges(
      blocks.flatMap(
        (block) => addressRanges(block.trim()) ?? refuse(`has ${shown(block)}, which is not an address or CIDR block`),
      ),
    );
    const isIpv4 = ({ first }: AddressRange): boolean => ipv4Of(first) >= 0;
    this.#ipv4 = words(ranges.filter(isIpv4), 3);
    this.#ipv6 = words(
      ranges.filter((range) => !isIpv4(range)),
      0,
    );
    this.key = `${this.#ipv4.join()};${this.#ipv6.join()}`;
  }

  /** Returns true if a block contains the address, with a binary search. */
  has({ family, words }: Address): boolean {
    if (family === 4) return this.#hasIpv4(words[3]!);
    return family === 6 && this.#hasIpv6(words);
  }

  #hasIpv4(word: number): boolean {
    const ranges = this.#ipv4;
    let from = 0;
    let to = ranges.length >> 1;
    while (from < to) {
      const middle = (from + to) >> 1;
      if (word < ranges[2 * middle]!) to = middle;
      else if (word > ranges[2 * middle + 1]!) from = middle + 1;
      else return true;
    }
    return false;
  }

  #hasIpv6(words: Int32Array): boolean {
    const ranges = this.#ipv6;
    let from = 0;
    let to = ranges.length >> 3;
    while (from < to) {
      const middle = (from + to) >> 1;
      if (compareWords(words, ranges, 8 * middle) < 0) to = middle;
      else if (compareWords(words, ranges, 8 * middle + 4) > 0) from = middle + 1;
      else return true;
    }
    return false;
  }
}

function compareWords(words: Int32Array, others: Int32Array, from: number): number {
  for (let at = 0; at < 4; at++) {
    const word = words[at]!;
    const other = others[from + at]!;
    if (word !== other) return word < other ? -1 : 1;
  }
  return 0;
}

/** Returns the first and the last address of each range, from the given word on. */
function words(ranges: readonly AddressRange[], from: number): Int32Array {
  return Int32Array.from(
    ranges
      .flatMap(({ first, last }) => [first, last])
      .flatMap((address) => [0, 1, 2, 3].slice(from).map((word) => ordered(addressWord(address, 4 * word)))),
  );
}
