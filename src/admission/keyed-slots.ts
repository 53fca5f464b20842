import { hash, randomBytes } from 'node:crypto';

/**
 * The number of slots. Even a minute of attacks at full speed leaves most slots empty, so that two names
 * rarely share a slot.
 */
export const slotCount = 2 ** 16;

/**
 * Maximum number of cached slots, which save a hash (1.3 µs) for recurring names; a full cache is cleared.
 */
const maxRemembered = 4096;

/**
 * Maps names to rows of a table with `slotCount` rows, so that a table of fixed size serves any number of
 * names. Attackers can choose names and addresses, so slots are computed by a hash with a key of this
 * process: collisions are unpredictable. Names that share a slot share its counts.
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
