import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { limits } from '../../src/limits.ts';
import { largest, TopList } from '../../src/sketch/top-list.ts';

/** One occurrence, with bytes. */
type Meeting = readonly [name: string, bytes: number];
/** Occurrences by block; lists of blocks, which are merged. */
type Lists = readonly (readonly (readonly Meeting[])[])[];

function listOf(blocks: readonly (readonly Meeting[])[], most: number): TopList {
  const list = new TopList(most, limits.maxSummedBytes);
  for (const block of blocks) {
    const { names, counted } = summed(block);
    list.add(counted, Int32Array.from(names.keys()), (number) => names[number]!);
  }
  return list;
}

function summed(block: readonly Meeting[]) {
  const names = [...new Set(block.map(([name]) => name))];
  const numbers = new Map(names.map((name, number) => [name, number]));
  const counted = { events: new Float64Array(names.length), bytes: new Float64Array(names.length) };
  for (const [name, bytes] of block) {
    counted.events[numbers.get(name)!]!++;
    counted.bytes[numbers.get(name)!]! += bytes;
  }
  return { names, counted };
}

/** Checks every guarantee of a list against the real occurrences. */
function keepsItsPromises(lists: Lists, most: number): TopList {
  const merged = new TopList(most, limits.maxSummedBytes);
  for (const blocks of lists) merged.merge(listOf(blocks, most));
  const { names, counted } = summed(lists.flat(2));
  const all = { events: 0, bytes: 0 };
  for (const value of counted.events) all.events += value;
  for (const value of counted.bytes) all.bytes += value;
  for (const [number, name] of names.entries()) {
    const events = counted.events[number]!;
    const bytes = counted.bytes[number]!;
    const entry = merged.entries.get(name);
    if (entry === undefined) {
      expect(events).toBeLessThanOrEqual(merged.absentEvents);
      expect(bytes).toBeLessThanOrEqual(merged.absentBytes);
      continue;
    }
    expect(entry.events).toBeGreaterThanOrEqual(events);
    expect(entry.events - entry.eventsError).toBeLessThanOrEqual(events);
    expect(entry.bytes).toBeGreaterThanOrEqual(bytes);
    expect(entry.bytes - entry.bytesError).toBeLessThanOrEqual(bytes);
    expect(entry.eventsError).toBeLessThanOrEqual(all.events / most);
    expect(entry.bytesError).toBeLessThanOrEqual(all.bytes / most);
  }
  expect(merged.absentEvents).toBeLessThanOrEqual(all.events / most);
  expect(merged.absentBytes).toBeLessThanOrEqual(all.bytes / most);
  expect(merged.entries.size).toBeLessThanOrEqual(2 * most);
  if (names.length <= 2 * most) expect(merged.absentEvents).toBe(0);
  return merged;
}

describe('a list of the most frequent keys', () => {
  test('is never off by more than its stated error, which is at most the total divided by `most`', () => {
    const meeting = fc.tuple(fc.stringMatching(/^[a-z]{1,2}$/), fc.oneof(fc.nat(3), fc.nat(1e6)));
    const lists = fc.array(fc.array(fc.array(meeting, { maxLength: 60 }), { maxLength: 4 }), {
      maxLength: 4,
    });
    fc.assert(
      fc.property(lists, fc.constantFrom(1, 2, 5, 20), (each, most) => {
        keepsItsPromises(each, most);
      }),
      { numRuns: 500 },
    );
  });

  const random = mulberry(5);
  const below = (n: number) => Math.floor(random() * n);
  const blocksOf = (meet: (i: number) => Meeting) =>
    Array.from({ length: 6 }, (_, list) =>
      Array.from({ length: 8 }, (_, block) =>
        Array.from({ length: 500 }, (_, i) => meet(list * 4000 + block * 500 + i)),
      ),
    );

  test('has the five most frequent keys of skewed data, in order', () => {
    const lists = blocksOf(() => [`h${Math.floor(5000 ** random())}`, below(1000)]);
    const merged = keepsItsPromises(lists, 64);
    const { names, counted } = summed(lists.flat(2));
    const want = names.map((_, n) => n).sort((a, b) => counted.events[b]! - counted.events[a]!);
    const got = [...merged.entries].sort(([, a], [, b]) => b.events - a.events).map(([name]) => name);
    expect(got.slice(0, 5)).toEqual(want.slice(0, 5).map((n) => names[n]));
  });

  test('keeps its bounds for uniform data, and for a flood of single occurrences', () => {
    keepsItsPromises(
      blocksOf(() => [`h${below(3000)}`, below(1000)]),
      64,
    );
    keepsItsPromises(
      blocksOf((i) => [`h${i}`, 1]),
      64,
    );
  });

  test('finds a key that returns after each eviction, and a key with all bytes in one occurrence', () => {
    const decoys = (i: number): Meeting => [`decoy ${Math.floor(i / 2)}`, 1];
    const lists = blocksOf((i) => (i % 50 === 0 ? ['patient', 1] : i === 777 ? ['exfiltrated', 1e12] : decoys(i)));
    const merged = keepsItsPromises(lists, 64);
    expect(merged.entries.has('patient')).toBe(true);
    expect(merged.entries.get('exfiltrated')!.bytes).toBeGreaterThanOrEqual(1e12);
  });
});

test('the value of a rank equals the value at this index in descending order', () => {
  const values = fc.array(fc.oneof(fc.nat(5), fc.nat(1000), fc.double({ min: 0, noNaN: true })), {
    minLength: 1,
    maxLength: 80,
  });
  fc.assert(
    fc.property(values, fc.nat(), (numbers, n) => {
      const rank = n % numbers.length;
      const room = Float64Array.from([...numbers, 1e300]);
      expect(largest(room, numbers.length, rank)).toBe(numbers.toSorted((a, b) => b - a)[rank]);
    }),
    { numRuns: 1000 },
  );
});

function mulberry(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}
