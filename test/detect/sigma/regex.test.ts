import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fold } from '../../../src/detect/sigma/fold.ts';
import { Automaton } from '../../../src/detect/sigma/regex/automaton.ts';
import { parseRegex } from '../../../src/detect/sigma/regex/parse-regex.ts';
import { compileRegex } from '../../../src/detect/sigma/regex/program.ts';
import { requiredLiterals } from '../../../src/detect/sigma/regex/required-literals.ts';
import { limits } from '../../../src/limits.ts';

const none = { i: false, m: false, s: false };

function compile(source: string, flags = none): Automaton {
  return new Automaton(compileRegex(parseRegex(source, flags)));
}

/** Compiles a random expression, and skips it if it is too large. */
function compileRandom(source: string, flags = none): Automaton {
  try {
    return compile(source, flags);
  } catch (error) {
    fc.pre(!String(error).includes(`more than ${limits.maxRegexStates} states`));
    throw error;
  }
}

/** Generates short expressions, because JavaScript's own engine takes exponential time on some of them. */
const source = fc.letrec<{ choice: string; sequence: string; part: string }>((tie) => ({
  choice: fc.array(tie('sequence'), { minLength: 1, maxLength: 3 }).map((parts) => parts.join('|')),
  sequence: fc.array(tie('part'), { maxLength: 4 }).map((parts) => parts.join('')),
  part: fc.oneof(
    { maxDepth: 2 },
    fc.constantFrom(
      'a',
      'b',
      'B',
      'é',
      '.',
      '[ab]',
      '[^a]',
      '[a-c]',
      String.raw`\d`,
      String.raw`\w`,
      String.raw`\W`,
      String.raw`\b`,
      String.raw`\B`,
      '^',
      String.raw`\.`,
      String.raw`[\w-]`,
      ' ',
    ),
    fc
      .tuple(tie('choice'), fc.constantFrom('*', '+', '?', '*?', '{2}', '{0,2}', '{1,}', ''))
      .map(([inside, quantifier]) => `(${inside})${quantifier}`),
    tie('choice').map((inside) => `(?:${inside})`),
  ),
}));
const text = fc.string({
  unit: fc.constantFrom('a', 'b', 'A', 'B', 'c', 'é', 'É', '1', '-', '.', ' ', '\n', '_'),
  maxLength: 8,
});

it('an expression has the same matches as a JavaScript RegExp', () => {
  fc.assert(
    fc.property(
      source.choice,
      fc.array(text, { minLength: 5, maxLength: 5 }),
      fc.record({ i: fc.boolean(), m: fc.boolean(), s: fc.boolean() }),
      (pattern, texts, flags) => {
        const mine = compileRandom(pattern, flags);
        const own = new RegExp(pattern, `${flags.i ? 'i' : ''}${flags.m ? 'm' : ''}${flags.s ? 's' : ''}`);
        for (const one of texts) expect([pattern, one, mine.test(one)]).toEqual([pattern, one, own.test(one)]);
      },
    ),
    // Shrinking large expressions takes minutes.
    { numRuns: 500, endOnFailure: true },
  );
});

it('every match of an expression contains one of its required literals', () => {
  fc.assert(
    fc.property(source.choice, text, fc.boolean(), (pattern, one, i) => {
      const flags = { ...none, i };
      const literals = requiredLiterals(parseRegex(pattern, flags));
      if (literals === undefined || !compileRandom(pattern, flags).test(one)) return;
      expect(literals.some((literal) => fold(one).includes(literal))).toBe(true);
    }),
    // Shrinking large expressions takes minutes.
    { numRuns: 500, endOnFailure: true },
  );
});

it.each([
  ['evil', ['evil']],
  ['(?i)EVIL', ['evil']],
  ['ab+cde*f', ['cd']],
  ['(foo|ba[rz]x)qux', ['qux']],
  ['(foo|barx)q', ['foo', 'barx']],
  ['(abc){3}', ['abcabcabc']],
  ['a?b*', undefined],
  ['.*', undefined],
  [String.raw`(?i)(ipfs\.io/|ipfs\.io\s).+\..+@.+\.[a-z]+`, ['ipfs.io/', 'ipfs.io']],
])('%s requires %j', (pattern, expected) => {
  expect(requiredLiterals(parseRegex(pattern, none))).toEqual(expected);
});

