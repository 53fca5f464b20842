import { describe, expect, it } from 'vitest';
import { limits } from '../../../src/limits.ts';
import { compiled, holds, reasonsOf, ruleOf } from './rules.ts';

/** Key of a search, its values, and records with the expected result. */
type Row = readonly [string, unknown, readonly (readonly [unknown, boolean])[]];

/** Marks a record without the field. */
const absent = Symbol('absent');

const table: Readonly<Record<string, readonly Row[]>> = {
  'plain values': [
    [
      'f',
      'Evil',
      [
        ['evil', true],
        ['EVIL', true],
        ['evil ', false],
        ['an evil', false],
        ['', false],
        [absent, false],
        [null, false],
      ],
    ],
    [
      'f',
      ['a', 'b'],
      [
        ['A', true],
        ['b', true],
        ['c', false],
        [['x', 'B'], true],
        [['x', 'y'], false],
        [[], false],
      ],
    ],
    [
      'f',
      'ÄRGER',
      [
        ['ärger', true],
        ['arger', false],
      ],
    ],
    [
      'f',
      'ΟΔΟΣ',
      [
        ['οδος', true],
        ['οδοσ', true],
        ['οδο', false],
      ],
    ],
    [
      'f',
      'STRASSE',
      [
        ['straße', false],
        ['Strasse', true],
      ],
    ],
    [
      'f',
      '',
      [
        ['', true],
        ['x', false],
        [null, false],
        [absent, false],
      ],
    ],
    [
      'f',
      null,
      [
        [null, true],
        [absent, true],
        [[], true],
        ['', false],
        [0, false],
        [false, false],
      ],
    ],
    [
      'f',
      [null, 'x'],
      [
        [null, true],
        ['x', true],
        ['y', false],
      ],
    ],
    [
      'f',
      443,
      [
        [443, true],
        ['443', true],
        [4433, false],
        ['0443', false],
        [443.5, false],
        [[80, 443], true],
      ],
    ],
    [
      'f',
      '443',
      [
        [443, true],
        ['443', true],
        [80, false],
      ],
    ],
    [
      'f',
      1.5,
      [
        [1.5, true],
        ['1.5', true],
        [1, false],
      ],
    ],
    [
      'f',
      -1,
      [
        [-1, true],
        [1, false],
      ],
    ],
    [
      'f',
      true,
      [
        [true, true],
        ['true', true],
        ['TRUE', true],
        [false, false],
        [1, false],
      ],
    ],
    [
      'f',
      'true',
      [
        [true, true],
        ['True', true],
        [false, false],
      ],
    ],
    [
      'f',
      'ns',
      [
        ['NS', true],
        ['nsx', false],
      ],
    ],
  ],
  wildcards: [
    [
      'f',
      'prog?.exe',
      [
        ['progA.exe', true],
        ['PROG1.EXE', true],
        ['prog.exe', false],
        ['progAB.exe', false],
      ],
    ],
    [
      'f',
      'anti*.exe',
      [
        ['antivirus.exe', true],
        ['anti.exe', true],
        ['anti.exe2', false],
        ['xanti.exe', false],
      ],
    ],
    [
      'f',
      '*',
      [
        ['', true],
        ['x', true],
        [5, true],
        [absent, false],
        [null, false],
      ],
    ],
    [
      'f',
      '?',
      [
        ['x', true],
        ['', false],
        ['xy', false],
      ],
    ],
    [
      'f',
      'object',
      [
        [{ a: 'object' }, false],
        [[{ a: 'object' }], false],
      ],
    ],
    [
      'f',
      '*a*b*',
      [
        ['xxaxxbxx', true],
        ['ab', true],
        ['ba', false],
      ],
    ],
    [
      'f',
      'a*b?c*d',
      [
        ['a-b-c-d', true],
        ['ab1cd', true],
        ['abcd', false],
        ['a-b-c-dx', false],
        ['abxcbxcd', true],
      ],
    ],
    [
      'f',
      'ab*ba',
      [
        ['abba', true],
        ['aba', false],
        ['abxba', true],
      ],
    ],
    [
      'f',
      String.raw`a\*b`,
      [
        ['a*b', true],
        ['axb', false],
        [String.raw`a\*b`, false],
      ],
    ],
    [
      'f',
      String.raw`a\?b`,
      [
        ['a?b', true],
        ['axb', false],
      ],
    ],
    [
      'f',
      String.raw`a\b`,
      [
        [String.raw`a\b`, true],
        [String.raw`a\\b`, false],
      ],
    ],
    [
      'f',
      String.raw`a\\b`,
      [
        [String.raw`a\b`, true],
        [String.raw`a\\b`, false],
      ],
    ],
    [
      'f',
      String.raw`a\\*`,
      [
        [String.raw`a\xyz`, true],
        [String.raw`a\ `, true],
        ['a*', false],
        ['axyz', false],
      ],
    ],
    [
      'f',
      String.raw`a\\\*`,
      [
        [String.raw`a\*`, true],
        [String.raw`a\x`, false],
      ],
    ],
    [
      'f',
      String.raw`\\\\host`,
      [
        [String.raw`\\host`, true],
        [String.raw`\host`, false],
      ],
    ],
    [
      'f',
      String.raw`\\\*\IPC$`,
      [
        [String.raw`\*\IPC$`, true],
        [String.raw`\x\IPC$`, false],
      ],
    ],
  ],
  'contains, startswith, endswith': [
    [
      'f|contains',
      'mid',
      [
        ['a MID b', true],
        ['mid', true],
        ['m id', false],
        [['x', 'amidst'], true],
        [absent, false],
      ],
    ],
    [
      'f|contains',
      '',
      [
        ['', true],
        ['x', true],
        [absent, false],
      ],
    ],
    [
      'f|contains',
      'a*b',
      [
        ['xxa--bxx', true],
        ['ba', false],
      ],
    ],
    [
      'f|contains',
      '*a',
      [
        ['xa', true],
        ['ax', true],
        ['x', false],
      ],
    ],
    [
      'f|contains',
      12,
      [
        [4123, true],
        ['x12', true],
        [21, false],
      ],
    ],
    [
      'f|startswith',
      'adm_',
      [
        ['ADM_root', true],
        ['xadm_', false],
      ],
    ],
    [
      'f|endswith',
      '.onion',
      [
        ['a.ONION', true],
        ['.onion.to', false],
        [['b.onion', 'c'], true],
      ],
    ],
    [
      'f|endswith',
      String.raw`\?x=1`,
      [
        ['/a?x=1', true],
        ['/ayx=1', false],
      ],
    ],
    [
      'f|contains|all',
      ['one', 'two'],
      [
        ['two and ONE', true],
        ['one', false],
        [['one', 'two'], true],
      ],
    ],
    [
      'f|all|contains',
      ['one', 'two'],
      [
        ['onetwo', true],
        ['two', false],
      ],
    ],
    [
      'f|all',
      ['a*', '*z'],
      [
        ['a to z', true],
        ['a to y', false],
      ],
    ],
  ],
  'exists, cased, neq': [
    [
      'f|exists',
      true,
      [
        ['x', true],
        ['', true],
        [null, true],
        [absent, false],
      ],
    ],
    [
      'f|exists',
      false,
      [
        ['x', false],
        [null, false],
        [absent, true],
      ],
    ],
    [
      'f|cased',
      'Evil',
      [
        ['Evil', true],
        ['evil', false],
      ],
    ],
    [
      'f|contains|cased',
      'Evil',
      [
        ['an Evil', true],
        ['an evil', false],
      ],
    ],
    [
      'f|cased|endswith',
      'X',
      [
        ['aX', true],
        ['ax', false],
      ],
    ],
    [
      'f|neq',
      'a',
      [
        ['b', true],
        ['A', false],
        [absent, false],
        [null, false],
        [['a', 'b'], false],
        [['c'], true],
      ],
    ],
    [
      'f|neq',
      ['a', 'b'],
      [
        ['c', true],
        ['b', false],
      ],
    ],
    [
      'f|neq',
      5,
      [
        [4, true],
        [5, false],
        ['5', false],
      ],
    ],
    [
      'f|neq',
      null,
      [
        ['x', true],
        [null, false],
        [absent, false],
      ],
    ],
    [
      'f|neq|contains',
      'x',
      [
        ['abc', true],
        ['axc', false],
      ],
    ],
  ],
  windash: [
    [
      'f|windash|contains',
      ' -enc',
      [
        ['cmd -ENC', true],
        ['cmd /enc', true],
        ['cmd –enc', true],
        ['cmd ―enc', true],
        ['cmd enc', false],
      ],
    ],
    [
      'f|contains|windash',
      '/a -b',
      [
        ['-a /b', true],
        ['—a –b', true],
        ['a b', false],
      ],
    ],
    [
      'f|windash',
      '-x',
      [
        ['/X', true],
        ['x', false],
      ],
    ],
    [
      'f|windash|cased',
      '-x',
      [
        ['/x', true],
        ['/X', false],
      ],
    ],
  ],
  re: [
    [
      'f|re',
      '^ab+c$',
      [
        ['abbc', true],
        ['ABBC', false],
        ['xabbc', false],
        ['abbc\n', true],
      ],
    ],
    [
      'f|re',
      'b{2,3}',
      [
        ['abba', true],
        ['aba', false],
      ],
    ],
    [
      'f|re|i',
      'evil',
      [
        ['EVIL!', true],
        ['live', false],
      ],
    ],
    ['f|re', '(?i)evil', [['EVIL', true]]],
    ['f|re', '^b$', [['a\nb', false]]],
    [
      'f|re|m',
      '^b$',
      [
        ['a\nb\nc', true],
        ['ab', false],
      ],
    ],
    [
      'f|re',
      'a.b',
      [
        ['a\nb', false],
        ['axb', true],
      ],
    ],
    ['f|re|s', 'a.b', [['a\nb', true]]],
    ['f|re|i|m|s', '^x.y$', [['a\nX\nY', true]]],
    [
      'f|re',
      '(ab|cd)[^x-z]',
      [
        ['cde', true],
        ['cdy', false],
      ],
    ],
    [
      'f|re',
      String.raw`\d{1,3}\.\d+`,
      [
        ['v 10.2', true],
        ['10x2', false],
      ],
    ],
    [
      'f|re',
      '[0-9]',
      [
        [5, true],
        ['x', false],
      ],
    ],
    [
      'f|re',
      ['^a', '^b'],
      [
        ['abc', true],
        ['bcd', true],
        ['cde', false],
      ],
    ],
    [
      'f|re|all',
      ['a$', '^b'],
      [
        ['ba', true],
        ['ab', false],
      ],
    ],
  ],
  'base64 and UTF-16': [
    [
      'f|base64',
      'foobar',
      [
        ['Zm9vYmFy', true],
        ['xZm9vYmFy', false],
      ],
    ],
    [
      'f|base64|contains',
      'foobar',
      [
        ['x Zm9vYmFy x', true],
        ['foobar', false],
      ],
    ],
    [
      'f|base64offset|contains',
      'foobar',
      [
        [btoa('foobar'), true],
        [btoa('xfoobar'), true],
        [btoa('xxfoobarxx'), true],
        [btoa('xfobar'), false],
      ],
    ],
    [
      'f|wide|base64offset|contains',
      'cmd',
      [
        [btoa('x\0c\0m\0d\0'), true],
        [btoa('cmd'), false],
      ],
    ],
    ['f|utf16le|base64', 'cmd', [['YwBtAGQA', true]]],
    [
      'f|utf16be|base64',
      'cmd',
      [
        ['AGMAbQBk', true],
        ['YwBtAGQA', false],
      ],
    ],
    ['f|utf16|base64', 'cmd', [['//5jAG0AZAA=', true]]],
    [
      'f|wide|contains',
      'cmd',
      [
        ['..c\0m\0d\0..', true],
        ['cmd', false],
      ],
    ],
    [
      'f|base64offset|contains',
      'grüße',
      [[btoa(String.fromCharCode(...new TextEncoder().encode('viele grüße!'))), true]],
    ],
    [
      'f|windash|base64|contains',
      '-e',
      [
        [btoa('/e'), true],
        [btoa('-e'), true],
        [btoa('xe'), false],
      ],
    ],
  ],
  numbers: [
    [
      'f|gt',
      10,
      [
        [11, true],
        [10, false],
        ['11', true],
        ['x', false],
        [absent, false],
        [[1, 20], true],
      ],
    ],
    [
      'f|gte',
      10,
      [
        [10, true],
        [9.9, false],
      ],
    ],
    [
      'f|lt',
      10,
      [
        [9, true],
        [10, false],
        ['', false],
        [null, false],
      ],
    ],
    [
      'f|lte',
      10.5,
      [
        [10.5, true],
        [11, false],
      ],
    ],
    [
      'f|gt',
      [100, 10],
      [
        [50, true],
        [5, false],
      ],
    ],
    [
      'f|gt|neq',
      10,
      [
        [5, true],
        [50, false],
        [absent, false],
      ],
    ],
  ],
  times: [
    [
      'f|hour',
      13,
      [
        ['2026-01-05T13:59:59Z', true],
        ['2026-01-05T15:30:00+0200', true],
        ['2026-01-05T14:00:00.123456Z', false],
        ['noon', false],
        [absent, false],
      ],
    ],
    [
      'f|hour',
      0,
      [
        [0, true],
        [1767571200, true],
        [1767571200000, true],
        [1767574800, false],
      ],
    ],
    [
      'f|minute',
      30,
      [
        ['2026-01-05T13:30:00', true],
        ['2026-01-05T13:31:00', false],
      ],
    ],
    [
      'f|day',
      5,
      [
        ['2026-01-05T00:00:00Z', true],
        ['2026-01-05T00:30:00+01:00', false],
      ],
    ],
    [
      'f|week',
      1,
      [
        ['2026-01-01T00:00:00Z', true],
        ['2025-12-29T00:00:00Z', true],
        ['2026-01-05T00:00:00Z', false],
      ],
    ],
    ['f|week', 53, [['2027-01-01T00:00:00Z', true]]],
    [
      'f|month',
      12,
      [
        ['2025-12-31T23:59:59Z', true],
        ['2026-01-01T00:00:00Z', false],
      ],
    ],
    [
      'f|year',
      2026,
      [
        ['2026-06-01T00:00:00Z', true],
        ['2025-06-01T00:00:00Z', false],
      ],
    ],
    [
      'f|hour|gte',
      22,
      [
        ['2026-01-05T23:00:00Z', true],
        ['2026-01-05T03:00:00Z', false],
      ],
    ],
  ],
  cidr: [
    [
      'f|cidr',
      '10.0.0.0/8',
      [
        ['10.1.2.3', true],
        ['11.0.0.1', false],
        ['::ffff:10.0.0.1', true],
        ['10.0.0', false],
        [['1.1.1.1', '10.0.0.1'], true],
        [10, false],
      ],
    ],
    [
      'f|cidr',
      ['192.168.0.0/16', 'fe80::/10'],
      [
        ['fe80::1', true],
        ['FE80:0::1', true],
        ['2001:db8::1', false],
        ['192.168.1.1', true],
      ],
    ],
    [
      'f|cidr',
      '192.0.2.1',
      [
        ['192.0.2.1', true],
        ['192.0.2.2', false],
      ],
    ],
    [
      'f|cidr|neq',
      '10.0.0.0/8',
      [
        ['8.8.8.8', true],
        ['10.0.0.1', false],
        [absent, false],
      ],
    ],
  ],
};

