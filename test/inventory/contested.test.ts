import { expect, test } from 'vitest';
import { Contested } from '../../src/inventory/contested.ts';
import { limits } from '../../src/limits.ts';

const hour = 3_600_000;
const most = limits.maxMachinesPerAddress;

/** How many of these claims, a step apart, are believed. */
function believed(contested: Contested, ip: string, count: number, from: number, stepMs: number): number {
  let n = 0;
  for (let i = 0; i < count; i++)
    if (!contested.claim(ip, i === 0 ? 'first' : undefined, `${ip} ${from} ${i}`, from + i * stepMs)) n++;
  return n;
}

test('an address is contested past so many MAC addresses, for a day', () => {
  const contested = new Contested();
  expect(believed(contested, 'a', 1000, 0, 1)).toBe(most - 1);
  expect(contested.claim('a', undefined, 'x', 23 * hour)).toBe(true);
  expect(contested.claim('b', undefined, 'x', 23 * hour)).toBe(false);
  expect(contested.claim('a', undefined, 'x', 25 * hour)).toBe(false);
});

test('the order of times is no way around it', () => {
  expect(believed(new Contested(), 'a', 1000, 1000 * hour, -1)).toBe(most - 1);
  expect(believed(new Contested(), 'a', 1000, 1000 * hour, 0)).toBe(most - 1);
});

test('one that many machines have in turn, each for an hour, isn’t, nor one of few that alternate', () => {
  expect(believed(new Contested(), 'a', 1000, 0, hour)).toBe(1000);
  const contested = new Contested();
  for (let i = 0; i < 1000; i++) expect(contested.claim('a', `m${(i + 1) % 2}`, `m${i % 2}`, i)).toBe(false);
});

test('of so many addresses it is remembered, those claimed last', () => {
  const contested = new Contested(2);
  for (const ip of ['a', 'b']) believed(contested, ip, most, 0, 1);
  expect(contested.claim('a', undefined, 'x', 5)).toBe(true);
  contested.claim('c', undefined, 'x', 5);
  expect([contested.claim('a', undefined, 'y', 5), contested.claim('b', undefined, 'y', 5)]).toEqual([
    true,
    false,
  ]);
});
