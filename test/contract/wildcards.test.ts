import fc from 'fast-check';
import { expect, test } from 'vitest';
import { literally, matchesParts, oneOfTexts, wildcardParts } from '../../src/contract/wildcards.ts';

const short = fc.string({ unit: fc.constantFrom('a', 'b', '*', '.'), maxLength: 8 });

test('a pattern matches the same texts as a regular expression with .* for each star', () => {
  fc.assert(
    fc.property(short, short, (pattern, text) => {
      const source = pattern.replaceAll('.', '\\.').replaceAll('*', '.*');
      expect(matchesParts(text, wildcardParts(pattern))).toBe(new RegExp(`^${source}$`, 's').test(text));
    }),
  );
});

test('an escaped text matches only the original text', () => {
  fc.assert(
    fc.property(short, short, (text, other) => {
      expect(oneOfTexts([literally(text)])(other)).toBe(text === other);
    }),
  );
});

test('matching a pattern with many stars does not take exponential time', { timeout: 2000 }, () => {
  // Backtracking would try 36!/(24! * 12!) = 1.3e9 combinations of positions and find no `c`.
  const parts = wildcardParts(`${'a*'.repeat(12)}c*b`);
  expect(matchesParts(`${'a'.repeat(36)}b`, parts)).toBe(false);
});
