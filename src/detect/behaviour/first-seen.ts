/** Plain data: by cell, days since the epoch; 0 where nothing was. */
export interface FirstSeenState {
  readonly first: Uint16Array;
  readonly last: Uint16Array;
}

/**
 * Since which day a name is seen, if not for longer than so many days it wasn't: for any number of names in a fixed size,
 * 4 bytes a cell. A name has two cells, which others share; what is said is the later of both, so that a name is taken
 * for one that was seen earlier only where others are in both: with 30,000 names in 2^19 cells, one in a hundred.
 */
export class FirstSeen {
  readonly #absentDays: number;
  readonly #mask: number;
  readonly #first: Uint16Array;
  readonly #last: Uint16Array;

  /**
   * @param cells - a power of two
   * @param absentDays - a name that was away for longer is new again
   */
  constructor(cells: number, absentDays: number) {
    this.#absentDays = absentDays;
    this.#mask = cells - 1;
    this.#first = new Uint16Array(cells);
    this.#last = new Uint16Array(cells);
  }

  /** Notes that a name, by two hashes of it, was seen on a day, and says since which it is. */
  see(one: number, other: number, day: number): number {
    const a = one & this.#mask;
    const b = other & this.#mask;
    this.#note(a, day, day);
    this.#note(b, day, day);
    return Math.max(this.#first[a]!, this.#first[b]!);
  }

  since(one: number, other: number): number {
    return Math.max(this.#first[one & this.#mask]!, this.#first[other & this.#mask]!);
  }

  state(): FirstSeenState {
    return { first: this.#first.slice(), last: this.#last.slice() };
  }

  restore({ first, last }: FirstSeenState): void {
    this.#first.set(first);
    this.#last.set(last);
  }

  merge({ first, last }: FirstSeenState): void {
    for (let at = 0; at < first.length; at++) if (last[at]! > 0) this.#note(at, first[at]!, last[at]!);
  }

  /** Days that are close enough are one presence; of two presences the later is kept. */
  #note(at: number, first: number, last: number): void {
    const isNew = this.#last[at] === 0 || first > this.#last[at]! + this.#absentDays;
    if (isNew) {
      this.#first[at] = first;
      this.#last[at] = last;
    } else if (last >= this.#first[at]! - this.#absentDays) {
      if (first < this.#first[at]!) this.#first[at] = first;
      if (last > this.#last[at]!) this.#last[at] = last;
    }
  }
}
