import { limits } from '../../../limits.ts';
import { refuse } from '../fault.ts';
import { type CharSet, charSet, digits, negate, newline, spaces, union, withoutCase, wordUnits } from './char-set.ts';

/** A regular expression as a tree. */
export type Regex =
  | { readonly kind: 'unit'; readonly set: CharSet }
  | { readonly kind: 'sequence' | 'choice'; readonly of: readonly Regex[] }
  | { readonly kind: 'repeat'; readonly of: Regex; readonly min: number; readonly max: number }
  | { readonly kind: 'assert'; readonly what: Assertion };

/** A condition on the characters on both sides of a position. */
export type Assertion = 'text start' | 'text end' | 'line start' | 'line end' | 'word edge' | 'no word edge';

/** The flags `i`, `m` and `s` of PCRE. */
export interface RegexFlags {
  readonly i: boolean;
  readonly m: boolean;
  readonly s: boolean;
}

/**
 * Parses the regular subset of PCRE: the syntax in the specification of `re` (`.` `^` `$` `*` `+` `?` `{n,m}` `[…]`
 * `(…)` `|`), and extensions that public rules use: `\d \w \s \b`, non-capturing groups, lazy quantifiers, `(?i)`.
 * Characters are UTF-16 units. Look-around, backreferences and possessive quantifiers cannot be matched in linear time
 * and are refused.
 *
 * @throws RuleError with the problem and its position
 */
export function parseRegex(source: string, flags: RegexFlags): Regex {
  return new Parser(source, flags).parse();
}

class Parser {
  readonly #source: string;
  #flags: RegexFlags;
  #at = 0;
  #depth = 0;

  constructor(source: string, flags: RegexFlags) {
    this.#source = source;
    this.#flags = flags;
  }

  parse(): Regex {
    const tree = this.#choice();
    return this.#at === this.#source.length ? tree : this.#refuse('a parenthesis was not opened');
  }

