import fc from 'fast-check';
import { expect, test } from 'vitest';
import { safeHostName, safeText } from '../../src/discovery/safe-text.ts';

test('escape sequences, control characters and direction marks are removed', () => {
  expect(safeText('\x1b[31mred\x1b[0m\0 x\r\ny', 100)).toBe('[31mred [0m x y');
  expect(safeText('a\u202egpj.exe\u200b', 100)).toBe('agpj.exe');
  expect(safeText(' \t\n\0', 100)).toBeUndefined();
  expect(safeText('', 100)).toBeUndefined();
});

test('any text becomes a short, well-formed single line', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 300 }), fc.integer({ min: 1, max: 50 }), (text, length) => {
      const safe = safeText(text, length);
      if (safe === undefined) return;
      expect(safe.length).toBeLessThanOrEqual(length);
      expect(safe.isWellFormed()).toBe(true);
      expect(safe).toBe(safe.trim());
      expect(/[\p{Cc}\p{Cf}\p{Co}\p{Zl}\p{Zp}]/u.test(safe)).toBe(false);
    }),
  );
});

test('host names are returned in lower case without a final dot, and invalid host names are rejected', () => {
  expect(safeHostName('WWW.Example.ORG.')).toBe('www.example.org');
  expect(safeHostName('_dmarc.a-b.c')).toBe('_dmarc.a-b.c');
  for (const bad of [
    '',
    '.',
    'a..b',
    '-a',
    'a-',
    'a b',
    'a\0b',
    '10.0.0.1',
    '*.example.org',
    'a'.repeat(64),
    `${'a.'.repeat(130)}a`,
    'ä.example',
    '<script>',
  ])
    expect(safeHostName(bad), bad).toBeUndefined();
});
