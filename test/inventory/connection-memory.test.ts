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
      ended: fc.boolean(),
    }),
    { maxLength: 3000, size: 'max' },
  );

interface Slot {
  bytes: number;
  answered: boolean;
  ended: boolean;
}

/** Adds a report to a map as its newest entry. Returns the state of the connection before the report. */
function reportTo(map: Map<number, Slot>, key: number, { bytes, answered, ended }: Slot) {
  const before = map.get(key);
  map.delete(key);
  map.set(key, {
    bytes: Math.max(bytes, before?.bytes ?? 0),
    answered: answered || before?.answered === true,
    ended,
  });
  return {
    repeated: before !== undefined,
    answeredBefore: before?.answered ?? false,
    bytesBefore: before?.bytes ?? 0,
  };
}

/** The first hash of a connection that can be in either of the two buckets of a cache of eight slots. */
const inBothBuckets = 5;

describe('the cache of reported connections', () => {
  test('gives the same results as a complete map while there is room', () => {
    fc.assert(
      fc.property(reports(700), (all) => {
        const memory = new ConnectionMemory(2048);
        const map = new Map<number, Slot>();
        for (const { key, ...slot } of all) {
          const known = { ...memory.report(...hashes(key), slot.bytes, slot.answered, slot.ended) };
          expect(known).toEqual(reportTo(map, key, slot));
        }
        expect(memory.forgotten).toBe(0);
      }),
      { numRuns: 30 },
    );
  });

  test('does not evict connections while at most two fifths of the slots are used', () => {
    const memory = new ConnectionMemory(2 ** 16);
    const keys = Math.floor(0.4 * 2 ** 16);
    for (let key = 0; key < keys; key++) memory.report(...hashes(key), key, true, false);
    expect(memory.forgotten).toBe(0);
    for (let key = 0; key < keys; key++)
      expect(memory.report(...hashes(key), 0, true, false)).toMatchObject({ repeated: true, bytesBefore: key });
  });

  test('keeps the newest connection even when full, and never reports an unknown connection as known', () => {
    fc.assert(
      fc.property(reports(5000), (all) => {
        const memory = new ConnectionMemory(64);
        const seen = new Set<number>();
        for (const { key, ended } of all) {
          if (memory.report(...hashes(key), 1, true, ended).repeated) expect(seen.has(key)).toBe(true);
          expect(memory.report(...hashes(key), 1, true, ended).repeated).toBe(true);
          seen.add(key);
        }
        expect(memory.forgotten).toBeGreaterThanOrEqual(seen.size - 64);
      }),
      { numRuns: 30 },
    );
  });

  test('counts evictions, and keeps connections that are reported repeatedly', () => {
    const memory = new ConnectionMemory(1024);
    memory.report(...hashes(-1), 5, true, false);
    for (let key = 0; key < 100_000; key++) {
      memory.report(...hashes(key), 1, true, false);
      if (key % 100 === 0) expect(memory.report(...hashes(-1), 5, true, false).repeated).toBe(true);
    }
    expect(memory.forgotten).toBeGreaterThan(98_000);
    memory.clear();
    expect(memory.report(...hashes(-1), 5, true, false).repeated).toBe(false);
  });

  test('recognises a connection with hashes of 0', () => {
    const memory = new ConnectionMemory(8);
    expect(memory.report(0, 0, 7, true, false)).toMatchObject({ repeated: false, bytesBefore: 0 });
    expect(memory.report(0, 0, 9, true, false)).toMatchObject({ repeated: true, bytesBefore: 7 });
    expect(memory.report(0, 0, 3, true, false)).toMatchObject({ repeated: true, bytesBefore: 9 });
  });

  test('evicts the oldest ended connection if more than two of eight have ended, otherwise the oldest connection', () => {
    fc.assert(
      fc.property(reports(20), (all) => {
        const memory = new ConnectionMemory(8);
        const map = new Map<number, Slot>();
        for (const { key, ...slot } of all) {
          if (!map.has(key) && map.size === 8) {
            const ended = [...map].filter(([, { ended }]) => ended);
            const [evicted] = ended.length > 2 ? ended[0]! : [...map][0]!;
            map.delete(evicted);
          }
          const known = { ...memory.report(inBothBuckets, key + 1, slot.bytes, slot.answered, slot.ended) };
          expect(known).toEqual(reportTo(map, key, slot));
        }
      }),
      { numRuns: 30 },
    );
  });

  test('evicts an open connection only after five newer open connections, however many have ended', () => {
    fc.assert(
      fc.property(fc.array(fc.boolean(), { maxLength: 500, size: 'max' }), (all) => {
        const memory = new ConnectionMemory(8);
        const repeated = () => memory.report(inBothBuckets, 1, 5, true, false);
        repeated();
        let open = 0;
        let place = 2;
        const report = (ended: boolean) => memory.report(inBothBuckets, place++, 1, true, ended);
        for (const isOpen of all) {
          if (isOpen && open === 4) continue;
          if (isOpen) open++;
          report(!isOpen);
        }
        expect(repeated()).toMatchObject({ repeated: true, bytesBefore: 5 });
        for (let newer = 0; newer < 5; newer++) report(false);
        for (let ended = 0; ended < 8; ended++) report(true);
        expect(repeated()).toMatchObject({ repeated: false });
      }),
    );
  });

  test('keeps 99 of 100 open connections while ten times as many connections as slots are reported and end', () => {
    const slots = 2 ** 14;
    const memory = new ConnectionMemory(slots);
    const open = slots / 10;
    const again = (key: number) => memory.report(...hashes(key), 1, true, false).repeated;
    for (let key = 0; key < open; key++) again(key);
    for (let key = open; key < open + 10 * slots; key++) memory.report(...hashes(key), 1, true, true);
    let kept = 0;
    for (let key = 0; key < open; key++) if (again(key)) kept++;
    expect(kept / open).toBeGreaterThan(0.99);
  });

  test('releases the slots of open connections that a later report shows as ended', () => {
    const slots = 2 ** 12;
    const memory = new ConnectionMemory(slots);
    for (const ended of [false, true])
      for (let key = 0; key < slots / 2; key++) memory.report(...hashes(key), 1, true, ended);
    for (let key = slots; key < 11 * slots; key++) memory.report(...hashes(key), 1, true, true);
    let kept = 0;
    for (let key = 0; key < slots / 2; key++) if (memory.report(...hashes(key), 1, true, true).repeated) kept++;
    expect(kept / slots).toBeLessThan(0.01);
  });

  test('keeps 99 of 100 connections that ended within the last `slots` / 4 reports, in a flood of open connections', () => {
    const slots = 2 ** 14;
    const memory = new ConnectionMemory(slots);
    const end = 8 * slots;
    const hasEnded = (key: number) => key % 8 === 0;
    for (let key = 0; key < end; key++) memory.report(...hashes(key), 1, true, hasEnded(key));
    let kept = 0;
    let all = 0;
    for (let key = end - slots / 4; key < end; key++) {
      if (!hasEnded(key)) continue;
      all++;
      if (memory.report(...hashes(key), 1, true, true).repeated) kept++;
    }
    expect(kept / all).toBeGreaterThan(0.99);
  });
});
