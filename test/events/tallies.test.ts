import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { encodeTallies, type Pair, Tallies, unknown, withPairs } from '../../src/events/format/tallies.ts';

const tallied = fc.array(fc.oneof(fc.nat(300), fc.constantFrom(0, 1, 254, 255, 256, 8160)), {
  minLength: 1,
  maxLength: 300,
});

describe('tallies', () => {
  it('return the number of rows of any run of entries', () => {
    fc.assert(
      fc.property(tallied, fc.nat(), fc.nat(), (rows, a, b) => {
        const [start, end] = [a % (rows.length + 1), b % (rows.length + 1)].sort((x, y) => x - y) as [number, number];
        const tallies = new Tallies(encodeTallies(Uint32Array.from(rows)), rows.length, 0);
        expect(tallies.rows(start, end)).toBe(rows.slice(start, end).reduce((x, y) => x + y, 0));
      }),
    );
  });

  it('report rows with the same address at both ends, or zero for entries without such rows', () => {
    const pairs: Pair[] = [
      [0, 3],
      [2, 8160],
    ];
    const bytes = withPairs(encodeTallies(Uint32Array.of(9, 300, 8160, 255)), pairs);
    const tallies = new Tallies(bytes, 4, pairs.length);
    expect([0, 1, 2, 3].map((entry) => tallies.toItself(entry))).toEqual([3, 0, 8160, 0]);
    expect([0, 1, 2, 3].map((entry) => tallies.rows(entry, entry + 1))).toEqual([9, 300, 8160, 255]);
    expect(new Tallies(encodeTallies(Uint32Array.of(9)), 1, unknown).toItself(0)).toBeUndefined();
  });

  it('return undefined for entries whose counts are cut off, but return the counts of other entries', () => {
    const bytes = encodeTallies(Uint32Array.of(1, 300, 2));
    expect(new Tallies(bytes.subarray(0, 3), 3, 0).rows(0, 3)).toBeUndefined();
    expect(new Tallies(bytes.subarray(0, 3), 3, 0).rows(2, 3)).toBe(2);
  });
});
