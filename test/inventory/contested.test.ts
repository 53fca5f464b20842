import { expect, test } from 'vitest';
import { AddressConflicts } from '../../src/inventory/model/address-conflicts.ts';
import { limits } from '../../src/limits.ts';

const hour = 3_600_000;
const most = limits.maxMachinesPerAddress;

/** Returns how many of the claims, one step apart, are accepted. */
function believed(contested: AddressConflicts, ip: string, count: number, from: number, stepMs: number): number {
  let n = 0;
  for (let i = 0; i < count; i++)
    if (!contested.claim(ip, i === 0 ? 'first' : undefined, `${ip} ${from} ${i}`, from + i * stepMs)) n++;
  return n;
}

test('an address that too many MAC addresses claim is contested for a day', () => {
  const contested = new AddressConflicts();
  expect(believed(contested, 'a', 1000, 0, 1)).toBe(most - 1);
  expect(contested.claim('a', undefined, 'x', 23 * hour)).toBe(true);
  expect(contested.claim('b', undefined, 'x', 23 * hour)).toBe(false);
  expect(contested.claim('a', undefined, 'x', 25 * hour)).toBe(false);
});

test('the number of accepted claims does not depend on the order of their times', () => {
  expect(believed(new AddressConflicts(), 'a', 1000, 1000 * hour, -1)).toBe(most - 1);
  expect(believed(new AddressConflicts(), 'a', 1000, 1000 * hour, 0)).toBe(most - 1);
});

test('an address that many machines use in turn for an hour each, or on which two machines alternate, is not contested', () => {
  expect(believed(new AddressConflicts(), 'a', 1000, 0, hour)).toBe(1000);
  const contested = new AddressConflicts();
  for (let i = 0; i < 1000; i++) expect(contested.claim('a', `m${(i + 1) % 2}`, `m${i % 2}`, i)).toBe(false);
});

test('the most recently claimed addresses are kept, up to a limit', () => {
  const contested = new AddressConflicts(2);
  for (const ip of ['a', 'b']) believed(contested, ip, most, 0, 1);
  expect(contested.claim('a', undefined, 'x', 5)).toBe(true);
  contested.claim('c', undefined, 'x', 5);
  expect([contested.claim('a', undefined, 'y', 5), contested.claim('b', undefined, 'y', 5)]).toEqual([true, false]);
});
