import { hash, randomBytes } from 'node:crypto';

/** A minute of strangers at full speed leaves most of them empty, so that two seldom share one. */
export const slotCount = 2 ** 16;

/** Slots remembered, so that who comes again costs no hash (1.3 µs); forgotten all at once when there are more. */
const maxRemembered = 4096;

/**
 * Places of names in a table of `slotCount` rows. Names and addresses are the attacker's to choose, so they are placed
 * by a hash under a key of this process, at which nobody can aim: a table of fixed size stands for all there can be.
 * Two that share a slot share what is counted there.
 */
export class KeyedSlots {
  readonly #key = randomBytes(32).toString('hex');
  readonly #remembered = new Map<string, number>();

  of(name: string): number {
    const before = this.#remembered.get(name);
    if (before !== undefined) return before;
    const slot = Number.parseInt(hash('sha256', this.#key + name).slice(0, 4), 16);
    if (name.length > 100) return slot;
    if (this.#remembered.size >= maxRemembered) this.#remembered.clear();
    this.#remembered.set(name, slot);
    return slot;
  }
}
