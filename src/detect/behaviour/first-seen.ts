/** Plain data: by cell, days since the epoch, the first × 2^16 + the last; 0 where nothing was. */
export type FirstSeenState = Uint32Array;

/**
 * Since which day a name is seen, if not for longer than so many days it wasn't: for any number of names in a fixed size,
 * 4 bytes a cell. A name has two cells, which others share; what is said is the later of both, so that a name is taken
 * for one that was seen earlier only where others are in both: with 30,000 names in 2^19 cells, one in a hundred.
 */
export class FirstSeen {
  readonly #absentDays: number;
  readonly #mask: number;
  readonly #cells: Uint32Array;

  /**
   * @param cells - a power of two
   * @param absentDays - a name that was away for longer is new again
   */
  constructor(cells: number, absentDays: number) {
    this.#absentDays = absentDays;
    this.#mask = cells - 1;
    this.#cells = new Uint32Array(cells);
  }

  /** Notes that a name, by two hashes of it, was seen on a day, and says since which it is. */
  see(one: number, other: number, day: number): number {
    return Math.max(this.#note(one & this.#mask, day, day), this.#note(other & this.#mask, day, day));
  }

  since(one: number, other: number): number {
    return Math.max(this.#cells[one & this.#mask]! >>> 16, this.#cells[other & this.#mask]! >>> 16);
  }

  state(): FirstSeenState {
    return this.#cells.slice();
  }

  restore(state: FirstSeenState): void {
    this.#cells.set(state);
  }

  merge(state: FirstSeenState): void {
    for (let at = 0; at < state.length; at++) {
      const cell = state[at]!;
      if (cell > 0) this.#note(at, cell >>> 16, cell & 0xffff);
    }
  }

  /** Days that are close enough are one presence; of two presences the later is kept. Gives its first day. */
  #note(at: number, first: number, last: number): number {
    const cell = this.#cells[at]!;
    let from = cell >>> 16;
    let to = cell & 0xffff;
    if (first >= from && last <= to) return from;
    if (to === 0 || first > to + this.#absentDays) {
      from = first;
      to = last;
    } else if (last >= from - this.#absentDays) {
      if (first < from) from = first;
      if (last > to) to = last;
    }
    this.#cells[at] = ((from << 16) | to) >>> 0;
    return from;
  }
}
