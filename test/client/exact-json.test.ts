import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseExact, parseMarked } from '../../src/client/exact-json.ts';

const marked = (text: string) => {
  try {
    return parseMarked(text);
  } catch {
    return undefined;
  }
};

test('the fallback for runtimes without source text parses JSON identically', () => {
  fc.assert(
    fc.property(fc.oneof(fc.json(), fc.string()), (text) => isDeepStrictEqual(marked(text), parseExact(text))),
    { numRuns: 200 },
  );
});

test.each([
  '[18446744073709551615, -1, 0, -0, 1.0, 1e3, 1E+3, 1.5e-3, 01]',
  '[18446744073709551615, -1, 0, -0, 1.0, 1e3, 1E+3, 1.5e-3]',
  '{"i1": "i1", "s": "s\\"i2\\\\", "": 7, "7": "", "__proto__": 1, "a": 1, "a": 2}',
  '"i5"',
  `1${'0'.repeat(40)}`,
  '{"a": 12,}',
  '"',
])('the fallback parses %s identically', (text) => {
  expect(marked(text)).toEqual(parseExact(text));
});
