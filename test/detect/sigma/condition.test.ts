import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Condition, parseCondition, searchesOf } from '../../../src/detect/sigma/condition.ts';
import { limits } from '../../../src/limits.ts';

const names = ['a', 'b', 'sel_1', 'sel_2', '_hidden'];

function evaluate(condition: Condition, facts: ReadonlyMap<string, boolean>): boolean {
  switch (condition.kind) {
    case 'search':
      return facts.get(condition.name)!;
    case 'not':
      return !evaluate(condition.of, facts);
    case 'and':
      return condition.of.every((part) => evaluate(part, facts));
    case 'or':
      return condition.of.some((part) => evaluate(part, facts));
  }
}

/** A condition as text, and as a JavaScript expression over `f`. JavaScript's operators have the same precedence. */
const expression = fc.letrec<{ either: [string, string]; both: [string, string]; part: [string, string] }>((tie) => ({
  either: fc
    .array(tie('both'), { minLength: 1, maxLength: 3 })
    .map((parts): [string, string] => [
      parts.map(([text]) => text).join(' or '),
      parts.map(([, js]) => js).join(' || '),
    ]),
  both: fc
    .array(tie('part'), { minLength: 1, maxLength: 3 })
    .map((parts): [string, string] => [
      parts.map(([text]) => text).join(' and '),
      parts.map(([, js]) => js).join(' && '),
    ]),
  part: fc.oneof(
    { maxDepth: 4 },
    fc.constantFrom(...names).map((name): [string, string] => [name, `f.${name}`]),
    fc.constantFrom<[string, string]>(
      ['1 of sel_*', '(f.sel_1 || f.sel_2)'],
      ['all of sel_*', '(f.sel_1 && f.sel_2)'],
      ['1 of them', '(f.a || f.b || f.sel_1 || f.sel_2)'],
      ['all of them', '(f.a && f.b && f.sel_1 && f.sel_2)'],
      ['1 of *hid*', 'f._hidden'],
    ),
    tie('part').map(([text, js]): [string, string] => [`not ${text}`, `!${js}`]),
    tie('either').map(([text, js]): [string, string] => [`( ${text})`, `(${js})`]),
  ),
}));

it('a condition follows operator precedence: not before and before or', () => {
  fc.assert(
    fc.property(expression.either, fc.array(fc.boolean(), { minLength: 5, maxLength: 5 }), ([text, js], truths) => {
      const condition = parseCondition(text, names);
      if (!('kind' in condition)) throw new Error(`${text}: ${condition.reason}`);
      const f = Object.fromEntries(names.map((name, at) => [name, truths[at]!]));
      const expected: unknown = new Function('f', `return ${js}`)(f);
      expect(evaluate(condition, new Map(Object.entries(f)))).toBe(expected);
    }),
    { numRuns: 300 },
  );
});

it('the parser accepts any text: it yields a condition, or a reason and its position', () => {
  const word = fc.constantFrom('a', 'b', 'not', 'and', 'or', '1', 'all', 'of', 'them', '(', ')', 'sel_*', '*', '|', '');
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string(),
        fc.array(word).map((words) => words.join(' ')),
      ),
      (text) => {
        const result = parseCondition(text, names);
        if ('kind' in result) expect(searchesOf(result).every((name) => names.includes(name))).toBe(true);
        else {
          expect(result.at).toBeGreaterThanOrEqual(1);
          expect(result.at).toBeLessThanOrEqual(text.length + 1);
          expect(result.reason).not.toBe('');
        }
      },
    ),
    { numRuns: 300 },
  );
});

describe('the parser rejects', () => {
  it.each([
    ['', 1, /ends where/],
    ['a and', 6, /ends where/],
    ['a b', 3, /'b' where 'and' or 'or'/],
    ['a and or b', 7, /'or' where a search/],
    ['(a or b', 1, /not closed/],
    ['a) or b', 2, /not opened/],
    ['a and c', 7, /'c', which is not a search identifier/],
    ['1 of x*', 6, /matches no search identifier/],
    ['2 of sel_*', 1, /neither '1 of' nor 'all of'/],
    ['any of them', 1, /neither '1 of' nor 'all of'/],
    ['1 of', 5, /no search identifier after '1 of'/],
    ['a | count() by b > 5', 3, /correlation rule/],
    ['count(a) per b > 200 and not a', 1, /correlation rule/],
    ['a | near b', 3, /correlation rule/],
    ['not', 4, /ends where/],
  ])('%s', (text, at, reason) => {
    expect(parseCondition(text, names)).toEqual({ at, reason: expect.stringMatching(reason) });
  });

  it('too many words, parentheses or searches', () => {
    const many = `a${' or a'.repeat(limits.maxSigmaConditionParts)}`;
    expect(parseCondition(many, names)).toMatchObject({
      reason: expect.stringMatching(/more than 10000 words/),
    });
    const deep = `${'('.repeat(100_000)}a`;
    expect(parseCondition(deep, names)).toMatchObject({ reason: expect.stringMatching(/more than/) });
    const nested = `${'('.repeat(17)}a${')'.repeat(17)}`;
    expect(parseCondition(nested, names)).toMatchObject({
      reason: expect.stringMatching(/16 nested parentheses/),
    });
    const thousand = Array.from({ length: 1000 }, (_, at) => `s${at}`);
    const product = Array(20).fill('1 of s*').join(' or ');
    expect(parseCondition(product, thousand)).toMatchObject({
      reason: expect.stringMatching(/10000 searches/),
    });
  });
});
