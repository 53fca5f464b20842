/** Rules that one record may match, by number: told in any order and several times, taken in order and once. */
export class Candidates {
  /** A bit for each rule. */
  readonly #rules: Int32Array;
  /** A bit for each word of those, so that of thousands of rules few words are looked at. */
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

  /** The lowest of them, which is one no longer; -1 where none is left. */
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

/** The lowest bit that is set. */
const lowest = (bits: number): number => 31 - Math.clz32(bits & -bits);
