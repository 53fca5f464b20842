/**
 * Rules that a record may match, by number. Rules can be added in any order and repeatedly. They are removed in
 * ascending order, without duplicates.
 */
export class Candidates {
  /** One bit for each rule. */
  readonly #rules: Int32Array;
  /** One bit for each word of `#rules`, so that few words are read even with thousands of rules. */
  readonly #words: Int32Array;

  constructor(rules: number) {
    this.#rules = new Int32Array((rules + 31) >> 5);
    this.#words = new Int32Array((this.#rules.length + 31) >> 5);
  }

  add(rule: number): void {
    const word = rule >> 5;
    this.#rules[word]! |= 1 << (rule & 31);
    this.#words[word >> 5]! |= 1 << (word & 31);
  }

  addAll(rules: readonly number[]): void {
    for (let at = 0; at < rules.length; at++) this.add(rules[at]!);
  }

  /** Removes and returns the lowest rule; -1 without rules. */
  take(): number {
    for (let top = 0; top < this.#words.length; top++) {
      const words = this.#words[top]!;
      if (words === 0) continue;
      const word = 32 * top + lowest(words);
      const rules = this.#rules[word]!;
      const left = rules & (rules - 1);
      this.#rules[word] = left;
      if (left === 0) this.#words[top] = words & (words - 1);
      return 32 * word + lowest(rules);
    }
    return -1;
  }
}

/** Returns the index of the lowest set bit. */
const lowest = (bits: number): number => 31 - Math.clz32(bits & -bits);
