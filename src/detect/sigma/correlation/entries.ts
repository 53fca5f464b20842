/**
 * The inputs of one group, sorted by time, then by arrival. Entries are added at the end and dropped from the
 * beginning.
 */
export class Entries<Value> {
  /**
   * Number of dropped entries at the beginning. Dropped entries are removed in bulk, so that each drop is
   * cheap.
   */
  #head = 0;
  #times: number[];
  #values: Value[];
  /** Number of inputs per entry; undefined while each entry is a single input. */
  #weights: number[] | undefined;

  constructor(times: number[] = [], values: Value[] = [], weights?: number[]) {
    this.#times = times;
    this.#values = values;
    this.#weights = weights;
  }

  get length(): number {
    return this.#times.length - this.#head;
  }

  time(i: number): number {
    return this.#times[this.#head + i]!;
  }

  value(i: number): Value {
    return this.#values[this.#head + i]!;
  }

  weight(i: number): number {
    return this.#weights === undefined ? 1 : this.#weights[this.#head + i]!;
  }

  /** Returns the index of the first entry at or after a time. */
  from(time: number): number {
    return this.#search((other) => other < time);
  }

  /** Returns the index of the first entry after a time. */
  after(time: number): number {
    return this.#search((other) => other <= time);
  }

  /** Inserts an entry after the entries of that time. */
  add(time: number, value: Value): void {
    const end = this.#times.length;
    if (end === 0) {
      // A push reserves room for 17 entries, and most groups never have more than one.
      this.#times = [time];
      this.#values = [value];
      this.#weights &&= [1];
    } else if (end === this.#head || this.#times[end - 1]! <= time) {
      this.#times.push(time);
      this.#values.push(value);
      this.#weights?.push(1);
    } else {
      const at = this.#head + this.after(time);
      this.#times.splice(at, 0, time);
      this.#values.splice(at, 0, value);
      this.#weights?.splice(at, 0, 1);
    }
  }

  /** Drops `count` entries from the beginning. */
  drop(count: number): void {
    this.#head += count;
    if (this.#head > 32 && 2 * this.#head > this.#times.length) this.#cut();
  }

  /** Returns the number of inputs in the entries [from, to). */
  inputs(from: number, to: number): number {
    if (this.#weights === undefined) return Math.max(0, to - from);
    let sum = 0;
    for (let i = from; i < to; i++) sum += this.weight(i);
    return sum;
  }

  /**
   * Sets the weight of an entry to zero if `counted` returns true for its time: the figures of an episode already
   * include the entry.
   */
  unweigh(counted: (time: number) => boolean): void {
    this.#cut();
    const weights = this.#weights ?? this.#times.map(() => 1);
    this.#weights = weights.map((weight, i) => (counted(this.#times[i]!) ? 0 : weight));
  }

  /**
   * Merges each entry into the later entry whose index `into` returns. Entries that are mapped to themselves
   * remain.
   */
  gather(into: (i: number) => number): void {
    const { times, values, weights = times.map(() => 1) } = this.columns();
    const stays = times.map((_, i) => {
      const at = into(i);
      if (at !== i) weights[at]! += weights[i]!;
      return at === i;
    });
    this.#times = times.filter((_, i) => stays[i]);
    this.#values = values.filter((_, i) => stays[i]);
    this.#weights = weights.filter((_, i) => stays[i]);
  }

  /**
   * Merges neighbours in pairs, with the time of the later neighbour. If the number of entries is odd, the first entry
   * is not merged.
   */
  halve(merge: (one: Value, other: Value) => Value): void {
    const times: number[] = [];
    const values: Value[] = [];
    const weights: number[] = [];
    for (let i = (this.length + 1) % 2; i < this.length; i += 2) {
      times.push(this.time(i));
      values.push(i === 0 ? this.value(0) : merge(this.value(i - 1), this.value(i)));
      weights.push(this.weight(i) + (i === 0 ? 0 : this.weight(i - 1)));
    }
    this.#head = 0;
    this.#times = times;
    this.#values = values;
    this.#weights = weights;
  }

  /** Returns copies of the columns. */
  columns(): { times: number[]; values: Value[]; weights: number[] | undefined } {
    this.#cut();
    return {
      times: [...this.#times],
      values: [...this.#values],
      weights: this.#weights && [...this.#weights],
    };
  }

  #cut(): void {
    if (this.#head === 0) return;
    this.#times = this.#times.slice(this.#head);
    this.#values = this.#values.slice(this.#head);
    this.#weights = this.#weights?.slice(this.#head);
    this.#head = 0;
  }

  #search(before: (time: number) => boolean): number {
    let low = this.#head;
    let high = this.#times.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (before(this.#times[middle]!)) low = middle + 1;
      else high = middle;
    }
    return low - this.#head;
  }
}
