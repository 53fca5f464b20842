import { AhoCorasick } from './aho-corasick.ts';
import type { Literal } from './item.ts';
import { type Slot, scalarText } from './slot.ts';

/** Characters of a literal that are looked for: enough to tell, and 3,000 rules then take 4 MB and not 20 … */
const maxLength = 12;
/** … fewer where there are very many, so that the automaton has about as many states at the most … */
const maxStates = 2 ** 17;
/** … but as many as still tell something. */
const minLength = 4;

/** Takes the numbers of the rules of which a literal was found; a rule may come more than once. */
export type Mark = (rule: number) => void;

interface Entry {
  readonly where: Literal['where'];
  readonly text: string;
  readonly rules: number[];
}

/**
 * The literals that rules look for in one field: whole values in a map, parts of values by one automaton. All are with
 * case folded. A literal that is found several times in one value is told once.
 */
export class LiteralIndex {
  readonly #slot: Slot;
  readonly #whole = new Map<string, number[]>();
  /** Of those that a number may be, so that ports need no text. */
  readonly #numbers = new Map<number, number[]>();
  readonly #entries: readonly Entry[];
  readonly #automaton: AhoCorasick | undefined;
  readonly #toldAt: Float64Array;
  #scan = 0;
  #length = 0;
  #mark: Mark = () => {};

  constructor(slot: Slot, literals: readonly { readonly literal: Literal; readonly rule: number }[]) {
    this.#slot = slot;
    const parts = new Map<string, Entry>();
    const length = Math.min(maxLength, Math.max(minLength, Math.floor(maxStates / literals.length)));
    for (const { literal, rule } of literals) {
      if (literal.where === 'whole') this.#addWhole(literal.text, rule);
      else {
        const { where } = literal;
        const text = where === 'end' ? literal.text.slice(-length) : literal.text.slice(0, length);
        const key = `${where} ${text}`;
        const entry = parts.get(key) ?? { where, text, rules: [] };
        if (entry.rules.at(-1) !== rule) entry.rules.push(rule);
        parts.set(key, entry);
      }
    }
    this.#entries = [...parts.values()];
    this.#automaton = parts.size === 0 ? undefined : new AhoCorasick(this.#entries.map(({ text }) => text));
    this.#toldAt = new Float64Array(parts.size).fill(-1);
  }

  /** Marks the rules that the field's value, or one of its values, may match. */
  find(mark: Mark): void {
    const { value } = this.#slot;
    if (value === undefined || value === null) return;
    this.#mark = mark;
    if (typeof value === 'number' && this.#automaton === undefined) this.#tell(this.#numbers.get(value));
    else if (!Array.isArray(value)) this.#look(this.#slot.text('folded'));
    else if (value.some((element: unknown) => scalarText(element) !== undefined))
      for (const text of this.#slot.texts('folded')) this.#look(text);
  }

  #addWhole(text: string, rule: number): void {
    const known = this.#whole.get(text);
    if (known !== undefined) {
      if (known.at(-1) !== rule) known.push(rule);
      return;
    }
    const rules = [rule];
    this.#whole.set(text, rules);
    if (text !== '' && String(Number(text)) === text) this.#numbers.set(Number(text), rules);
  }

  #look(text: string | undefined): void {
    if (text === undefined) return;
    if (this.#whole.size > 0) this.#tell(this.#whole.get(text));
    if (this.#automaton === undefined) return;
    this.#scan++;
    this.#length = text.length;
    this.#automaton.scan(text, this.#found);
  }

  /** One function for all scans, so that none is made for a record. */
  readonly #found = (literal: number, end: number): void => {
    if (this.#toldAt[literal] === this.#scan) return;
    const { where, text, rules } = this.#entries[literal]!;
    if (where === 'start' && end !== text.length) return;
    if (where === 'end' && end !== this.#length) return;
    this.#toldAt[literal] = this.#scan;
    this.#tell(rules);
  };

  #tell(rules: readonly number[] | undefined): void {
    if (rules === undefined) return;
    for (let at = 0; at < rules.length; at++) this.#mark(rules[at]!);
  }
}