describe.each(Object.entries(table))('%s', (_, rows) => {
  it.each(rows)('%s: %j matches as specified', (key, values, cases) => {
    for (const [value, expected] of cases) {
      const record = value === absent ? { other: 'x' } : { other: 'x', f: value };
      expect(holds({ [key]: values }, record), JSON.stringify(value)).toBe(expected);
    }
  });
});

describe('fieldref', () => {
  it.each([
    ['a|fieldref', 'b', { a: 'X', b: 'x' }, true],
    ['a|fieldref', 'b', { a: 'X', b: 'y' }, false],
    ['a|fieldref', 'b', { a: 'X' }, false],
    ['a|fieldref', 'b', { a: 5, b: '5' }, true],
    ['a|fieldref', 'b', { a: ['u', 'v'], b: ['v', 'w'] }, true],
    ['a|fieldref|cased', 'b', { a: 'X', b: 'x' }, false],
    ['a|fieldref|startswith', 'b', { a: 'abc', b: 'AB' }, true],
    ['a|fieldref|startswith', 'b', { a: 'abc', b: 'bc' }, false],
    ['a|fieldref|endswith', 'b', { a: 'abc', b: 'bc' }, true],
    ['a|fieldref|contains', 'b', { a: 'abc', b: 'b' }, true],
    ['a|fieldref|contains', 'b', { a: 'abc', b: 'x' }, false],
    ['a|fieldref|neq', 'b', { a: 'abc', b: 'x' }, true],
    ['a|fieldref|neq', 'b', { a: 'abc', b: 'abc' }, false],
    ['a|fieldref', ['b', 'c'], { a: 1, b: 2, c: 1 }, true],
  ])('%s: %j in %j is %s', (key, value, record, expected) => {
    expect(holds({ [key]: value }, record)).toBe(expected);
  });
});

