import type { ConnectionSlots } from './connection-slots.ts';

/**
 * Minimum connections between two counts, or a quarter of the counted connections if that is more. Counting
 * costs 20 ns per connection.
 */
const countedEvery = 4096;
const hashBits = 16;

interface Counted {
  readonly hosts: number;
  readonly srcs: Uint32Array;
  readonly dsts: Uint32Array;
  /** Last position by the hash of a destination; 0 without a position. */
  readonly heads: Uint32Array;
  /** Previous position with the same hash, by position; 0 marks the end. */
  readonly before: Uint32Array;
}

/** Counts on demand how many home hosts use a destination, from the stored pairs. */
export class Prevalence {
  readonly #slots: ConnectionSlots;
  #counted: Counted | undefined;

  /** Connections since the last count. */
  age = 0;

  constructor(slots: ConnectionSlots) {
    this.#slots = slots;
  }

  /**
   * Returns the number of home hosts, and the number of home hosts that use the destination.
   *
   * @param dst - 32 bits of the destination's hash, as in the pairs
   */
  of(dst: number): { hosts: number; users: number } {
    if (this.age >= Math.max(countedEvery, this.#slots.size / 4)) this.forget();
    this.#counted ??= this.#count();
    const { hosts, srcs, dsts, heads, before } = this.#counted;
    const users = new Set<number>();
    for (let at = heads[headOf(dst)]!; at > 0; at = before[at]!) if (dsts[at] === dst) users.add(srcs[at]!);
    return { hosts, users: users.size };
  }

  forget(): void {
    this.#counted = undefined;
  }

  #count(): Counted {
    this.age = 0;
    const { size } = this.#slots;
    const srcs = new Uint32Array(size + 1);
    const dsts = new Uint32Array(size + 1);
    const before = new Uint32Array(size + 1);
    const heads = new Uint32Array(2 ** hashBits);
    const hosts = new Set<number>();
    let at = 0;
    let last = -1;
    this.#slots.ends((src, dst) => {
      at++;
      srcs[at] = src;
      dsts[at] = dst;
      const head = headOf(dst);
      before[at] = heads[head]!;
      heads[head] = at;
      if (src !== last) hosts.add(src);
      last = src;
    });
    return { hosts: hosts.size, srcs, dsts, heads, before };
  }
}

const headOf = (dst: number): number => dst >>> (32 - hashBits);
