import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ShapeParser } from '../../src/ingest/shape-parser.ts';
import { hasShared, shared } from './ingesting.ts';

/**
 * Reads all lines as one body, as a record reader does. Returns the number of lines that the fast path parsed.
 */
function readAll(lines: readonly string[], reader = new ShapeParser()): number {
  const bytes = Buffer.from(lines.join('\n'));
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let start = 0;
  let quick = 0;
  for (const line of lines) {
    const end = start + Buffer.byteLength(line);
    const record = reader.read(bytes, view, start, end);
    if (record !== undefined) {
      quick++;
      same(record, line);
    } else {
      const value = parsed(line);
      if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
        reader.learn(bytes, view, start, end, value as Record<string, unknown>);
      }
    }
    start = end + 1;
  }
  return quick;
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

/** Compares exactly: names in order, minus zero, the last digit of every number. */
function same(record: unknown, line: string): void {
  const wanted: unknown = JSON.parse(line);
  expect(record).toStrictEqual(wanted);
  expect(JSON.stringify(record)).toBe(JSON.stringify(wanted));
}

const conn = (ts: string, uid: string, more = '') =>
  `{"ts":${ts},"uid":"${uid}","id.orig_h":"10.0.0.1",${more}"local":true,"none":null,"n":0}`;

describe('lines parsed by their shapes', () => {
  it('use the fast path from the second line of a shape, with and without an optional field', () => {
    const lines = [
      conn('1.5', 'a'),
      conn('1.5', 'b', '"service":"dns",'),
      conn('2.25', 'c'),
      conn('3', 'd', '"service":"ssl,http",'),
      conn('1713470872.451585', 'e'),
    ];
    expect(readAll(lines)).toBe(3);
  });

  it('are read into one reused object, which has only the values of the current line', () => {
    const reader = new ShapeParser();
    const line = (ts: string) => conn(ts, 'C');
    readAll([line('1')], reader);
    const bytes = Buffer.from(`${line('2')}\n${line('3')}`);
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const end = line('2').length;
    const first = reader.read(bytes, view, 0, end);
    expect(first?.ts).toBe(2);
    const second = reader.read(bytes, view, end + 1, bytes.length);
    expect(second).toBe(first);
    expect(second?.ts).toBe(3);
  });

  it('may nest objects, and have lists of any values', () => {
    const line = (a: string, b: string) => `{"a":${a},"flow":{"b":${b},"deep":{"c":"x"}},"d":[1]}`;
    const lines = [
      line('1', '2'),
      line('[]', '["a","b"]'),
      line('[1,true,null,"x"]', '3'),
      line('[{"rrname":"a.example","ttl":3}]', '[[1],[2,[3]]]'),
      line('["esc\\u0041ped"]', '[ 1 , 2 ]'),
    ];
    expect(readAll(lines)).toBe(4);
  });

  it.each([
    '0',
    '-1',
    '9007199254740991',
    '9007199254740993',
    '18446744073709551615',
    '0.1',
    '123456789.123456789',
    '1713470872.451585',
    '0.000001',
    '0.0000000000000000000000012345',
    '1e5',
    '1.5E-300',
    '1e400',
    '5e-324',
    '4.9406564584124654e-324',
    '123456789012345678901234567890',
    '0.30000000000000004',
    '"text"',
    '""',
    '"\u007f"',
    'true',
    'false',
    'null',
  ])('%s equals the result of JSON.parse', (value) => {
    expect(readAll([conn('1', 'a'), conn(value, 'a'), conn('1', 'b'), conn(value, 'b')])).toBe(3);
  });

  it.each(['-0', '-0.0', '0e5', '-0e1'])(
    'zeros with a sign or an exponent, %s, equal the result of JSON.parse',
    (zero) => {
      expect(readAll([conn(zero, 'a'), conn('0', 'a'), conn(zero, 'b'), conn('0', 'c')])).toBe(3);
    },
  );

  it.each([
    '01',
    '-',
    '1.',
    '.5',
    '+1',
    '1e',
    '1.5.2',
    '1-2',
    '0x1',
    'NaN',
    'tru',
    'truex',
    '"a',
    '"a\tb"',
    '"a\\qb"',
    '"a"b',
    '[1,]',
    '[1',
    '[1}',
    '[{"a":1]',
    '["a\tb"]',
    '{}',
    '',
  ])('%j is never read as a value', (value) => {
    expect(readAll([conn('1', 'a'), conn(value, 'a')])).toBe(0);
  });

  it.each([
    ['escapes', '{"a":"x\\n"}'],
    ['a character beyond ASCII', '{"a":"naïve"}'],
    ['a character beyond ASCII in a list', '{"a":["naïve"]}'],
    ['text after its end', '{"a":1} x'],
    ['text after its end that ends like the line', '{"a":1}}'],
    ['another name', '{"b":1}'],
    ['white space', '{"a": 1}'],
  ])('a line with %s does not match the shape of a line without it', (_, line) => {
    expect(readAll(['{"a":1}', line])).toBe(0);
  });

  it.each([
    ['a repeated name', '{"a":1,"a":2}'],
    ['names that are numbers', '{"b":1,"7":2}'],
    ['__proto__', '{"__proto__":1,"a":2}'],
    ['an escaped name', '{"\\u0061":1}'],
    ['a name beyond ASCII', '{"é":1}'],
    ['an empty object', '{}'],
    ['an empty inner object', '{"a":{}}'],
    ['deep nesting', '{"a":{"a":{"a":{"a":{"a":1}}}}}'],
    ['too many members', `{${Array.from({ length: 200 }, (__, i) => `"n${i}x":1`).join()}}`],
    ['a long text', `{"a":"${'x'.repeat(5000)}"}`],
  ])('equal lines with %s never use the fast path', (_, line) => {
    expect(readAll([line, line, line])).toBe(0);
  });

  it('may have names of built-in object properties', () => {
    const line = (v: number) => `{"constructor":${v},"toString":"x","hasOwnProperty":[${v}]}`;
    expect(readAll([line(1), line(2)])).toBe(1);
  });

  it('may have white space between tokens, and a value at the end of their buffer', () => {
    const line = (v: number) => `{ "a": ${v}, "b": {"c" : "t"}, "d": "e"}  `;
    expect(readAll([line(1), line(2), line(300)])).toBe(2);
    const alone = new ShapeParser();
    readAll(['{"a":"b"}'], alone);
    const bytes = Buffer.from(new Uint8Array(Buffer.from('{"a":"c"}')).buffer);
    expect(alone.read(bytes, new DataView(bytes.buffer), 0, bytes.length)).toEqual({ a: 'c' });
    expect(alone.read(bytes, new DataView(bytes.buffer), 0, bytes.length - 2)).toBeUndefined();
  });

  it('equal the result of JSON.parse for any objects, in any notation', () => {
    const text = fc.oneof(
      fc.string({ maxLength: 60 }),
      fc.string({ unit: 'binary', maxLength: 8 }),
      fc.ipV4(),
      fc.constantFrom('', 'tcp', 'udp', 'C'.repeat(47), 'C'.repeat(48), 'C'.repeat(49)),
    );
    const scalar = fc.oneof(
      text,
      fc.double({ noNaN: true }),
      fc.integer(),
      fc.maxSafeInteger(),
      fc.boolean(),
      fc.constant(null),
    );
    const value = fc.oneof(
      scalar,
      fc.array(scalar, { maxLength: 4 }),
      fc.dictionary(fc.constantFrom('x', 'yy', 'zzz'), scalar),
    );
    const name = fc.oneof(
      fc.constantFrom('ts', 'uid', 'id.orig_h', 'a', 'ab', 'abc', '1', '__proto__'),
      fc.string({ maxLength: 20 }),
    );
    const shape = fc.uniqueArray(name, { minLength: 1, maxLength: 8 });
    const lines = shape.chain((names) =>
      fc.array(
        fc.tuple(...names.map(() => value), fc.constantFrom(undefined, 1, '\t')).map((all) => {
          const space = all[names.length] as undefined | number | string;
          const entries = names.map((one, i) => `${JSON.stringify(one)}:${JSON.stringify(all[i])}`);
          return space === undefined ? `{${entries.join()}}` : `{ ${entries.join(' , ')} }`;
        }),
        { minLength: 2, maxLength: 12 },
      ),
    );
    const reader = new ShapeParser();
    fc.assert(
      fc.property(lines, (one) => void readAll(one, reader)),
      { numRuns: 300 },
    );
  });

  it('with any changed bytes are rejected if JSON.parse rejects them', () => {
    const line = '{"ts":1713470872.451585,"uid":"C3ZW8c","f":{"b":true,"c":[1,"x"]},"n":-12.5}';
    fc.assert(
      fc.property(fc.nat(line.length - 1), fc.string({ minLength: 1, maxLength: 2 }), (at, put) => {
        readAll([line, line.slice(0, at) + put.replace('\n', ' ') + line.slice(at + put.length)]);
      }),
      { numRuns: 500 },
    );
  });

  it('use the fast path again after lines from many senders with different names', () => {
    const reader = new ShapeParser();
    const strange = Array.from({ length: 3000 }, (_, i) => `{"a${i}":1,"b${i}":2,"c":${i},"d":4,"e":5}`);
    expect(readAll(strange, reader)).toBe(0);
    const usual = Array.from({ length: 64 }, (_, i) => conn(String(i), `C${i}`));
    expect(readAll(usual, reader)).toBeGreaterThan(50);
  });
});

describe.skipIf(!hasShared)('lines of real sensors', () => {
  const folder = join(shared, 'data');
  const files = hasShared
    ? readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => /ndjson(\.gz)?$/.test(name))
    : [];

  it.each(files)('in %s equal the results of JSON.parse', (name) => {
    const bytes = readFileSync(join(folder, name));
    const text = (name.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString('utf8');
    const lines = text
      .split('\n')
      .filter((line) => line !== '')
      .slice(0, 12_000);
    const quick = readAll(lines);
    // A log of connections or DNS queries has few shapes, which repeat within a few lines.
    if (/\.(conn|dns)\.ndjson\.gz$/.test(name)) expect(quick / lines.length).toBeGreaterThan(0.98);
  });
});
