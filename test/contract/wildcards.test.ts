import fc from 'fast-check';
import { expect, test, vi } from 'vitest';
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

test('matching a pattern with many stars searches each part once', () => {
  const parts = wildcardParts(`${'a*'.repeat(12)}c*b`);
  const text = `${'a'.repeat(36)}b`;
  let searches = 0;
  for (const method of ['indexOf', 'startsWith', 'endsWith'] as const) {
    const original: (this: string, ...args: never) => unknown = String.prototype[method];
    vi.spyOn(String.prototype, method).mockImplementation(function (this: string, ...args) {
      // Backtracking would try 36!/(24! * 12!) = 1.3e9 combinations of positions and find no `c`.
      if (++searches > parts.length) throw new Error('the search backtracks');
      return Reflect.apply(original, this, args) as never;
    });
  }
  let isMatch: boolean;
  try {
    isMatch = matchesParts(text, parts);
  } finally {
    vi.restoreAllMocks();
  }
  expect(isMatch).toBe(false);
  expect(searches).toBe(parts.length);
});
