import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseSigma } from '../../../src/detect/sigma/parse-document.ts';
import { limits } from '../../../src/limits.ts';

const sound = `title: A rule
id: 545a5da6-f103-4919-a519-e9aec1026ee4
status: test
level: high
date: 2017-05-09
tags:
  - attack.t1211
logsource:
  category: dns
detection:
  selection:
    query|endswith: '.example'
  condition: selection
`;

const problemsOf = (text: string) =>
  parseSigma(text).problems.map(({ line, field, reason }) => `${line} ${field}: ${reason}`);
const changed = (from: string, to: string) => {
  expect(sound).toContain(from);
  return sound.replace(from, to);
};

it('the parser yields a rule as written, and the lines of its items', () => {
  const { documents, problems } = parseSigma(sound);
  expect(problems).toEqual([]);
  expect(documents).toEqual([
    {
      kind: 'rule',
      line: 1,
      lines: new Map([
        ['title', 1],
        ['id', 2],
        ['status', 3],
        ['logsource', 8],
        ['detection', 10],
      ]),
      title: 'A rule',
      id: '545a5da6-f103-4919-a519-e9aec1026ee4',
      status: 'test',
      level: 'high',
      tags: ['attack.t1211'],
      references: [],
      falsepositives: [],
      logsource: { category: 'dns' },
      searches: new Map([
        [
          'selection',
          { alternatives: [[{ field: 'query', modifiers: ['endswith'], values: ['.example'], line: 12 }]] },
        ],
      ]),
      conditions: ['selection'],
    },
  ]);
});

describe('an error names its line and its field', () => {
  it.each([
    ['title: A rule\n', '', /^1 title: is missing/],
    ['title: A rule', `title: ${'x'.repeat(257)}`, /^1 title: is longer than 256/],
    ['title: A rule', 'title: [a]', /^1 title: is a list/],
    ['545a5da6-', '545a5da6', /^2 id: .*not a UUID/],
    ['status: test', 'status: good', /^3 status: is 'good', not one of stable/],
    ['level: high', 'level: urgent', /^4 level:/],
    ['2017-05-09', '2017/05/09', /^5 date:.*YYYY-MM-DD/],
    ['2017-05-09', '2017-02-30', /^5 date: is not a valid date/],
    ['attack.t1211', 'Attack.T1211', /^7 tags\[0\]: is not of the form/],
    ['  - attack.t1211', '  - a.b\n  - a.b', /^8 tags\[1\]: is in the list twice/],
    ['logsource:\n  category: dns\n', '', /^1 logsource: is missing/],
    ['logsource:\n  category: dns', 'logsource: dns', /^8 logsource: is a text, not a mapping/],
    ['category: dns', 'category: 5', /^9 logsource.category: is the number 5, not a text/],
    ['  condition: selection\n', '', /^10 detection.condition: is missing/],
    [
      'condition: selection',
      'condition: selektion',
      /^13 detection.condition: names 'selektion', which is not a search identifier \(at character 1\)/,
    ],
    ['condition: selection', 'condition: [selection, "1 of x*"]', /^13 detection.condition\[1\]: has 'x\*'/],
    ['condition: selection', 'condition: selection | count() > 5', /^13 .*correlation rule/],
    [
      '  condition: selection',
      '  timeframe: 5m\n  condition: selection',
      /^13 detection.timeframe: .*correlation rule/,
    ],
    [
      '  condition: selection',
      '  more:\n    a: b\n  condition: selection',
      /^13 detection.more: is a search that no condition names/,
    ],
    [
      `query|endswith: '.example'`,
      'query|ends: x',
      /^12 detection.selection.query\|ends: has the unknown modifier 'ends'/,
    ],
    [`query|endswith: '.example'`, 'query: []', /^12 .*is an empty list/],
    [`query|endswith: '.example'`, 'query: [a, [b]]', /^12 .*query\[1\]: is a list/],
    [`query|endswith: '.example'`, 'query: {a: b}', /^12 .*is a mapping, not a text/],
    [`query|endswith: '.example'`, `query: ${'x'.repeat(limits.maxSigmaValueLength + 1)}`, /longer than 4096/],
    [`selection:\n    query|endswith: '.example'`, 'selection: {}', /^11 detection.selection: is an empty mapping/],
    [`selection:\n    query|endswith: '.example'`, 'selection: []', /^11 detection.selection: is an empty list/],
    [
      `selection:\n    query|endswith: '.example'`,
      'selection: word',
      /^11 detection.selection: is a text, not a mapping/,
    ],
    [`selection:\n    query|endswith: '.example'`, 'selection:', /^11 detection.selection: is empty/],
    [`selection:\n    query|endswith: '.example'`, 'selection: [a, null]', /^11 detection.selection\[1\]: is empty/],
    ['title: A rule', 'title: A rule\ntitle: B', /^2 title: occurs twice/],
    ['title: A rule', 'action: global\ntitle: A rule', /^1 action: is an attribute of Sigma 1/],
    ['title: A rule', 'title: A rule\nfilter: {}', /^1 : must have exactly one of detection, correlation and filter/],
    ['title: A rule', 'title: "A rule', /^1 : opens a quotation mark/],
    ['title: A rule', 'related:\n  - {id: x, type: y}\ntitle: A rule', /^2 related\[0\].id: is 'x', not a UUID/],
    ['title: A rule', 'title: !!binary aGk=', /^1 title: is a value that is neither/],
    ['title: A rule', 'title: *nothing', /^1 /],
  ])('if %j is replaced by %j', (from, to, expected) => {
    const problems = problemsOf(changed(from, to));
    expect(problems[0]).toMatch(expected);
  });
});

