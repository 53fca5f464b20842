import fc from 'fast-check';
import { expect, test } from 'vitest';
import { blocksMatcher } from '../../../src/detect/sigma/cidr.ts';

/** Addresses that often fall into the same blocks, in both families. */
const part = fc.constantFrom(0, 1, 9, 10, 127, 128, 255);
const ipv4 = fc.tuple(part, part, part, part).map((parts) => parts.join('.'));
const ipv6 = fc.tuple(part, part).map(([a, b]) => `2001:db8:${a.toString(16)}::${b.toString(16)}`);
const address = fc.oneof(ipv4, ipv6);
const block = fc.oneof(
  address,
  fc.tuple(ipv4, fc.integer({ min: 0, max: 32 })).map(([ip, bits]) => `${ip}/${bits}`),
  fc.tuple(ipv6, fc.integer({ min: 0, max: 128 })).map(([ip, bits]) => `${ip}/${bits}`),
);

test('an address is of several blocks where it is of one of them, in whatever order they come', () => {
  fc.assert(
    fc.property(fc.array(block, { minLength: 1, maxLength: 12 }), fc.array(address), (blocks, addresses) => {
      const several = blocksMatcher(blocks);
      const each = blocks.map((one) => blocksMatcher([one]));
      for (const ip of addresses)
        expect([ip, several(ip)]).toEqual([ip, each.some((matches) => matches(ip))]);
    }),
  );
});

test.each(['', 'localhost', '10.0.0', '10.0.0.0/8', 'fe80::1%eth0'])('%j is of none', (text) => {
  expect(blocksMatcher(['0.0.0.0/0', '::/0'])(text)).toBe(false);
});

test('what is no block is refused, wherever it stands', () => {
  expect(() => blocksMatcher(['10.0.0.0/8', '10.0.0.0/33'])).toThrow(
    "has '10.0.0.0/33', which is no block of addresses",
  );
});
