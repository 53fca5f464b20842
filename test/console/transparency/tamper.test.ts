import { describe, expect, it } from 'vitest';
import { changeOneCharacter, differenceOf } from '../../../src/console/pages/transparency/tamper.ts';

const bytesOf = (text: string) => new TextEncoder().encode(text);
const textOf = (bytes: Uint8Array) => new TextDecoder().decode(bytes);

describe('changing one character', () => {
  it('changes only the letter or digit nearest to the position', () => {
    expect(textOf(changeOneCharacter(bytesOf('{"a":"Z"}'), 6))).toBe('{"a":"A"}');
    expect(textOf(changeOneCharacter(bytesOf('{"a":"z"}'), 7))).toBe('{"a":"a"}');
    expect(textOf(changeOneCharacter(bytesOf('{"a":9}'), 5))).toBe('{"a":0}');
    expect(textOf(changeOneCharacter(bytesOf('{"a":"b"}'), 0))).toBe('{"b":"b"}');
  });

  it('does not modify its input, and returns different bytes of the same length', () => {
    for (const text of ['{}', '!', 'xyz', '"\u00e9\u00e8"', '{"a":[1,2,3]}']) {
      const bytes = bytesOf(text);
      const changed = changeOneCharacter(bytes);
      expect(textOf(bytes)).toBe(text);
      expect(changed).toHaveLength(bytes.length);
      expect([...changed].filter((byte, i) => byte !== bytes[i])).toHaveLength(1);
    }
    expect(changeOneCharacter(new Uint8Array())).toHaveLength(0);
  });
});

describe('the difference between bytes', () => {
  const between = (a: string, b: string) => differenceOf(bytesOf(a), bytesOf(b));

  it('is the changed or inserted range of the second input', () => {
    expect(between('abcdef', 'abXdef')).toEqual({ from: 2, to: 3 });
    expect(between('abc', 'abXXc')).toEqual({ from: 2, to: 4 });
    expect(between('', 'x')).toEqual({ from: 0, to: 1 });
    expect(between('aaa', 'aa')).toEqual({ from: 2, to: 2 });
  });

  it('is undefined for equal input', () => {
    expect(between('abc', 'abc')).toBeUndefined();
    expect(between('', '')).toBeUndefined();
  });
});