it('an invalid document does not affect other documents', () => {
  const { documents, problems } = parseSigma(`${sound}---\ntitle: [\n---\n${sound}---\n---\ntitle: no more\n`);
  expect(documents.map(({ line }) => line)).toEqual([1, 17]);
  expect(problems.map(({ line }) => line)).toEqual([16, 32, 32].slice(0, problems.length));
});

it('a text without a document is reported as a problem', () => {
  for (const text of ['', '\n', '# nothing\n', '---\n']) expect(problemsOf(text)).toEqual(['1 : contains no document']);
  expect(problemsOf('just text')).toEqual(['1 : is a text, not a mapping']);
});

describe('filters', () => {
  const filter = `title: F
logsource: {category: dns}
filter:
  rules: [some_rule]
  selection: {query: x}
  condition: selection
`;
  it('apply to the rules that they name, or to any rule', () => {
    expect(parseSigma(filter).documents).toMatchObject([{ kind: 'filter', rules: ['some_rule'] }]);
    const [any] = parseSigma(filter.replace('[some_rule]', 'any')).documents;
    expect(any).toMatchObject({ kind: 'filter', rules: undefined });
  });
  it.each([
    ['  rules: [some_rule]\n', '', /^3 filter.rules: is missing/],
    ['[some_rule]', '[]', /^4 filter.rules: names no rule/],
    ['[some_rule]', 'some_rule', /^4 filter.rules: is a text, not a list/],
    ['  selection: {query: x}\n', '', /^3 filter: has no search identifier/],
  ])('are rejected if %j is replaced by %j', (from, to, expected) => {
    expect(problemsOf(filter.replace(from, to))[0]).toMatch(expected);
  });
});

describe('the parser rejects oversized texts', () => {
  it('with aliases that multiply each other', () => {
    const levels = Array.from(
      { length: 9 },
      (_, at) =>
        `a${at}: &a${at} [${Array(9)
          .fill(at === 0 ? 'x' : `*a${at - 1}`)
          .join(', ')}]`,
    );
    expect(problemsOf(levels.join('\n'))[0]).toMatch(/more than 20000 values/);
  });
  it('with values that modifiers multiply, in several items and documents', () => {
    const document = `title: x
logsource: {category: dns}
detection:
  selection:
    query|windash|base64offset|contains: ['-a-b-c-d']
    answers|windash|base64offset|contains: ['-a-b-c-d', '-e-f-g-h']
  condition: selection
`;
    expect(parseSigma(document).problems).toEqual([]);
    expect(problemsOf([document, document].join('---\n'))[0]).toMatch(
      /^14 .*answers.* expands the text to more than 10000 values by its modifiers/,
    );
  });
  it('with an alias that contains itself', () => {
    expect(problemsOf('a: &a [*a]')[0]).toMatch(/nests deeper|alias/);
  });
  it('with deep nesting', () => {
    expect(problemsOf(`a: ${'['.repeat(100)}${']'.repeat(100)}`)[0]).toMatch(/nests deeper than 16/);
    expect(problemsOf('['.repeat(20_000)).length).toBe(1);
  });
  it('with excessive length', () => {
    expect(problemsOf('x'.repeat(limits.maxSigmaTextLength + 1))).toEqual(['1 : is longer than 131072 characters']);
  });
  it('with many keys, values and documents', () => {
    const keys = Array.from({ length: 10_500 }, (_, at) => `${at}: [1]`).join('\n');
    expect(problemsOf(`title: x\n${keys}`)[0]).toMatch(/more than 20000 values|exactly one of detection/);
    const documents = '---\na: b\n'.repeat(limits.maxSigmaDocuments + 1);
    expect(parseSigma(documents).problems.length).toBe(limits.maxSigmaProblems);
  });
});

