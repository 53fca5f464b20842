import { describe, expect, test } from 'vitest';
import { openBlock } from '../../src/events/format/block.ts';
import { BlockBuilder } from '../../src/events/format/block-builder.ts';
import type { NetworkRecord } from '../../src/events/records.ts';
import { ConnectionMemory } from '../../src/inventory/model/connection-memory.ts';
import { Observations } from '../../src/inventory/model/observations.ts';
import { limits } from '../../src/limits.ts';
import { EventFold } from '../../src/rollups/model/event-fold.ts';
import { KeyedHash } from '../../src/rollups/model/keyed-hash.ts';
import { Rollup } from '../../src/rollups/model/rollup.ts';
import { decodeRollup, encodeRollup } from '../../src/rollups/model/rollup-bytes.ts';
import { standardError } from '../../src/sketch/client-count.ts';
import { networkRecord } from '../store/records.ts';

const now = Date.UTC(2026, 10, 20, 12);
const fineness = { hashes: 1024, entries: 64, bytes: limits.maxSummedBytes };
const blockRows = 4000;

/** Processes events in blocks, each separately, then encodes and merges the results. */
function folded(count: number, recordOf: (i: number) => Partial<NetworkRecord>, key: [number, number] = [7, 11]) {
  const sum = new Rollup(fineness);
  let bytes = 0;
  for (let first = 0; first < count; first += blockRows) {
    const builder = new BlockBuilder('network', now);
    for (let i = first; i < Math.min(count, first + blockRows); i++)
      builder.add(networkRecord({ timestamp: now, ...recordOf(i) }));
    const fold = new EventFold(new KeyedHash(key), () => now);
    new Observations().add(openBlock(builder.finish(), 1), new ConnectionMemory(8), [fold]);
    for (const { rollup } of fold.cells) {
      const encoded = encodeRollup(rollup);
      expect(decodeRollup(encoded, rollup.fineness)).toEqual(rollup);
      bytes = Math.max(bytes, encoded.length);
      sum.merge(decodeRollup(encoded, rollup.fineness));
    }
  }
  return { sum, bytes };
}

const v4 = (n: number) => `${11 + (n >>> 24)}.${(n >>> 16) & 255}.${(n >>> 8) & 255}.${n & 255}`;
const v6 = (n: number) => `2001:db8:${(n >>> 16).toString(16)}:${(n & 0xffff).toString(16)}::1`;

describe('counting distinct addresses', () => {
  /** Allows three standard errors. About one of 370 estimates exceeds them. */
  const isNear = (got: number, want: number) =>
    expect(Math.abs(got - want) / want).toBeLessThan(want <= fineness.hashes ? 1e-9 : 3 * standardError);

  test.each([1, 500, 1024, 1500, 4000, 11_000, 40_000])('is exact or close for %i addresses', (count) => {
    const { sum } = folded(count, (i) => ({ src_ip: v4(i), dst_ip: v6(i) }));
    expect(sum.isExact('sources')).toBe(count <= fineness.hashes);
    isNear(sum.different('sources'), count);
    isNear(sum.different('destinations'), count);
  });

  test('is close for addresses with different frequencies, and for addresses that differ in only a few bits', () => {
    const skewed = (i: number) => Math.floor(Math.sqrt(i));
    isNear(folded(40_000, (i) => ({ src_ip: v4(skewed(i)) })).sum.different('sources'), 200);
    const sparse = folded(20_000, (i) => ({ src_ip: v4(i * 4096), dst_ip: v6(i * 65_536 + 3) })).sum;
    isNear(sparse.different('sources'), 20_000);
    isNear(sparse.different('destinations'), 20_000);
  });

  test('is not distorted by addresses that were chosen for the hash under another key', () => {
    const known = new KeyedHash([7, 11]);
    // Hashes that begin with eight zeros set at most 16 of the 4,096 registers, so their number is underestimated.
    const chosen: number[] = [];
    for (let n = 0; chosen.length < 3000; n++) {
      const [a, b, c, d] = v4(n).split('.').map(Number) as [number, number, number, number];
      const bytes = Uint8Array.of(d, c, b, a);
      if (known.bytes(bytes) >>> 24 === 0) chosen.push(n);
    }
    isNear(folded(chosen.length, (i) => ({ src_ip: v4(chosen[i]!) }), [1234, 5678]).sum.different('sources'), 3000);
  });
});

test('the rollup of a flood of distinct addresses and ports has a limited size', () => {
  const { sum, bytes } = folded(12_000, (i) => ({
    src_ip: v6(i),
    dst_ip: v6(i * 7),
    dst_port: i % 65_536,
    src_bytes: i,
  }));
  expect(bytes).toBeLessThan(64 * 1024);
  expect(sum.top.talkers.entries.size).toBeLessThanOrEqual(2 * fineness.entries);
  expect(encodeRollup(sum).length).toBeLessThan(32 * 1024);
});

test('a service of icmp has no port, and the name of an invented transport is truncated', () => {
  const { sum } = folded(4, (i) => ({
    transport: ['tcp', 'icmp', 'x'.repeat(400), `${'x'.repeat(400)}y`][i]!,
    dst_port: 8,
  }));
  expect([...sum.top.services.entries.keys()].sort()).toEqual(['icmp', 'tcp/8', `${'x'.repeat(16)}/8`]);
});
