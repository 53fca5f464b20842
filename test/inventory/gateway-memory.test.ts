import { expect, test } from 'vitest';
import { ExternalEnds, GatewayMemory } from '../../src/inventory/model/gateway-memory.ts';

test('a MAC address seen with three external addresses belongs to a gateway, regardless of the times between them', () => {
  const memory = new GatewayMemory();
  expect(memory.saw('a', [1, 1])).toBe(false);
  expect(memory.saw('a', [1])).toBe(false);
  expect(memory.saw('b', [1, 2])).toBe(false);
  expect(memory.saw('a', [2])).toBe(false);
  expect(memory.saw('a', [3])).toBe(true);
  expect(memory.saw('a', [1])).toBe(true);
  expect(memory.saw('c', [7, 8, 9, 10])).toBe(true);
});

test('the MAC address seen longest ago is evicted and counted when the capacity is exceeded', () => {
  const memory = new GatewayMemory(2);
  memory.saw('a', [1, 2]);
  memory.saw('b', [1, 2]);
  memory.saw('a', [1]);
  memory.saw('c', [1]);
  expect(memory.forgotten).toBe(1);
  expect([memory.saw('a', [3]), memory.saw('b', [3])]).toEqual([true, false]);
});

test('only the first external addresses of each MAC address in a block are kept, each once', () => {
  const ends = new ExternalEnds(3);
  for (const [code, place] of [
    [1, 0],
    [2, 5],
    [1, 0],
    [2, 6],
    [2, 5],
    [2, 7],
    [2, 8],
  ] as const)
    ends.add(code, place);
  expect([0, 1, 2].map((code) => [...ends.of(code)])).toEqual([[], [0], [5, 6, 7]]);
});