it.each([
  ['from the document', 'generate: true', true],
  ['from the section', '  generate: true', true],
  ['as false if it is missing', '', false],
])('the attribute generate is read %s', (_, line, generate) => {
  const text = `title: many\ncorrelation:\n  type: event_count\n  rules: [one]\n  group-by: [src_ip]\n  timespan: 1m\n  condition: {gte: 2}\n${line}\n`;
  expect(parseSigma(text)).toMatchObject({ problems: [], documents: [{ generate }] });
});

it('an invalid value of generate is reported at its line', () => {
  const many = (line: string) =>
    `title: many\ncorrelation:\n  type: event_count\n  rules: [one]\n  group-by: [src_ip]\n  timespan: 1m\n  condition: {gte: 2}\n${line}\n`;
  expect(problemsOf(many('generate: 1'))).toEqual(['8 generate: must be true or false']);
  expect(problemsOf(many('  generate: 1'))).toEqual(['8 correlation.generate: must be true or false']);
});

describe('invalid YAML is reported at the line of the error:', () => {
  it.each([
    ['a line too deep', '  product: zeek\n', 9, /indented inconsistently/, '    product: zeek\n'],
    ['a line not deep enough', '  product: zeek\n', 9, /indented inconsistently/, ' product: zeek\n'],
    ['a nested line below a text', 'status: test\n', 3, /indented inconsistently/, '  status: test\n'],
    ['a tab', '  product: zeek\n', 9, /with a tab/, '\tproduct: zeek\n'],
    ['an open quotation mark', 'status: test', 3, /opens a quotation mark/, 'status: "test'],
    ['an open quotation mark in a list', "query: ['.example']", 12, /opens a quotation mark/, 'query: [".example]'],
    ['a quotation mark that the next line closes', 'status: test', 3, /is missing a character/, "status: 'test"],
    ['an open list', 'status: test', 4, /indented inconsistently/, 'status: [test'],
    ['an extra bracket', 'status: test', 3, /unexpected token/, 'status: [test]]'],
    ['a missing colon', 'status: test', 3, /key that spans several lines/, 'status test'],
    ['a second colon', 'status: test', 3, /mapping where a key/, 'status: test: no'],
    ['a reserved character', 'status: test', 3, /is not YAML/, 'status: @test'],
    ['an unknown escape', 'status: test', 3, /unknown escape sequence/, 'status: "te\\qst"'],
    ['two anchors', 'status: test', 3, /is not YAML/, 'status: &a &b test'],
  ])('%s', (_, from, line, reason, to) => {
    const text = `title: A rule
id: 545a5da6-f103-4919-a519-e9aec1026ee4
status: test
level: high
tags:
  - attack.t1211
logsource:
  service: dns
  product: zeek
detection:
  selection:
    query: ['.example']
  condition: selection
`;
    expect(text).toContain(from);
    const before = `${sound}---\n`;
    const expected = before.split('\n').length - 1 + line;
    const { documents, problems } = parseSigma(before + text.replace(from, to));
    expect(documents.length).toBe(1);
    expect(problems).toEqual([{ line: expected, field: '', reason: expect.stringMatching(reason) }]);
  });

  it.each([
    ['a key twice', 'status: test\nstatus: test', 3, 'status'],
    ['an alias without an anchor', 'status: *nothing', 2, 'status'],
    ['a key that is not a text', '!!binary aGk=: x', 2, ''],
    ['a key that is a list', '? [a, b]\n: c', 2, ''],
  ])('%s', (_, lines, line, field) => {
    expect(parseSigma(`title: A rule\n${lines}\n`).problems[0]).toMatchObject({ line, field });
  });
});

it('the parser accepts any text, and returns documents or problems', () => {
  const lines = sound.split('\n');
  const piece = fc.oneof(
    fc.constantFrom(...lines),
    fc.constantFrom(
      '---',
      'condition: not',
      '  - x',
      '&a',
      '*a',
      'correlation:',
      'filter:',
      '  rules: any',
      '? x',
      '!!map',
      '|',
      '>',
      '\t',
      "'",
      '"',
      '{',
      ']',
      '  __proto__: x',
      '    constructor|re: (a',
    ),
    fc.string(),
  );
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string({ unit: 'binary' }),
        fc.array(piece).map((parts) => parts.join('\n')),
        fc.json(),
      ),
      (text) => {
        const { documents, problems } = parseSigma(text);
        expect(documents.length + problems.length).toBeGreaterThan(0);
        for (const { line, reason } of problems) {
          expect(line).toBeGreaterThanOrEqual(1);
          expect(reason).not.toBe('');
        }
      },
    ),
    { numRuns: 300 },
  );
});
