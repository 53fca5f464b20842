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

/** Text modifiers accept neither null nor true, so these become texts. */
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

it('the index finds the same matches as evaluating every rule, in the same order', () => {
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
          // A second call finds the same: no state is left from the first.
          expect(matches(indexed, 'zeek.test', one)).toEqual(found);
        }
      },
    ),
    { numRuns: 80 },
  );
});

const blocks = fc.constantFrom('10.0.0.0/8', '192.168.0.0/16', 'fc00::/7', '::ffff:10.1.0.0/112', '0.0.0.0/0');
const port = fc.constantFrom<unknown>(22, 443, 80, 8080, 0, -1, 443.5, '443', '443 ', '0443', 1e21, '1e+21', 'x', null);
const protocol = fc.constantFrom('tcp', 'TCP', 'udp', 'ssl', 'ſsl', 'Ä', 'σς');
const flowItem = fc.oneof(
  fc.tuple(fc.constantFrom('p', 'p|neq'), fc.array(port, { minLength: 1, maxLength: 6 })),
  fc.tuple(fc.constantFrom('t', 't|neq', 't|cased', 't|contains'), fc.array(protocol, { minLength: 1, maxLength: 5 })),
  fc.tuple(fc.constantFrom('src|cidr', 'dst|cidr', 'dst|neq|cidr'), fc.array(blocks, { minLength: 1, maxLength: 3 })),
  fc.tuple(fc.constantFrom('p|gte', 'p|lt', 'n|gte'), fc.constantFrom<unknown[]>([100], [443], [443.5])),
  fc.tuple(fc.constantFrom('n', 't'), fc.constant<unknown[]>([null])),
  fc.tuple(fc.constantFrom('n|exists', 'src|exists'), fc.constantFrom<unknown[]>([true], [false])),
  fc.tuple(fc.constant('t|re'), fc.constantFrom<unknown[]>(['^t.p$'], ['s+l'])),
  fc.tuple(fc.constant('p|fieldref'), fc.constantFrom<unknown[]>(['n'], ['t'])),
);
const flowSearch = fc
  .array(flowItem, { minLength: 1, maxLength: 4 })
  .map((items) => Object.fromEntries(items) as Record<string, unknown>);
const flowRule = fc
  .record({
    inside: fc.constantFrom<Record<string, unknown>>(
      { 'src|cidr': ['10.0.0.0/8', 'fc00::/7'] },
      { 'src|cidr': ['fc00::/7', '10.0.0.0/8', '10.1.0.0/16'] },
    ),
    one: flowSearch,
    two: fc.array(flowSearch, { minLength: 1, maxLength: 3 }),
    condition: fc.constantFrom(
      'one and inside and two',
      'one and inside and not two',
      'not (one and (inside or two))',
      'inside and (two or not (one and inside))',
      'not not (one or not two) and inside',
      'two and not (inside and not (one and two))',
    ),
  })
  .map(
    ({ condition, ...searches }): Rule => ({
      logsource: { product: 'zeek', service: 'test' },
      detection: { ...searches, condition },
    }),
  );
const ends = fc.constantFrom<unknown>(
  '10.1.2.3',
  '::ffff:10.1.2.3',
  '::FFFF:a01:203',
  '192.168.1.1',
  'FD00::1',
  '255.255.255.255',
  '10.0.0.256',
  '',
  10,
  null,
  ['8.8.8.8', '10.9.9.9'],
  [7, null, 'fd00::2'],
  [],
  { a: 1 },
);
const fieldOfFlow = fc.oneof(
  port,
  fc.array(port, { maxLength: 3 }),
  fc.constantFrom<unknown>(Number.POSITIVE_INFINITY, -0, true, { a: 1 }, ['tcp', 443], [['443']]),
);
const flow = fc.record(
  { src: ends, dst: ends, p: fieldOfFlow, n: fieldOfFlow, t: fc.oneof(protocol, fieldOfFlow) },
  { requiredKeys: [] },
);

it('the index finds the same matches in flows as evaluating every condition as written', () => {
  fc.assert(
    fc.property(
      fc.array(flowRule, { minLength: 1, maxLength: 8 }),
      fc.array(flow, { minLength: 1, maxLength: 12 }),
      (rules, records) => {
        const documents = parsed(...rules.map((one, at) => ({ ...one, title: `rule ${at}` })));
        const indexed = compileRules(documents);
        const every = compileRules(documents, { indexed: false });
        expect(indexed.refused).toEqual([]);
        const expected = records.map((one) => matches(every, 'zeek.test', one));
        expect(records.map((one) => matches(indexed, 'zeek.test', one))).toEqual(expected);
      },
    ),
    { numRuns: 120 },
  );
});

it.each([
  [443, true],
  ['443', true],
  ['443 ', false],
  [443.5, false],
  [[80, 443], true],
  [[], false],
  [null, false],
  [true, false],
  ['Ssh', true],
  [Number.POSITIVE_INFINITY, true],
])('a field with the value %j matches a list of numbers and texts: %j', (f, expected) => {
  const search = { f: [22, 443, '8080', 'ssh', 'Infinity'] };
  const rule = {
    title: 'r',
    logsource: { product: 'zeek', service: 'test' },
    detection: { s: search, condition: 's' },
  };
  for (const indexed of [true, false])
    expect(matches(compileRules(parsed(rule), { indexed }), 'zeek.test', { f }).length === 1).toBe(expected);
});

it('the index evaluates cheap parts first, and shared parts once', () => {
  const asked: string[] = [];
  const record = (values: JsonObject): JsonObject =>
    Object.defineProperties(
      {},
      Object.fromEntries(
        Object.entries(values).map(([name, value]) => [
          name,
          {
            get: () => {
              asked.push(name);
              return value;
            },
          },
        ]),
      ),
    );
  const rule = (title: string, more: object) => ({
    title,
    logsource: { product: 'zeek', service: 'test' },
    detection: { s: { 'a|cidr': '10.0.0.0/8', 'b|re': 'x+', c: [1, 2], 'd|gt': 5, ...more }, condition: 's' },
  });
  const set = compileRules(parsed(rule('one', {}), rule('two', { e: 'y' })));
  expect(matches(set, 'zeek.test', record({ a: '10.0.0.1', b: 'x', c: 3, d: 6, e: 'y' }))).toEqual([]);
  expect(asked).not.toContain('a');
  expect(asked).not.toContain('d');
  asked.length = 0;
  expect(matches(set, 'zeek.test', record({ a: '10.0.0.1', b: 'x', c: 2, d: 6, e: 'y' }))).toEqual(['one', 'two']);
  expect(asked.length).toBe(new Set(asked).size);
});

it('the index does not evaluate rules whose literals are absent', () => {
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

it('the index finds every occurrence of every literal', () => {
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

it('the index finds lower-case literals in upper-case ASCII', () => {
  const found: (readonly [number, number])[] = [];
  new AhoCorasick(['az-', 'Z']).scan('AZ-aZ-Az', (index, end) => found.push([index, end]));
  expect(found).toEqual([
    [1, 2],
    [1, 5],
  ]);
  found.length = 0;
  new AhoCorasick(['az-', 'ä']).scan('AZ-aZ-Ä', (index, end) => found.push([index, end]));
  expect(found).toEqual([
    [0, 3],
    [0, 6],
  ]);
});

it('the index finds the rule of one of very many literals', () => {
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