describe('expand', () => {
  const placeholders = new Map<string, readonly (string | number)[]>([
    ['Servers', ['srv*', '10.0.0.5']],
    ['ports', [22, 3389]],
    ['nets', ['10.0.0.0/8', '192.168.0.0/16', '2001:db8:7::/48']],
    ['none', []],
  ]);
  it.each([
    ['f|expand', '%Servers%', 'srv1', true],
    ['f|expand', '%Servers%', 'xsrv1', false],
    ['f|contains|expand', 'at %Servers% x', 'look at srv9 x!', true],
    ['f|expand', '%ports%', 3389, true],
    ['f|expand', '%ports%', 80, false],
    ['f|lt|expand', '%ports%', 100, true],
    ['f|cidr|expand', '%nets%', '192.168.3.4', true],
    ['f|expand|cidr', '%nets%', '8.8.8.8', false],
    ['f|expand|cidr', '%nets%', '192.168.3.4', true],
    ['f|expand|cidr', '%nets%', '::ffff:10.1.2.3', true],
    ['f|cidr|expand', '%nets%', '2001:db8:7:1::1', true],
    ['f|expand|cidr', '%nets%', '2001:db8:8::1', false],
    ['f|neq|expand|cidr', '%nets%', '10.1.2.3', false],
    ['f|neq|expand|cidr', '%nets%', '8.8.8.8', true],
    ['f|expand', String.raw`\%plain%ports%`, '%plain22', true],
    ['f', '%Servers%', '%servers%', true],
    ['f', '%Servers%', 'srv1', false],
  ])('%s: %j in %j is %s', (key, value, field, expected) => {
    expect(holds({ [key]: value }, { f: field }, { placeholders })).toBe(expected);
  });

  it('rejects the rule if a placeholder is unknown', () => {
    const rule = ruleOf({ s: { 'f|expand': '%Unknown%' }, condition: 's' });
    expect(reasonsOf(rule, { placeholders })).toEqual(["has the placeholder '%Unknown%', which is not defined"]);
  });

  it('is combined with plain values', () => {
    const selection = { 'f|expand|cidr': ['%nets%', '198.51.100.0/24', '%none%'] };
    const asked = ['192.168.3.4', '198.51.100.7', '8.8.8.8'].map((f) => holds(selection, { f }, { placeholders }));
    expect(asked).toEqual([true, true, false]);
  });

  it('rejects the rule if a placeholder is empty', () => {
    const rule = ruleOf({ s: { 'f|expand|cidr': '%none%' }, condition: 's' });
    expect(reasonsOf(rule, { placeholders })).toEqual(["has no value left, as '%none%' expands to nothing"]);
  });

  it('rejects the rule if a value is an invalid block', () => {
    const rule = ruleOf({ s: { 'f|expand|cidr': '%Servers%' }, condition: 's' });
    expect(reasonsOf(rule, { placeholders })).toEqual(["has 'srv*', which is not an address or CIDR block"]);
  });
});

