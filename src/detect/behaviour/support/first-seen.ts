/**
 * First and last day of each cell, as days since the epoch: first × 2^16 + last; 0 if the cell is empty.
 * Plain data.
 */
export type FirstSeenState = Uint32Array;

/**
 * Records the day since which a name is present, ignoring absences of at most `absentDays`. The size is fixed for any
 * number of names: 4 bytes per cell. Each name shares two cells with other names, and its first day is the later day in
 * these cells. A name therefore looks older than it is only if other names are in both cells: one name in a hundred
 * with 30,000 names in 2^19 cells.
 */
export class FirstSeen {
  readonly #absentDays: number;
  readonly #mask: number;
  readonly #cells: Uint32Array;

  /**
   * @param cells - a power of two
   * @param absentDays - a name that was absent for longer is new again
   */
  constructor(cells: number, absentDays: number) {
    this.#absentDays = absentDays;
    this.#mask = cells - 1;
    this.#cells = new Uint32Array(cells);
  }

  /** Records a day for a name, given by two hashes, and returns its first day. */
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

  /**
   * Adds days to a cell. Days that are close enough are joined into one presence; of two presences, the later
   * is stored. Returns the first day of the presence.
   */
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
