import { AhoCorasick } from './aho-corasick.ts';
import { Candidates } from './candidates.ts';
import { type FieldCache, scalarText } from './field-cache.ts';
import { fold, isAscii } from './fold.ts';
import type { Literal } from './item.ts';

/**
 * Maximum characters of a literal in the index. This length is selective enough, and saves 16 of 20 MB with 3,000
 * rules.
 */
const maxLength = 12;
/**
 * Approximate maximum of the automaton's states. If there are many literals, the literals are shortened, so that the
 * automaton stays below this number.
 */
const maxStates = 2 ** 17;
/** Minimum characters to which literals are shortened. This length is still selective. */
const minLength = 4;

interface Entry {
  readonly where: Literal['where'];
  readonly text: string;
  readonly rules: number[];
}

/**
 * The literals of rules in one field: whole values in a map, parts of values in one automaton, all
 * case-folded. A literal that occurs several times in a value is reported once.
 */
export class LiteralIndex {
  readonly #slot: FieldCache;
  readonly #whole = new Map<string, number[]>();
  /**
   * One byte per hash: 1 for the hashes of whole values. For most other texts the byte is 0, and reading the byte takes
   * a tenth of the time of a map look-up.
   */
  readonly #marks = new Uint8Array(marks);
  /** Whole values that are numbers, so that ports need not be converted to texts. */
  readonly #numbers = new Map<number, number[]>();
  readonly #entries: readonly Entry[];
  readonly #automaton: AhoCorasick | undefined;
  readonly #toldAt: Float64Array;
  #scans = 0;
  #length = 0;
  #candidates = new Candidates(0);

  constructor(slot: FieldCache, literals: readonly { readonly literal: Literal; readonly rule: number }[]) {
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

  /** Adds the rules that the value of the field, or any value in a list, may match. */
  find(candidates: Candidates): void {
    const { value } = this.#slot;
    if (value === undefined || value === null) return;
    this.#candidates = candidates;
    if (!Array.isArray(value)) {
      const text = this.#whole.size > 0 && typeof value === 'string' ? this.#slot.text('folded') : undefined;
      this.#look(value, text);
    } else for (let at = 0; at < value.length; at++) this.#look(value[at], undefined);
  }

  /** @param folded - the case-folded text, if already known */
  #look(value: unknown, folded: string | undefined): void {
    if (typeof value === 'number' && this.#automaton === undefined && Number.isFinite(value)) {
      this.#tell(this.#numbers.get(value));
      return;
    }
    const text = scalarText(value);
    if (text === undefined) return;
    if (this.#whole.size > 0) this.#findWhole(folded ?? fold(text));
    if (this.#automaton !== undefined) this.#scan(folded ?? (isAscii(text) ? text : fold(text)), this.#automaton);
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

  /** Reused for all scans, so that no function is created per record. */
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

/** Size of `#marks`: with a few hundred values, most bytes stay 0. */
const marks = 4096;

/** Hashes the length and three characters of a text. */
function markOf(text: string): number {
  const { length } = text;
  if (length === 0) return 0;
  const inner = text.charCodeAt(length >> 1);
  return (text.charCodeAt(0) * 1021 + inner * 67 + text.charCodeAt(length - 1) * 7 + length) & (marks - 1);
}