describe('keywords', () => {
  const record = {
    a: 'The EVIL one',
    b: { c: ['deep', { d: 'down::under' }] },
    n: 4711,
    t: true,
    evilname: 'x',
  };
  it.each([
    [['evil'], true],
    [['evilname'], false],
    [['down::'], true],
    [['nothing', 'deep'], true],
    [['the*one'], true],
    [[471], true],
    [['nothing'], false],
    [{ '|all': ['evil', 'under'] }, true],
    [{ '|all': ['evil', 'nothing'] }, false],
    [{ '|re': '^de+p$' }, true],
    [{ '|startswith': 'the' }, true],
    [{ '|startswith': 'evil' }, false],
    [['nothing', { a: 'x' }, { n: 4711 }], true],
  ])('%j is %s', (search, expected) => {
    expect(holds(search, record)).toBe(expected);
  });
});

describe('invalid modifiers', () => {
  it.each([
    [{ 'f|upper': 'x' }, /unknown modifier 'upper'/],
    [{ 'f|': 'x' }, /unknown modifier ''/],
    [{ 'f|__proto__': 'x' }, /unknown modifier/],
    [{ 'f|contains|contains': 'x' }, /contains twice/],
    [{ 'f|contains|re': 'x' }, /re after contains/],
    [{ 'f|re|contains': 'x' }, /contains for a regular expression/],
    [{ 'f|i': 'x' }, /i for a text/],
    [{ 'f|gt': 'x' }, /gt for a text .*takes a number/],
    [{ 'f|gt|lt': 3 }, /compares by gt and by lt/],
    [{ 'f|hour': '3' }, /hour for a text/],
    [{ 'f|cidr': '10.0.0.0/33' }, /not an address or CIDR block/],
    [{ 'f|cidr': 'x' }, /not an address or CIDR block/],
    [{ 'f|contains': null }, /contains for null/],
    [{ 'f|contains': true }, /contains for true or false/],
    [{ 'f|exists': 'yes' }, /exists for a text/],
    [{ 'f|exists': [true, false] }, /exists, which takes a single value/],
    [{ 'f|exists|neq': true }, /exists, which cannot be combined/],
    [{ 'f|contains|all': 'x' }, /all, which needs at least two values/],
    [{ 'f|base64|contains': 'a*b' }, /wildcards/],
    [{ 'f|base64offset|contains': 'a' }, /too short/],
    [{ 'f|windash|base64': '-------------' }, /more than 10000 windash variants/],
    [{ '|exists': true }, /exists without a field/],
    [{ '|gt': 5 }, /gt without a field/],
    [{ 'f|re': '(a' }, /not closed/],
    [{ 'f|re': '(?=a)b' }, /look-around/],
    [{ 'f|re': String.raw`(a)\1` }, /back reference/],
  ])('are rejected with the reason: %j', (search, reason) => {
    expect(reasonsOf(ruleOf({ s: search, condition: 's' }))).toEqual([expect.stringMatching(reason)]);
  });
});

