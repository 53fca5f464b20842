import {
  type AddressRange,
  addressRanges,
  addressWord,
  compareAddress,
  ipv4Of,
  parseAddress,
  parseIpv4,
} from '../../events/ip.ts';
import { refuse, shown } from './fault.ts';

/**
 * The address that a text is, as blocks are asked about it: parsed once, however many lists of blocks are. Words of 32
 * bits are kept less 2³¹, so that they are small integers to the engine and still in the order of addresses.
 */
export class Address {
  /** 0 where the text is no address. `::ffff:10.0.0.1` is of IPv4. */
  family: 0 | 4 | 6 = 0;
  /** Of IPv4 the last only. */
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

/**
 * Blocks of addresses, as ascending ranges that have none in common: whether an address is of one takes as many steps as
 * the number of blocks has bits.
 */
export class Blocks {
  /** The same for lists that have the same addresses, whatever way they are written. */
  readonly key: string;
  /** Of each range the first and the last address, a word each. */
  readonly #ipv4: Int32Array;
  /** Four words each. */
  readonly #ipv6: Int32Array;

  /** @throws SigmaFault for what is neither an address nor a block */
  constructor(blocks: readonly string[]) {
    const ranges = disjoint(
      blocks.flatMap(
        (block) =>
          addressRanges(block.trim()) ?? refuse(`has ${shown(block)}, which is no block of addresses`),
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

  /** Halves the ranges until the one is left that the address would be in. */
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

/** Of each range the first and the last address, from one of their words on. */
function words(ranges: readonly AddressRange[], from: number): Int32Array {
  return Int32Array.from(
    ranges
      .flatMap(({ first, last }) => [first, last])
      .flatMap((address) => [0, 1, 2, 3].slice(from).map((word) => ordered(addressWord(address, 4 * word)))),
  );
}

/** The same addresses in ascending ranges that have none in common. */
function disjoint(ranges: readonly AddressRange[]): readonly AddressRange[] {
  const found: AddressRange[] = [];
  for (const range of ranges.toSorted((a, b) => compareAddress(a.first, 0, b.first, 0))) {
    const before = found.at(-1);
    if (before === undefined || compareAddress(before.last, 0, range.first, 0) < 0) found.push(range);
    else if (compareAddress(before.last, 0, range.last, 0) < 0)
      found[found.length - 1] = { first: before.first, last: range.last };
  }
  return found;
}
