import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Address, Blocks } from '../../../src/detect/sigma/cidr.ts';
import { addressRanges, compareAddress, parseAddress } from '../../../src/net/ip.ts';

const part = fc.constantFrom(0, 1, 9, 10, 127, 128, 255);
const ipv4 = fc.tuple(part, part, part, part).map((parts) => parts.join('.'));
const ipv6 = fc.tuple(part, part).map(([a, b]) => `2001:db8:${a.toString(16)}::${b.toString(16)}`);
const mapped = ipv4.map((ip) => `::ffff:${ip}`);
/** Addresses that often fall into the same blocks, in both families. */
const address = fc.oneof(ipv4, ipv6, mapped);
const block = fc.oneof(
  address,
  fc.tuple(ipv4, fc.integer({ min: 0, max: 32 })).map(([ip, bits]) => `${ip}/${bits}`),
  fc.tuple(ipv6, fc.integer({ min: 0, max: 128 })).map(([ip, bits]) => `${ip}/${bits}`),
);

function isIn(blocks: readonly string[], text: string): boolean {
  const one = new Address();
  one.read(text);
  return new Blocks(blocks).has(one);
}

/** Returns whether the address is in one of the blocks, by comparing it with each block. */
function isInOneOf(blocks: readonly string[], text: string): boolean {
  const bytes = new Uint8Array(16);
  if (!parseAddress(text, bytes)) return false;
  return blocks
    .flatMap((one) => addressRanges(one) ?? [])
    .some(({ first, last }) => compareAddress(first, 0, bytes, 0) <= 0 && compareAddress(bytes, 0, last, 0) <= 0);
}

test('an address is in a list of blocks if it is in one of the blocks, in any order', () => {
  fc.assert(
    fc.property(fc.array(block, { minLength: 1, maxLength: 12 }), fc.array(address), (blocks, addresses) => {
      for (const ip of addresses) expect([ip, isIn(blocks, ip)]).toEqual([ip, isInOneOf(blocks, ip)]);
    }),
  );
});

test('a reused address object matches blocks by the address that it read last', () => {
  const blocks = new Blocks(['10.0.0.0/8', '2001:db8::/32', '128.0.0.0/1']);
  const one = new Address();
  const answers = ['10.1.2.3', 'x', '2001:db8::1', '::ffff:10.0.0.1', '2001:db9::', '255.255.255.255', ''].map(
    (text) => {
      one.read(text);
      return blocks.has(one);
    },
  );
  expect(answers).toEqual([true, false, true, true, false, true, false]);
});

test('lists of the same blocks in different notations have the same key', () => {
  const { key } = new Blocks(['10.0.0.0/8', 'fe80::/10']);
  expect(new Blocks(['fe80::1/10', '::ffff:10.1.0.0/112', '10.9.0.0/8']).key).toBe(key);
  expect(new Blocks(['10.0.0.0/9', 'fe80::/10']).key).not.toBe(key);
});

test.each(['', 'localhost', '10.0.0', '10.0.0.0/8', 'fe80::1%eth0'])('%j is not in any of the blocks', (text) => {
  expect(isIn(['0.0.0.0/0', '::/0'], text)).toBe(false);
});

test('an invalid block is rejected at any position', () => {
  expect(() => new Blocks(['10.0.0.0/8', '10.0.0.0/33'])).toThrow(
    "has '10.0.0.0/33', which is not an address or CIDR block",
  );
});
