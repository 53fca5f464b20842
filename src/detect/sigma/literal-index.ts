import { AhoCorasick } from './aho-corasick.ts';
import { Candidates } from './candidates.ts';
import { fold, isAscii } from './fold.ts';
import type { Literal } from './item.ts';
import { type Slot, scalarText } from './slot.ts';

/** Characters of a literal that are looked for: enough to tell, and 3,000 rules then take 4 MB and not 20 … */
const maxLength = 12;
/** … fewer where there are very many, so that the automaton has about as many states at the most … */
const maxStates = 2 ** 17;
/** … but as many as still tell something. */
const minLength = 4;

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
  /** Marks of whole values: a text without one is none of them, which is seen for a tenth of hashing it. */
  readonly #marks = new Uint8Array(marks);
  /** Of those that a number may be, so that ports need no text. */
  readonly #numbers = new Map<number, number[]>();
  readonly #entries: readonly Entry[];
  readonly #automaton: AhoCorasick | undefined;
  readonly #toldAt: Float64Array;
  #scans = 0;
  #length = 0;
  #candidates = new Candidates(0);

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

  /** Adds the rules that the field's value, or one of its values, may match. */
  find(candidates: Candidates): void {
    const { value } = this.#slot;
    if (value === undefined || value === null) return;
    this.#candidates = candidates;
    if (!Array.isArray(value)) {
      const text = this.#whole.size > 0 && typeof value === 'string' ? this.#slot.text('folded') : undefined;
      this.#look(value, text);
    } else for (let at = 0; at < value.length; at++) this.#look(value[at], undefined);
  }

  /** @param folded - its text with case folded, where that is known */
  #look(value: unknown, folded: string | undefined): void {
    if (typeof value === 'number' && this.#automaton === undefined && Number.isFinite(value)) {
      this.#tell(this.#numbers.get(value));
      return;
    }
    const text = scalarText(value);
    if (text === undefined) return;
    if (this.#whole.size > 0) this.#findWhole(folded ?? fold(text));
    if (this.#automaton !== undefined)
      this.#scan(folded ?? (isAscii(text) ? text : fold(text)), this.#automaton);
  }

  #findWhole(text: string): void {
    if (this.#marks[markOf(text)] !== 0) this.#tell(this.#whole.get(text));
  }

  #addWhole(text: string, rule: number): void {
    const known = this.#whole.get(text);
    if (known !== undefined) {
      if (known.at(-1) !== rule) known.push(rule);
      return;
    }
    const rules = [rule];
    this.#whole.set(text, rules);
    this.#marks[markOf(text)] = 1;
    if (text !== '' && String(Number(text)) === text) this.#numbers.set(Number(text), rules);
  }

  #scan(text: string, automaton: AhoCorasick): void {
    this.#scans++;
    this.#length = text.length;
    automaton.scan(text, this.#found);
  }

  /** One function for all scans, so that none is made for a record. */
  readonly #found = (literal: number, end: number): void => {
    if (this.#toldAt[literal] === this.#scans) return;
    const { where, text, rules } = this.#entries[literal]!;
    if (where === 'start' && end !== text.length) return;
    if (where === 'end' && end !== this.#length) return;
    this.#toldAt[literal] = this.#scans;
    this.#tell(rules);
  };

  #tell(rules: readonly number[] | undefined): void {
    if (rules !== undefined) this.#candidates.addAll(rules);
  }
}

/** A few hundred values leave most marks unset. */
const marks = 4096;

/** By the length and three characters. */
function markOf(text: string): number {
  const { length } = text;
  if (length === 0) return 0;
  const inner = text.charCodeAt(length >> 1);
  return (text.charCodeAt(0) * 1021 + inner * 67 + text.charCodeAt(length - 1) * 7 + length) & (marks - 1);
}
