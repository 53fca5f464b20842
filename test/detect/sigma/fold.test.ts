import fc from 'fast-check';
import { expect, it, test } from 'vitest';
import { fold, isAscii } from '../../../src/detect/sigma/fold.ts';

it('folding lowercases a text of any length, and uses one form of the small sigma', () => {
  const unit = fc.constantFrom(
    'a',
    'Z',
    '@',
    '[',
    '1',
    'Σ',
    'ς',
    'İ',
    'é',
    'É',
    '\u212a',
    '😀',
    'aaaaaaaaaaaaaaaaaaaa',
  );
  fc.assert(
    fc.property(fc.string({ unit, maxLength: 40 }), (text) => {
      expect(fold(text)).toBe(text.toLowerCase().replaceAll('ς', 'σ'));
      expect(fold(fold(text))).toBe(fold(text));
    }),
  );
});

test.each([
  ['', true],
  ['AZ az 09 \u007f', true],
  ['é', false],
  ['a\u0080', false],
  ['\u212a', false],
])('%j consists of ASCII characters: %j', (text, expected) => {
  expect(isAscii(text)).toBe(expected);
});
