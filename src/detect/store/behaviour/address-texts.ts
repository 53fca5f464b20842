import type { AddressList } from '../../../events/format/column-readers.ts';
import { hashText } from '../../behaviour/support/distinct-sketch.ts';
import { keyedHash } from '../../behaviour/support/keyed-hash.ts';

/**
 * Bits of the slot number in the cache of IPv4 address texts. The hash of an address selects its slot. A slot holds one
 * address, and a new address replaces the previous address. The cache takes 2 MB when full.
 */
const slotBits = 15;

/**
 * Caches texts and hashes of addresses. Most addresses of a block were also in the previous block. The texts of these
 * addresses are then identical string objects, which the tables of detectors find without comparing characters.
 */
export class AddressTexts {
  /** Text that the last call of `at` found. */
  text = '';
  /** `hashText` of `text`. */
  hash = 0;
  /** `keyedHash` of `text`. */
  key = 0;
  readonly #addresses = new Uint32Array(2 ** slotBits);
  readonly #texts: string[] = new Array<string>(2 ** slotBits).fill('');
  readonly #hashes = new Uint32Array(2 ** slotBits);
  readonly #keys = new Int32Array(2 ** slotBits);

  at(list: AddressList, place: number): void {
    if (list.v4 === undefined) {
      this.text = list.text(place);
      this.hash = hashText(this.text);
      this.key = keyedHash(this.text);
      return;
    }
    const address = list.v4[place]!;
    const slot = Math.imul(address, 0x9e3779b1) >>> (32 - slotBits);
    const known = this.#texts[slot]!;
    if (this.#addresses[slot] === address && known !== '') {
      this.text = known;
      this.hash = this.#hashes[slot]!;
      this.key = this.#keys[slot]!;
      return;
    }
    const text = list.text(place);
    this.#addresses[slot] = address;
    this.#texts[slot] = text;
    this.text = text;
    this.hash = this.#hashes[slot] = hashText(text);
    this.key = this.#keys[slot] = keyedHash(text);
  }
}