describe('matching in linear time', () => {
  /** Returns a text that counts how often its characters are read, and throws when a search backtracks. */
  function countedText(text: string) {
    let reads = 0;
    const charCodeAt = (at: number) => {
      // The character at which the state cache is full is read again.
      if (++reads > text.length + 1) throw new Error('the search backtracks');
      return text.charCodeAt(at);
    };
    return { text: { length: text.length, charCodeAt } as string, reads: () => reads };
  }

  it.each([
    '(a+)+$',
    '(a|a)*b',
    '(a|aa)+$',
    '(.*)*x',
    '(.*a){20}',
    '([a-zA-Z]+)*$',
    '^(([a-z])+.)+[A-Z]([a-z])+$',
    'a*a*a*a*a*a*a*a*b',
    '(x+x+)+y',
    '(?:a?){50}a{50}',
    '(a|b)*a(a|b){30}c',
  ])('is possible for %s', (pattern) => {
    const automaton = compile(pattern);
    for (const unit of ['a', 'ab', 'aX', 'x', 'abba1']) {
      const { text, reads } = countedText(`${unit.repeat(limits.maxRegexTextLength / unit.length)}!`);
      automaton.test(text);
      expect(reads()).toBeGreaterThan(0);
    }
  });

  it('gives correct results after the state cache is full', () => {
    const automaton = compile('(a|b)*a(a|b){14}c');
    let state = 1;
    let long = '';
    for (let at = 0; at < limits.maxRegexTextLength - 20; at++) {
      state = (state * 48_271) % 0x7fffffff;
      long += state % 2 === 0 ? 'a' : 'b';
    }
    expect(automaton.test(long)).toBe(false);
    expect(automaton.test(`${long}abbbbbbbbbbbbbbc`)).toBe(true);
  });
});

it('only the first characters of a long text are matched, as if the text ended there', () => {
  const long = 'x'.repeat(limits.maxRegexTextLength);
  expect(compile('x$').test(`${long}y`)).toBe(true);
  expect(compile('y').test(`${long}y`)).toBe(false);
});

describe('the parser rejects', () => {
  it.each([
    ['a{513}', /more than 512 times/],
    ['(a{100}){6}', /more than 512 states/],
    ['((((){512}){512}){512}){512}', /repeat too often/],
    ['a{3,2}', /maximum below its minimum/],
    ['*a', /nothing to repeat/],
    ['a**', /repetition/],
    ['a++', /possessive/],
    ['(?!a)', /look-around/],
    ['(?<=a)b', /look-around/],
    ['(?>a)b', /special groups/],
    [String.raw`(a)\1`, /back reference/],
    [String.raw`\k<a>`, /unknown or not supported/],
    [String.raw`\p{L}`, /unknown or not supported/],
    ['[[:alpha:]]', /POSIX/],
    ['[z-a]', /end of a character range is below its start/],
    [String.raw`[a-\w]`, /end of a character range must be a single character/],
    ['[a', /not closed/],
    ['[😀]', /above U.FFFF/],
    ['(a', /not closed/],
    ['a)', /not opened/],
    ['a\\', /backslash must be followed by a character/],
    [`${'('.repeat(100)}a${')'.repeat(100)}`, /16 nested groups/],
  ])('%s', (pattern, reason) => {
    expect(() => compile(pattern)).toThrow(reason);
  });

  it('or accepts any text, and throws no unexpected exception', () => {
    const piece = fc.constantFrom(
      '(',
      ')',
      '[',
      ']',
      '{',
      '}',
      '*',
      '+',
      '?',
      '|',
      '\\',
      '^',
      '$',
      '.',
      '-',
      ':',
      'a',
      '1',
      ',',
      '(?',
      'i',
      '\\x',
      '\\u',
    );
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.array(piece).map((parts) => parts.join('')),
        ),
        (pattern) => {
          let automaton: Automaton;
          try {
            automaton = compile(pattern);
          } catch (error) {
            expect((error as Error).name).toBe('RuleError');
            return;
          }
          automaton.test('aXb1\n');
        },
      ),
      { numRuns: 600 },
    );
  });
});

it('the parser accepts named groups, inline flags, escapes, anchors and literal brackets', () => {
  expect(compile('(?P<name>a)(?<other>b)(?i:C)d').test('abcd')).toBe(true);
  expect(compile('(?i:C)d').test('cD')).toBe(false);
  expect(compile('(?i)a(?-i)b').test('Ab')).toBe(true);
  expect(compile('(?i)a(?-i)b').test('AB')).toBe(false);
  expect(compile(String.raw`\x41\x{42}\u0043`).test('ABC')).toBe(true);
  expect(compile(String.raw`\Aab\z`).test('ab\n')).toBe(false);
  expect(compile(String.raw`ab\Z`).test('ab\n')).toBe(true);
  expect(compile('ab$').test('ab\n')).toBe(true);
  expect(compile('a{,2}').test('a{,2}')).toBe(true);
  expect(compile('[]a]').test(']')).toBe(true);
  expect(compile(String.raw`[\w-.]+x`).test('a-.x')).toBe(true);
  expect(compile('[[]').test('[')).toBe(true);
  expect(compile('(?i)[^a]').test('A')).toBe(false);
  expect(compile('(?i)ß').test('ẞ')).toBe(true);
});
