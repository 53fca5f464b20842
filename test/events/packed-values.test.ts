import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { packValues, unpackValues } from '../../src/events/packed-values.ts';

const repacked = (data: unknown): unknown => unpackValues(packValues(data));

describe('packed values', () => {
  test('are equal after unpacking, for any plain data', () => {
    const leaf = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.double(),
      fc.integer(),
      fc.bigInt(),
      fc.constantFrom(null, undefined, true, false, -0, 0, NaN, '', '\ud800'),
    );
    const key = fc.oneof(fc.string(), fc.constantFrom('__proto__', 'constructor', '0', 'a', 'b'));
    const { data } = fc.letrec((tie) => ({
      data: fc.oneof({ maxDepth: 4 }, leaf, fc.array(tie('data')), fc.dictionary(key, tie('data'))),
    }));
    fc.assert(
      fc.property(data, (given) => {
        // Not toStrictEqual: it compares a value under the key `constructor` as if it were the constructor.
        expect(isDeepStrictEqual(repacked(given), structuredClone(given))).toBe(true);
      }),
      { numRuns: 70 },
    );
  });

  test('distinguish missing keys from undefined values, and keep the order of keys', () => {
    const given = [{ a: 1, b: undefined }, { a: 1 }, { b: undefined, a: 1 }, {}, [], [[]]];
    const got = repacked(given);
    expect(got).toStrictEqual(given);
    expect((got as object[]).map((one) => Object.keys(one))).toEqual(given.map((one) => Object.keys(one)));
  });

  test('keep a key __proto__ as data', () => {
    const given = JSON.parse('{"__proto__": {"polluted": true}}');
    const got = repacked(given) as object;
    expect(Object.getPrototypeOf(got)).toBe(Object.prototype);
    expect(Object.entries(got)).toEqual([['__proto__', { polluted: true }]]);
  });

  test('share objects that were shared, even in a cycle', () => {
    const shared = { tactics: ['TA0011'] };
    const cycle: unknown[] = [shared, shared];
    cycle.push(cycle);
    const got = repacked(cycle) as unknown[];
    expect(got[0]).toEqual(shared);
    expect(got[1]).toBe(got[0]);
    expect(got[2]).toBe(got);
  });

  test('store each text once, in a buffer of exactly their size', () => {
    const long = (): string => Buffer.alloc(65_535, 'x').toString();
    const times = 1000;
    const one = packValues([{ n: 0, description: long() }]).byteLength;
    const many = packValues(Array.from({ length: times }, (_, n) => ({ n, description: long() }))).byteLength;
    expect(many - one).toBeLessThan(times * 24);
  });

  test('reject objects that are not plain, and functions', () => {
    for (const given of [new Date(0), new Map(), Uint8Array.of(1), [{ a: new Set() }]])
      expect(() => packValues(given)).toThrow(TypeError);
    expect(() => packValues([() => 1])).toThrow(/could not be cloned/);
  });
});
