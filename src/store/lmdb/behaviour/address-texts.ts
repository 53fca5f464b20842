import { hashText } from '../../../detect/behaviour/distinct-names.ts';
import type { AddressList } from '../../../events/column-readers.ts';

/** IPv4 addresses whose texts are kept, by a hash; the next in its place drives one out. 2 MB when all are in use. */
const slotBits = 15;

/**
 * Texts of addresses, and their hashes, block after block. Most addresses of a block were in the one before: their
 * texts then are the same strings, which the tables of detectors find without reading them.
 */
export class AddressTexts {
  /** What `at` found. */
  text = '';
  /** `hashText` of it. */
  hash = 0;
  readonly #addresses = new Uint32Array(2 ** slotBits);
  readonly #texts: string[] = new Array<string>(2 ** slotBits).fill('');
  readonly #hashes = new Uint32Array(2 ** slotBits);

  at(list: AddressList, place: number): void {
    if (list.v4 === undefined) {
      this.text = list.text(place);
      this.hash = hashText(this.text);
      return;
    }
    const address = list.v4[place]!;
    const slot = Math.imul(address, 0x9e3779b1) >>> (32 - slotBits);
    const known = this.#texts[slot]!;
    if (this.#addresses[slot] === address && known !== '') {
      this.text = known;
      this.hash = this.#hashes[slot]!;
      return;
    }
    const text = list.text(place);
    this.#addresses[slot] = address;
    this.#texts[slot] = text;
    this.text = text;
    this.hash = this.#hashes[slot] = hashText(text);
  }
}
