import fc from 'fast-check';
import { expect, it } from 'vitest';
import { AhoCorasick } from '../../../src/detect/sigma/aho-corasick.ts';
import type { JsonObject } from '../../../src/detect/sigma/record.ts';
import { compileRules } from '../../../src/detect/sigma/rule-set.ts';
import { matches, parsed, type Rule } from './rules.ts';

const word = fc.string({ unit: fc.constantFrom('a', 'b', 'B', '-', '*', '?', '.', 'é', '1'), maxLength: 5 });
const value = fc.oneof(word, fc.constantFrom<unknown>(1, 11, true, null, '1', 'ab', 'ba'));

const item = fc.oneof(
  fc.tuple(
    fc.constantFrom('f', 'g', 'h', 'a.b'),
    fc.constantFrom(
      '',
      '|contains',
      '|startswith',
      '|endswith',
      '|cased',
      '|windash',
      '|contains|cased',
      '|neq',
      '|neq|contains',
    ),
    fc.array(value, { minLength: 1, maxLength: 3 }),
  ),
  fc.tuple(
    fc.constantFrom('f', 'g'),
    fc.constantFrom('|contains|all', '|all', '|startswith|all'),
    fc.array(word, { minLength: 2, maxLength: 3 }),
  ),
  fc.tuple(
    fc.constantFrom('f', 'g'),
    fc.constantFrom('|re', '|re|i'),
    fc.constantFrom('ab', 'a.b', '^a', 'b$', '(a|b)1', 'B+').map((text) => [text]),
  ),
  fc.tuple(
    fc.constant('f'),
    fc.constantFrom('|gt', '|lte'),
    fc.constantFrom(1, 5, 11).map((number) => [number]),
  ),
  fc.tuple(
    fc.constant('f'),
    fc.constant('|exists'),
    fc.boolean().map((wanted) => [wanted]),
  ),
  fc.tuple(
    fc.constant('f'),
    fc.constant('|fieldref'),
    fc.constantFrom('g', 'h').map((name) => [name]),
  ),
  fc.tuple(
    fc.constant(''),
    fc.constantFrom('|startswith', '|contains'),
    fc.array(fc.constantFrom('ab', 'a', '1'), { minLength: 1, maxLength: 2 }),
  ),
);

/** Modifiers that look at texts take no others. */
const mapping = fc
  .array(item, { minLength: 1, maxLength: 3 })
  .map((items) =>
    Object.fromEntries(
      items.map(([field, modifiers, values]) => [
        `${field}${modifiers}`,
        /contains|with|cased|windash/.test(modifiers)
          ? values.map((one) => (one === null || one === true ? 'x' : one))
          : values,
      ]),
    ),
  );

const rule = fc
  .record({
    one: fc.oneof(mapping, fc.array(mapping, { minLength: 1, maxLength: 2 })),
    two: mapping,
    three: mapping,
    condition: fc.constantFrom(
      'one',
      'one and two',
      'one or two',
      'not one',
      'one and not (two or three)',
      '1 of them',
      'all of them',
      'not (one and two)',
      '(one or two) and three',
    ),
  })
  .map(({ condition, ...searches }): Rule => {
    const used = /them/.test(condition)
      ? searches
      : Object.fromEntries(Object.entries(searches).filter(([name]) => condition.includes(name)));
    return { logsource: { product: 'zeek', service: 'test' }, detection: { ...used, condition } };
  });

const scalar = fc.oneof(
  word,
  fc.constantFrom<unknown>(1, 11, 5, true, null, 'ab', 'AB'),
  fc.array(word, { maxLength: 3 }),
);
const record = fc.record(
  { f: scalar, g: scalar, h: scalar, 'a.b': scalar, a: fc.record({ b: scalar }) },
  { requiredKeys: [] },
);

it('finds what trying every rule finds, in the same order', () => {
  fc.assert(
    fc.property(
      fc.array(rule, { minLength: 1, maxLength: 12 }),
      fc.array(record, { minLength: 1, maxLength: 10 }),
      (rules, records) => {
        const documents = parsed(...rules.map((one, at) => ({ ...one, title: `rule ${at}` })));
        const indexed = compileRules(documents);
        const every = compileRules(documents, { indexed: false });
        expect(indexed.refused).toEqual([]);
        for (const one of records as JsonObject[]) {
          const found = matches(every, 'zeek.test', one);
          expect(matches(indexed, 'zeek.test', one)).toEqual(found);
          // Nothing is left over from the record before.
          expect(matches(indexed, 'zeek.test', one)).toEqual(found);
        }
      },
    ),
    { numRuns: 250 },
  );
});

it('tries no rule whose literals are not there', () => {
  const rules = Array.from({ length: 100 }, (_, at) => ({
    title: `rule ${at}`,
    logsource: { product: 'zeek', service: 'test' },
    detection: { s: { 'f|contains': `needle-${at}-`, 'g|gt': 5 }, condition: 's' },
  }));
  const set = compileRules(parsed(...rules));
  let asked = 0;
  const record = {
    f: 'hay with needle-7- in it',
    get g() {
      asked++;
      return 9;
    },
  };
  expect(matches(set, 'zeek.test', record)).toEqual(['rule 7']);
  expect(asked).toBe(1);
});

it('finds every occurrence of every literal', () => {
  const literal = fc.string({ unit: fc.constantFrom('a', 'b', 'ä', '€'), minLength: 1, maxLength: 4 });
  fc.assert(
    fc.property(
      fc.uniqueArray(literal, { maxLength: 12 }),
      fc.string({ unit: fc.constantFrom('a', 'b', 'ä', '€', 'x'), maxLength: 30 }),
      (literals, text) => {
        const expected = new Set<string>();
        literals.forEach((one, index) => {
          for (let at = text.indexOf(one); at >= 0; at = text.indexOf(one, at + 1))
            expected.add(`${index} ${at + one.length}`);
        });
        const found: string[] = [];
        new AhoCorasick(literals).scan(text, (index, end) => found.push(`${index} ${end}`));
        expect(found.length).toBe(expected.size);
        expect(new Set(found)).toEqual(expected);
      },
    ),
  );
});

it('finds the rule of one of very many literals', () => {
  const rules = Array.from({ length: 20 }, (_, part) => ({
    title: `rule ${part}`,
    logsource: { product: 'zeek', service: 'test' },
    detection: {
      s: { 'f|endswith': Array.from({ length: 3000 }, (_, at) => `-${part}-${at * 7919}.日本.example`) },
      condition: 's',
    },
  }));
  const set = compileRules(rules.flatMap((rule) => parsed(rule)));
  expect(matches(set, 'zeek.test', { f: `www-2-${77 * 7919}.日本.EXAMPLE` })).toEqual(['rule 2']);
  expect(matches(set, 'zeek.test', { f: `www-2-${77 * 7919}.本日.example` })).toEqual([]);
});
