import type { ConnectionSlots } from './connection-slots.ts';

/** Connections after which it is counted anew, at least; a quarter of what is counted where that is more: 20 ns of each. */
const countedEvery = 4096;
const hashBits = 16;

interface Counted {
  readonly hosts: number;
  readonly srcs: Uint32Array;
  readonly dsts: Uint32Array;
  /** By hash of the destination the place of the last with it, and by place that of the one before; 0 for none. */
  readonly heads: Uint32Array;
  readonly before: Uint32Array;
}

/** How many of the hosts inside use a destination, of the pairs that are remembered; counted when somebody wants to know. */
export class Prevalence {
  readonly #slots: ConnectionSlots;
  #counted: Counted | undefined;

  /** Connections since it was counted. */
  age = 0;

  constructor(slots: ConnectionSlots) {
    this.#slots = slots;
  }

  /** @param dst - 32 bits of the destination, as of the pairs */
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
