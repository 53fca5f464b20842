import { describe, expect, test } from 'vitest';
import { nameAsStored, requireName } from '../../src/auth/principal-name.ts';

describe('a name', () => {
  test.for([
    'admin',
    'zeek-1.example.org',
    'Zoë Müller',
    '名無しの権兵衛',
    'a',
    'spiffe://site/sensor',
    '😀',
    'Иван Петров',
    'Αθηνά 2',
    '田中 Taro',
    'ann@site-1.example',
  ])('may be %j', (name) => expect(() => requireName(name)).not.toThrow());

  test.for([
    ' admin',
    'admin ',
    'admin\u00a0',
    '\u3000',
    'ad\nmin',
    'ad\u0000min',
    'ad\u001b[31mmin',
    'ad\u200bmin',
    'ad\u202emin',
    'ad\u2028min',
    'ad\ud800min',
    'ad\ue000min',
    'zoe\u0308',
    'system',
    'System',
    'ｓｙｓｔｅｍ',
    'anonymous',
    'ANONYMOUS',
    '𝐚nonymous',
    '\u0430dmin',
    'admi\u03bf',
    'ad\u13a5in',
    'Иван ivan',
    'a\u3164',
    'a\u115fb',
    'a\ufe0f',
  ])('may not be %j, and the field is named', (name) => {
    expect(() => requireName(name)).toThrow(
      expect.objectContaining({
        code: 'INVALID_REQUEST',
        details: { field: 'name', reason: expect.any(String) },
      }),
    );
  });

  test('is looked up as it is stored, however it is typed', () => {
    expect(nameAsStored('zoe\u0308')).toBe('zo\u00eb');
  });
});