it('names of built-in object properties are ordinary field names', () => {
  expect(holds({ constructor: 'x' }, {})).toBe(false);
  expect(holds({ 'constructor|exists': true }, {})).toBe(false);
  expect(holds({ '__proto__|exists': true }, {})).toBe(false);
  expect(holds({ toString: 'x' }, JSON.parse('{"toString": "x"}'))).toBe(true);
  const record = JSON.parse('{"__proto__": "x", "constructor": "y"}');
  const rule =
    '{"title":"t","logsource":{"product":"zeek","service":"test"},"detection":{"s":{"__proto__":"x","constructor":"y"},"condition":"s"}}';
  expect(holds(JSON.parse(rule).detection.s, record)).toBe(true);
  expect(holds({ 'a.constructor': 'x' }, { a: {} })).toBe(false);
});

describe('expensive matching is limited', () => {
  it('keyword searches look at a limited number of values', () => {
    const many = (count: number) => ({
      list: Array.from({ length: count }, () => 'x'),
      last: { deep: 'evil' },
    });
    expect(holds(['evil'], many(100))).toBe(true);
    expect(holds(['evil'], many(limits.maxKeywordValues))).toBe(false);
  });

  it('single-character wildcards look at the beginning of a text', () => {
    const pattern = `*${'a?'.repeat(2000)}b*`;
    expect(holds({ f: pattern }, { f: 'a'.repeat(limits.maxLineBytes) })).toBe(false);
    expect(holds({ f: '*x?z*' }, { f: `${'a'.repeat(limits.maxRegexTextLength - 3)}xyz` })).toBe(true);
    expect(holds({ f: '*x?z*' }, { f: `${'a'.repeat(limits.maxRegexTextLength)}xyz` })).toBe(false);
    expect(holds({ f: '*x*z*' }, { f: `${'a'.repeat(limits.maxLineBytes)}xyz` })).toBe(true);
  });

  it('placeholders have a limited number of values', () => {
    const placeholders = new Map([['n', Array.from({ length: 200 }, (_, at) => String(at))]]);
    const rule = ruleOf({ s: { 'f|expand': 'a%n%b%n%c%n%' }, condition: 's' });
    expect(reasonsOf(rule, { placeholders })).toEqual([
      expect.stringMatching(/more than 10000 values by its placeholders/),
    ]);
  });

  it('the values of placeholders have a total limit over all rules', () => {
    const placeholders = new Map([['n', Array.from({ length: 9990 }, (_, at) => String(at))]]);
    const rules = Array.from({ length: 12 }, (_, at) =>
      ruleOf({ s: { 'f|expand': at === 11 ? 'plain' : '%n%' }, condition: 's' }, { title: `Rule ${at}` }),
    );
    const { refused } = compiled(rules, { placeholders });
    expect(refused.map(({ document, problems }) => [document.title, problems[0]!.reason])).toEqual([
      [
        'Rule 10',
        `has placeholders that expand all rules together to more than ${limits.maxSigmaPlaceholderValues} values`,
      ],
    ]);
  });

  it('values of placeholders count towards the limits of a document', () => {
    const placeholders = new Map([['n', Array.from({ length: 5000 }, (_, at) => String(at))]]);
    const fields = (count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, at) => [`f${at}|expand`, '%n%']));
    expect(reasonsOf(ruleOf({ s: fields(5), condition: 's' }), { placeholders })).toEqual([
      `has placeholders that expand the document to more than ${limits.maxSigmaNodes} values`,
    ]);
    expect(reasonsOf(ruleOf({ s: fields(4), condition: 's' }), { placeholders })).toEqual([]);
  });
});
