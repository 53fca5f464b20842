import { describe, expect, it, test } from 'vitest';
import { believedTime, chooseExpired, type OldBlock } from '../../../src/events/store/expiry.ts';
import { byteBound } from '../../../src/events/store/retention.ts';

const now = Date.UTC(2026, 10, 20);
const hour = 3_600_000;
const block = (table: OldBlock['table'], hoursAgo: number, tableBytes: number): OldBlock => {
  const received = now - hoursAgo * hour;
  return { table, from: 1, to: 2, receivedFrom: received, received, bytes: 10, tableBytes };
};
const choose = (blocks: readonly OldBlock[], maxAgeMs: number, over: number) => {
  const chosen = chooseExpired(blocks, { maxAgeMs }, over, now);
  return chosen && [chosen.block.table, chosen.reason];
};

describe('removal of the oldest blocks', () => {
  const both = [block('network', 5, 100), block('dns', 7, 100)];

  it('does not happen within the bounds, or in an empty store', () => {
    expect(choose(both, 0, 0)).toBeUndefined();
    expect(choose(both, 7 * hour, 0)).toBeUndefined();
    expect(choose(both, 8 * hour, -1)).toBeUndefined();
    expect(choose([], 1, 1)).toBeUndefined();
  });

  it('starts above the maximum age; the reason is age even if the maximum size is exceeded too', () => {
    expect(choose(both, 6 * hour, 0)).toEqual(['dns', 'age']);
    expect(choose(both, 6 * hour, 1)).toEqual(['dns', 'age']);
  });

  it('starts with the block received first if the maximum size is exceeded', () => {
    expect(choose(both, 0, 1)).toEqual(['dns', 'bytes']);
    expect(choose([block('network', 8, 100), block('dns', 7, 100)], 0, 1)).toEqual(['network', 'bytes']);
  });

  it('by size spares a table within its share; removal by age does not', () => {
    const flood = [block('network', 1, 900), block('dns', 7, 100)];
    expect(choose(flood, 0, 1)).toEqual(['network', 'bytes']);
    expect(choose(flood, 6 * hour, 1)).toEqual(['dns', 'age']);
    expect(choose([block('dns', 7, 100)], 0, 1)).toEqual(['dns', 'bytes']);
  });
});

test.for([
  ['of the oldest block', [3, 5, 7], 3],
  ['of the next block, if a clock was ahead', [2000, 5, 7], 5],
  ['of the oldest block, if the next block has an earlier time', [5, 3, 7], 5],
  ['of the call, if all clocks were ahead', [2000, 3000], 100],
] as const)('the accepted time of receipt is that %s', ([, times, believed]) => {
  expect(believedTime({ count: times.length, received: Float64Array.from(times) }, 100)).toBe(believed);
});

test('the bound in bytes is as configured, by default half of the volume, at most three quarters of the map', () => {
  const GiB = 2 ** 30;
  expect(byteBound(0, 101)).toBe(50);
  expect(byteBound(77, 101)).toBe(77);
  expect(byteBound(0, 2 ** 45)).toBe(192 * GiB);
  expect(byteBound(2 ** 50, 100)).toBe(192 * GiB);
  expect(byteBound(0, 0)).toBe(192 * GiB);
});
