import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  addClients,
  type ClientCount,
  clientsIn,
  decodeClients,
  encodeClients,
  maxExact,
  mergeClients,
  noClients,
} from '../../src/sketch/client-count.ts';

const ascending = (hashes: Iterable<number>) => Uint32Array.from(new Set(hashes)).sort();
const countOf = (hashes: Iterable<number>): ClientCount => addClients(noClients, ascending(hashes));
/** Returns a pseudo-random, deterministic hash. */
const hash = (n: number) => {
  let h = Math.imul(n + 1, 0x9e3779b1);
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return (h ^ (h >>> 16)) >>> 0;
};
const range = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => hash(from + i));

const hashLists = fc.array(fc.array(fc.integer({ min: 0, max: 2 ** 32 - 1 }), { maxLength: 60 }), {
  maxLength: 12,
});
const fewHashes = fc.array(fc.array(fc.integer({ min: 0, max: 40 }), { maxLength: 30 }), { maxLength: 12 });

describe('a count of clients', () => {
  test('is exact while it is small, in whatever parts and order the clients are added', () => {
    fc.assert(
      fc.property(fc.oneof(hashLists, fewHashes), (lists) => {
        const set = new Set(lists.flat());
        const added = lists.reduce((count, list) => addClients(count, ascending(list)), noClients);
        const merged = lists.map(countOf).reduce(mergeClients, noClients);
        expect(clientsIn(added)).toBe(set.size);
        expect(merged).toEqual(added);
        expect(mergeClients(merged, added)).toEqual(added);
        expect(decodeClients(encodeClients(added))).toEqual(added);
      }),
    );
  });

  test('returns the same object if no client is new', () => {
    const count = countOf([1, 2, 3]);
    expect(addClients(count, Uint32Array.of(1, 3))).toBe(count);
    const estimate = countOf(range(0, 10_000));
    expect(addClients(estimate, ascending(range(0, 10_000)))).toBe(estimate);
  });

  test('is exact up to its limit, and uses at most as many bytes as at the limit', () => {
    const full = countOf(range(0, maxExact));
    expect(clientsIn(full)).toBe(maxExact);
    expect(encodeClients(full)).toHaveLength(4 * maxExact);
    expect(encodeClients(countOf(range(0, maxExact + 1)))).toHaveLength(4097);
  });

  test.each([5000, 20_000, 200_000])('for %i clients is off by at most 5 %%, for any split', (size) => {
    const whole = countOf(range(0, size));
    expect(Math.abs(clientsIn(whole) / size - 1)).toBeLessThan(0.05);
    const third = Math.floor(size / 3);
    const pieces = [range(2 * third, size), range(0, third + 1000), range(third - 1000, 2 * third)];
    expect(decodeClients(encodeClients(whole))).toEqual(whole);
    expect(pieces.map(countOf).reduce(mergeClients, noClients)).toEqual(whole);
    const few = range(0, 100).sort((a, b) => a - b);
    expect(mergeClients(countOf(few), whole)).toEqual(whole);
    expect(mergeClients(whole, countOf(few))).toEqual(whole);
  });
});
