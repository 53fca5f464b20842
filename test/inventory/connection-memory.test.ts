import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ConnectionMemory } from '../../src/inventory/model/connection-memory.ts';

/** Returns two independent hashes of a number. */
function hashes(key: number): [number, number] {
  const mixed = (seed: number) => {
    let h = Math.imul(key ^ seed, 0x9e3779b1);
    h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
    h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
    return (h ^ (h >>> 16)) >>> 0;
  };
  return [mixed(0x1234), mixed(0x98765432)];
}

const reports = (maxKey: number) =>
  fc.array(
    fc.record({
      key: fc.integer({ min: 0, max: maxKey }),
      bytes: fc.oneof(fc.nat(1e6), fc.constant(0)),
      answered: fc.boolean(),
    }),
    { maxLength: 3000 },
  );

describe('the memory of connections', () => {
  test('equals a complete map while it has room', () => {
    fc.assert(
      fc.property(reports(700), (all) => {
        const memory = new ConnectionMemory(2048);
        const map = new Map<number, { bytes: number; answered: boolean }>();
        for (const { key, bytes, answered } of all) {
          const known = { ...memory.report(...hashes(key), bytes, answered) };
          const before = map.get(key);
          expect(known).toEqual({
            repeated: before !== undefined,
            answeredBefore: before?.answered ?? false,
            bytesBefore: before?.bytes ?? 0,
          });
          map.set(key, {
            bytes: Math.max(bytes, before?.bytes ?? 0),
            answered: answered || before?.answered === true,
          });
        }
        expect(memory.forgotten).toBe(0);
      }),
      { numRuns: 30 },
    );
  });

  test('does not evict while at most two fifths are used', () => {
    const memory = new ConnectionMemory(2 ** 16);
    const keys = Math.floor(0.4 * 2 ** 16);
    for (let key = 0; key < keys; key++) memory.report(...hashes(key), key, true);
    expect(memory.forgotten).toBe(0);
    for (let key = 0; key < keys; key++)
      expect(memory.report(...hashes(key), 0, true)).toMatchObject({ repeated: true, bytesBefore: key });
  });

  test('keeps the newest connections beyond its capacity, and never reports an unknown connection as known', () => {
    fc.assert(
      fc.property(reports(5000), (all) => {
        const memory = new ConnectionMemory(64);
        const seen = new Set<number>();
        for (const [place, { key }] of all.entries()) {
          const { repeated } = memory.report(...hashes(key), 1, true);
          if (repeated) expect(seen.has(key)).toBe(true);
          if (place > 0 && all[place - 1]!.key === key) expect(repeated).toBe(true);
          seen.add(key);
        }
      }),
      { numRuns: 30 },
    );
  });

  test('counts evictions, and keeps connections that are reported repeatedly', () => {
    const memory = new ConnectionMemory(1024);
    memory.report(...hashes(-1), 5, true);
    for (let key = 0; key < 100_000; key++) {
      memory.report(...hashes(key), 1, true);
      if (key % 100 === 0) expect(memory.report(...hashes(-1), 5, true).repeated).toBe(true);
    }
    expect(memory.forgotten).toBeGreaterThan(98_000);
    memory.clear();
    expect(memory.report(...hashes(-1), 5, true).repeated).toBe(false);
  });

  test('recognises a connection with hashes of 0', () => {
    const memory = new ConnectionMemory(8);
    expect(memory.report(0, 0, 7, true)).toMatchObject({ repeated: false, bytesBefore: 0 });
    expect(memory.report(0, 0, 9, true)).toMatchObject({ repeated: true, bytesBefore: 7 });
    expect(memory.report(0, 0, 3, true)).toMatchObject({ repeated: true, bytesBefore: 9 });
  });
});
