import fc from 'fast-check';
import { expect, test } from 'vitest';
import { printable } from '../../src/inventory/model/printable.ts';

test('any text becomes well-formed, limited in length and free of invisible characters', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 40 }), fc.integer({ min: 1, max: 20 }), (text, most) => {
      const shown = printable(text, most);
      if (shown === undefined) return;
      expect(shown.isWellFormed()).toBe(true);
      expect(shown.length).toBeLessThanOrEqual(most);
      expect(shown).not.toMatch(/\p{C}/u);
      expect(shown).toBe(shown.trim());
      expect(shown).not.toBe('');
    }),
  );
});

test.each([
  ['ssh', 255, 'ssh'],
  ['abc😀', 4, 'abc'],
  ['abc😀', 5, 'abc😀'],
  ['a\u0000b\u202ec', 255, 'a b c'],
  ['\ud83d', 255, '\ufffd'],
  ['\u0000\n', 255, undefined],
])('%j, limited to length %i, becomes %j', (text, most, shown) => {
  expect(printable(text, most)).toBe(shown);
});
