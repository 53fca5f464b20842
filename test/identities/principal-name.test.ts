import { describe, expect, test } from 'vitest';
import { alikeForm } from '../../src/contract/confusable-names.ts';
import { nameAsStored, requireName } from '../../src/identities/principal-name.ts';

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
    'admin\u2800',
    '\u2800',
    'a\ufffd',
    'a\ufffcb',
    'a\u{1d159}',
    'several',
    'SEVERAL',
    'ꜱeveral',
    'sуѕтем',
    'ѕуѕтем',
    'ᴀnonymous',
  ])('cannot be %j, and the error names the field', (name) => {
    expect(() => requireName(name)).toThrow(
      expect.objectContaining({
        code: 'INVALID_REQUEST',
        details: { field: 'name', reason: expect.any(String) },
      }),
    );
  });

  test('is normalised for lookup', () => {
    expect(nameAsStored('zoe\u0308')).toBe('zo\u00eb');
  });
});

describe('confusable names', () => {
  test.for([
    ['admın', 'admin'],
    ['ɑdmin', 'admin'],
    ['ᴀdmin', 'admin'],
    ['аԁміп', 'аԁміп'],
    ['сосо', 'coco'],
    ['ϲοϲο', 'coco'],
    ['ВОВ', 'bob'],
    ['οο', 'oo'],
    ['İda', 'ida'],
    ['sensor\u20101', 'sensor-1'],
    ['sensor\u20131', 'sensor-1'],
    ['sensor\u22121', 'sensor-1'],
    ['sensor\u02d71', 'sensor-1'],
    ['O\u2019Brien', "o'brien"],
    ['Ann  Lee', 'ann lee'],
    ['𝐚𝐝𝐦𝐢𝐧', 'admin'],
    ['ſam', 'sam'],
  ] as const)('include %s and %s', ([name, other]) => expect(alikeForm(name)).toBe(alikeForm(other)));

  test.for([
    ['admin', 'admın2'],
    ['sensor-1', 'sensor1'],
    ['Иван', 'Ирина'],
    ['Νίκος', 'Νίνα'],
    ['名無し', '名無'],
  ] as const)('do not include %s and %s', ([name, other]) => expect(alikeForm(name)).not.toBe(alikeForm(other)));

  test.for(['Zoë Müller', 'Иван Петров', 'Αθηνά 2', 'ﬁne', 'ϲοϲο', 'Ⅻ', 'İ'])(
    'are compared in a normalised form, which does not change when normalised again: %s',
    (name) => expect(alikeForm(alikeForm(name))).toBe(alikeForm(name)),
  );
});