  /** Parses alternatives. Flags that are set inside a group apply up to the end of the group. */
  #choice(): Regex {
    const outer = this.#flags;
    const of = [this.#sequence()];
    while (this.#take('|')) of.push(this.#sequence());
    this.#flags = outer;
    return of.length === 1 ? of[0]! : { kind: 'choice', of };
  }

  #sequence(): Regex {
    const of: Regex[] = [];
    while (this.#at < this.#source.length && this.#next !== '|' && this.#next !== ')') {
      const part = this.#atom();
      if (part !== undefined) of.push(this.#repeated(part));
    }
    return of.length === 1 ? of[0]! : { kind: 'sequence', of };
  }

  #repeated(of: Regex): Regex {
    const [min, max] = this.#quantifier() ?? [1, 1];
    if (min === 1 && max === 1) return of;
    if (this.#take('+')) return this.#refuse('possessive quantifiers are not supported');
    this.#take('?');
    if (this.#quantifier() !== undefined) return this.#refuse('a repetition cannot be repeated');
    return { kind: 'repeat', of, min, max };
  }

  #quantifier(): readonly [number, number] | undefined {
    if (this.#take('*')) return [0, Number.POSITIVE_INFINITY];
    if (this.#take('+')) return [1, Number.POSITIVE_INFINITY];
    if (this.#take('?')) return [0, 1];
    const [all, first, comma, last] =
      /^\{(\d{1,6})(,?)(\d{0,6})\}/.exec(this.#source.slice(this.#at, this.#at + 16)) ?? [];
    if (all === undefined || (comma === '' && last !== '')) return undefined;
    this.#at += all.length;
    const min = Number(first);
    const max = comma === '' ? min : last === '' ? Number.POSITIVE_INFINITY : Number(last);
    if (max < min) return this.#refuse(`the quantifier {${min},${max}} has a maximum below its minimum`);
    if (min > limits.maxRegexStates || (max > limits.maxRegexStates && max !== Number.POSITIVE_INFINITY))
      return this.#refuse(`a quantifier repeats more than ${limits.maxRegexStates} times`);
    return [min, max];
  }

  /** Parses an item that a quantifier may follow; returns undefined if the item only sets flags. */
  #atom(): Regex | undefined {
    const char = this.#source[this.#at++]!;
    switch (char) {
      case '(':
        return this.#group();
      case '[':
        return this.#unit(this.#class());
      case '.':
        return { kind: 'unit', set: this.#flags.s ? negate([]) : negate(newline) };
      case '^':
        return { kind: 'assert', what: this.#flags.m ? 'line start' : 'text start' };
      case '$':
        return this.#flags.m ? { kind: 'assert', what: 'line end' } : beforeLastNewline;
      case '\\':
        return this.#escape();
      case '*':
      case '+':
      case '?':
        this.#at--;
        return this.#refuse('a quantifier has nothing to repeat');
      default:
        return this.#unit(literal(char));
    }
  }

  #unit(set: CharSet): Regex {
    return { kind: 'unit', set: this.#flags.i ? withoutCase(set) : set };
  }

  #group(): Regex | undefined {
    const outer = this.#flags;
    if (this.#take('?')) {
      const [all, on = '', off = '', end] =
        /^([ims]*)(?:-([ims]*))?([:)])/.exec(this.#source.slice(this.#at, this.#at + 16)) ?? [];
      const named = /^(?:P?<[A-Za-z_]\w{0,31}>|'[A-Za-z_]\w{0,31}')/.exec(this.#source.slice(this.#at, this.#at + 40));
      if (all !== undefined) {
        this.#at += all.length;
        this.#flags = { i: flag('i'), m: flag('m'), s: flag('s') };
        if (end === ')') return undefined;
      } else if (named !== null) this.#at += named[0].length;
      else return this.#refuse('look-around, back references and other special groups are not supported');
      function flag(name: 'i' | 'm' | 's'): boolean {
        return on.includes(name) || (outer[name] && !off.includes(name));
      }
    }
    if (++this.#depth > limits.maxSigmaNesting)
      return this.#refuse(`more than ${limits.maxSigmaNesting} nested groups`);
    const inside = this.#choice();
    if (!this.#take(')')) return this.#refuse('a parenthesis is not closed');
    this.#depth--;
    this.#flags = outer;
    return inside;
  }

  #escape(): Regex {
    const char = this.#source[this.#at];
    const assertion = assertions.get(char);
    if (assertion !== undefined) {
      this.#at++;
      return assertion;
    }
    return this.#unit(this.#escapedSet());
  }

  /** Parses the text after a backslash, inside or outside of a class. */
  #escapedSet(): CharSet {
    const char = this.#source[this.#at++];
    if (char === undefined) return this.#refuse('a backslash must be followed by a character');
    const set = classes.get(char);
    if (set !== undefined) return set;
    if (char === 'x' || char === 'u') {
      const [all, short, long] = hexadecimal[char].exec(this.#source.slice(this.#at, this.#at + 8)) ?? [];
      if (all === undefined) return this.#refuse(`\\${char} needs a hexadecimal character code`);
      this.#at += all.length;
      const unit = Number.parseInt(short ?? long!, 16);
      return [unit, unit];
    }
    if (/[0-9]/.test(char)) return this.#refuse('back references and octal character codes are not supported');
    if (/[A-Za-z]/.test(char)) return this.#refuse(`the escape \\${char} is unknown or not supported`);
    return literal(char);
  }

  #class(): CharSet {
    const negated = this.#take('^');
    const ranges: CharSet[] = [];
    const start = this.#at;
    while (this.#next !== ']' || this.#at === start) {
      if (this.#at >= this.#source.length) return this.#refuse('a character class is not closed');
      const first = this.#classUnit();
      const dash = this.#next === '-' && this.#source[this.#at + 1] !== ']' && this.#at + 1 < this.#source.length;
      // After a class such as `\w`, a dash is literal.
      if (!dash || !isOne(first)) {
        ranges.push(first);
        continue;
      }
      this.#at++;
      const last = this.#classUnit();
      if (!isOne(last)) return this.#refuse('the end of a character range must be a single character');
      if (last[0]! < first[0]!) return this.#refuse('the end of a character range is below its start');
      ranges.push([first[0]!, last[0]!]);
    }
    this.#at++;
    const set = this.#flags.i ? withoutCase(union(...ranges)) : union(...ranges);
    return negated ? negate(set) : set;
  }

  #classUnit(): CharSet {
    const char = this.#source[this.#at++]!;
    if (char === '[' && /[:.=]/.test(this.#next ?? '')) return this.#refuse('POSIX classes are not supported');
    if (/[\uD800-\uDFFF]/.test(char))
      return this.#refuse('characters above U+FFFF are not supported in a character class');
    if (char !== '\\') return literal(char);
    if (this.#take('b')) return [8, 8];
    return this.#escapedSet();
  }

  get #next(): string | undefined {
    return this.#source[this.#at];
  }

  #take(char: string): boolean {
    const found = this.#next === char;
    if (found) this.#at++;
    return found;
  }

  #refuse(reason: string): never {
    return refuse(`is not a supported regular expression: ${reason} (at character ${this.#at + 1})`);
  }
}

const literal = (char: string): CharSet => [char.charCodeAt(0), char.charCodeAt(0)];

const isOne = (set: CharSet): boolean => set.length === 2 && set[0] === set[1];

/** Matches at the end, and before a newline that is the last character, like `$` in PCRE. */
const beforeLastNewline: Regex = {
  kind: 'sequence',
  of: [
    { kind: 'repeat', of: { kind: 'unit', set: newline }, min: 0, max: 1 },
    { kind: 'assert', what: 'text end' },
  ],
};

const assertions: ReadonlyMap<string | undefined, Regex> = new Map<string | undefined, Regex>([
  ['b', { kind: 'assert', what: 'word edge' }],
  ['B', { kind: 'assert', what: 'no word edge' }],
  ['A', { kind: 'assert', what: 'text start' }],
  ['z', { kind: 'assert', what: 'text end' }],
  ['Z', beforeLastNewline],
]);

const classes: ReadonlyMap<string, CharSet> = new Map([
  ['d', digits],
  ['D', negate(digits)],
  ['w', wordUnits],
  ['W', negate(wordUnits)],
  ['s', spaces],
  ['S', negate(spaces)],
  ['t', charSet([[9, 9]])],
  ['n', newline],
  ['v', charSet([[10, 13]])],
  ['f', charSet([[12, 12]])],
  ['r', charSet([[13, 13]])],
]);

const hexadecimal = {
  x: /^(?:([0-9a-fA-F]{2})|\{([0-9a-fA-F]{1,4})\})/,
  u: /^(?:([0-9a-fA-F]{4})|\{([0-9a-fA-F]{1,4})\})/,
} as const;
