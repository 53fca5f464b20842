/**
 * Finds many literals in a text in one pass (Aho and Corasick, 1975). A state is the longest suffix of the text read so
 * far that is a prefix of a literal. A table contains the next state for each state and character. A character costs
 * one look-up regardless of the number of literals:
 *
 *     next[row of the state + class of the character] → row of the state; its complement if a literal ends there
 *     ends[state] → literals that end here;  shorter[state] → the longest other state with literals that end here
 *
 * The row of a state is its number times the number of classes. Characters that are in no literal are one
 * class, which leads back to the start. Characters above Latin-1 are a single class, so that a table has at
 * most 258 columns. Two literals that differ only in such characters are therefore both found where either of
 * them occurs. ASCII capitals have the class of the small letter if no literal contains the capital, so ASCII
 * text need not be folded first.
 */
export class AhoCorasick {
  readonly #classOfByte = new Uint16Array(256);
  #classBeyond = 0;
  readonly #classes: number;
  readonly #next: Int32Array;
  readonly #ends: readonly (readonly number[] | undefined)[];
  readonly #shorter: Int32Array;

  /** @param literals - nonempty texts, identified by their index */
  constructor(literals: readonly string[]) {
    this.#classes = 1 + this.#classify(literals);
    const children: Map<number, number>[] = [new Map()];
    const ends: (number[] | undefined)[] = [undefined];
    literals.forEach((literal, index) => {
      let state = 0;
      for (let at = 0; at < literal.length; at++) {
        const kind = this.#classOf(literal.charCodeAt(at));
        let child = children[state]!.get(kind);
        if (child === undefined) {
          child = children.push(new Map()) - 1;
          ends.push(undefined);
          children[state]!.set(kind, child);
        }
        state = child;
      }
      const here = ends[state];
      if (here === undefined) ends[state] = [index];
      else here.push(index);
    });
    this.#ends = ends;
    this.#next = new Int32Array(children.length * this.#classes);
    this.#shorter = new Int32Array(children.length).fill(-1);
    this.#connect(children);
    for (let letter = 65; letter <= 90; letter++) this.#classOfByte[letter] ||= this.#classOfByte[letter + 32]!;
    this.#next.forEach((state, at) => {
      const row = state * this.#classes;
      this.#next[at] = ends[state] === undefined && this.#shorter[state]! < 0 ? row : ~row;
    });
  }

  /** Calls `found` for every position where a literal ends. */
  scan(text: string, found: (literal: number, end: number) => void): void {
    const next = this.#next;
    const classOfByte = this.#classOfByte;
    let row = 0;
    for (let at = 0; at < text.length; at++) {
      const unit = text.charCodeAt(at);
      row = next[row + (unit < 256 ? classOfByte[unit]! : this.#classBeyond)]!;
      if (row >= 0) continue;
      row = ~row;
      this.#tell(row / this.#classes, at + 1, found);
    }
  }

  #tell(state: number, end: number, found: (literal: number, end: number) => void): void {
    for (let from = state; from >= 0; from = this.#shorter[from]!) {
      const here = this.#ends[from];
      if (here !== undefined) for (let i = 0; i < here.length; i++) found(here[i]!, end);
    }
  }

  #classify(literals: readonly string[]): number {
    let classes = 0;
    for (const literal of literals) {
      for (let at = 0; at < literal.length; at++) {
        const unit = literal.charCodeAt(at);
        if (this.#classOf(unit) !== 0) continue;
        classes++;
        if (unit < 256) this.#classOfByte[unit] = classes;
        else this.#classBeyond = classes;
      }
    }
    return classes;
  }

  #classOf(unit: number): number {
    return unit < 256 ? this.#classOfByte[unit]! : this.#classBeyond;
  }

  /** Connects states breadth first, so that the fallback of a state is complete before the state. */
  #connect(children: readonly ReadonlyMap<number, number>[]): void {
    const classes = this.#classes;
    const fallback = new Int32Array(children.length);
    const queue: number[] = [];
    for (const [kind, child] of children[0]!) {
      this.#next[kind] = child;
      queue.push(child);
    }
    for (const state of queue) {
      const back = fallback[state]!;
      this.#shorter[state] = this.#ends[back] === undefined ? this.#shorter[back]! : back;
      for (let kind = 0; kind < classes; kind++)
        this.#next[state * classes + kind] = this.#next[back * classes + kind]!;
      for (const [kind, child] of children[state]!) {
        fallback[child] = this.#next[back * classes + kind]!;
        this.#next[state * classes + kind] = child;
        queue.push(child);
      }
    }
  }
}
