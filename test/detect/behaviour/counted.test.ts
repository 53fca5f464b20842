import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import {
  addToSample,
  countSample,
  emptySample,
  mergeSamples,
} from '../../../src/detect/behaviour/support/distinct-sample.ts';
import { keepEarliest, mergeEarliest } from '../../../src/detect/behaviour/support/earliest.ts';
import { addFrequent, type Frequent, mergeFrequent } from '../../../src/detect/behaviour/support/frequent.ts';
import { FrequentKeys } from '../../../src/detect/behaviour/support/frequent-keys.ts';
import { addPort, lowestPorts, mergePorts, noPorts } from '../../../src/detect/behaviour/support/port-set.ts';

const ports = fc.array(fc.nat(65_535), { maxLength: 1500, size: 'max' });
const portsOf = (list: readonly number[]) => {
  const set = noPorts();
  for (const port of list) addPort(set, port);
  return set;
};

describe('a set of ports', () => {
  it('equals a plain set, for any size and any order of merges', () => {
    fc.assert(
      fc.property(ports, ports, (some, others) => {
        const exact = [...new Set([...some, ...others])].sort((a, b) => a - b);
        const merged = portsOf(some);
        mergePorts(merged, portsOf(others));
        expect(merged.size).toBe(exact.length);
        expect(lowestPorts(merged, 70_000)).toEqual(exact);
        expect(lowestPorts(merged, 3)).toEqual(exact.slice(0, 3));
        expect(merged).toEqual(portsOf([...others, ...some]));
      }),
      { numRuns: 30 },
    );
  });
});

describe('a count of distinct texts', () => {
  it('is exact below the maximum, approximate above the maximum, and independent of order and grouping', () => {
    const texts = Array.from({ length: 20_000 }, (_, i) => `203.0.${i >> 8}.${i & 255}`);
    const whole = emptySample();
    for (const text of texts) addToSample(whole, text, 512);
    for (const text of texts.slice(0, 500)) addToSample(whole, text, 512);
    expect(Math.abs(countSample(whole, 512) / 20_000 - 1)).toBeLessThan(0.15);
    const merged = emptySample();
    for (const half of [texts.slice(7000).reverse(), texts.slice(0, 9000)]) {
      const part = emptySample();
      for (const text of half) addToSample(part, text, 512);
      mergeSamples(merged, part, 512);
    }
    expect(merged).toEqual(whole);
    const few = emptySample();
    for (const text of texts.slice(0, 300)) addToSample(few, text, 512);
    expect(countSample(few, 512)).toBe(300);
  });
});

describe('counts of the most frequent texts', () => {
  it('are never too high, and are too low by at most the promised error', () => {
    const counters = 8;
    const list = fc.array(fc.nat(30).map(String), { maxLength: 300 });
    const counted = (texts: readonly string[]) => {
      const counts: Frequent = new Map();
      for (const text of texts) addFrequent(counts, text, counters);
      return counts;
    };
    fc.assert(
      fc.property(list, list, (some, others) => {
        const merged = counted(some);
        mergeFrequent(merged, counted(others), counters);
        expect(merged.size).toBeLessThanOrEqual(counters);
        const all = [...some, ...others];
        for (const text of new Set(all)) {
          const exact = all.filter((one) => one === text).length;
          const low = exact - (merged.get(text) ?? 0);
          expect(low).toBeGreaterThanOrEqual(0);
          expect(low).toBeLessThanOrEqual(all.length / (counters + 1));
        }
      }),
    );
  });
});

test('counts of the most frequent keys equal counts of the same keys as texts', () => {
  const counters = 8;
  const hashes = (key: number) => [2 ** 31 + key, 2 ** 32 - 1] as const;
  const form = { write: String, read: (text: string) => [...hashes(Number(text)), Number(text)] as const };
  fc.assert(
    fc.property(fc.array(fc.array(fc.nat(30), { maxLength: 300 }), { maxLength: 3 }), (parts) => {
      const keys = new FrequentKeys<number>(counters, form);
      const texts: Frequent = new Map();
      for (const part of parts) {
        const from: Frequent = new Map();
        for (const key of part) {
          keys.add(...hashes(key), key);
          addFrequent(texts, String(key), counters);
          addFrequent(from, String(key), counters);
          expect(keys.counts).toEqual(texts);
        }
        keys.merge(from);
        mergeFrequent(texts, from, counters);
        expect(keys.counts).toEqual(texts);
      }
      keys.clear();
      expect(keys.counts).toEqual(new Map());
    }),
  );
});

describe('the earliest events', () => {
  it('are those with the ten lowest sequence numbers, without repeats', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(40)), fc.array(fc.nat(40)), (some, others) => {
        let kept: number[] = [];
        for (const seq of some) kept = keepEarliest(kept, seq);
        kept = mergeEarliest(kept, others);
        const exact = [...new Set([...some, ...others])].sort((a, b) => a - b);
        expect(kept).toEqual(exact.slice(0, 10));
      }),
    );
  });
});
