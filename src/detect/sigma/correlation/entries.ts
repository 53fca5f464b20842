/** What came for one group, sorted by time; of equal times in order of arrival. Grows at the end, shrinks at the beginning. */
export class Entries<Value> {
  /** The ones before `head` are gone and cut off in bulk, so that taking one away costs nothing. */
  #head = 0;
  #times: number[];
  #values: Value[];
  /** How many inputs each stands for; undefined while each is one. */
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

  /** Where the first one at or after a time is. */
  from(time: number): number {
    return this.#search((other) => other < time);
  }

  /** Where the first one after a time is. */
  after(time: number): number {
    return this.#search((other) => other <= time);
  }

  /** Puts one in its place, after those of the same time. */
  add(time: number, value: Value): void {
    const end = this.#times.length;
    if (end === 0) {
      // A pushed array has room for 17, and most groups never have more than one.
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

  /** Takes away the first ones. */
  drop(count: number): void {
    this.#head += count;
    if (this.#head > 32 && 2 * this.#head > this.#times.length) this.#cut();
  }

  /** How many inputs the entries [from, to) stand for. */
  inputs(from: number, to: number): number {
    if (this.#weights === undefined) return Math.max(0, to - from);
    let sum = 0;
    for (let i = from; i < to; i++) sum += this.weight(i);
    return sum;
  }

  /** Entries of these times stand for no inputs: they are counted elsewhere. */
  unweigh(counted: (time: number) => boolean): void {
    this.#cut();
    const weights = this.#weights ?? this.#times.map(() => 1);
    this.#weights = weights.map((weight, i) => (counted(this.#times[i]!) ? 0 : weight));
  }

  /** Makes each that has a later one to go `into` part of that one; the others, which name themselves, stay. */
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

  /** Makes one of each two neighbours, with the time of the later one. Of an odd number the first stays alone. */
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

  /** Copies of its columns. */
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
