import { expect, test } from 'vitest';
import { addressGroup } from '../../src/net/address-group.ts';

test.each([
  ['192.0.2.7', '192.0.2.7'],
  ['2001:0db8:0001:0002:0003:0004:0005:0006', '2001:db8:1:2::/64'],
  ['2001:db8:1:2::', '2001:db8:1:2::/64'],
  ['2001:db8:1:2:ffff::9', '2001:db8:1:2::/64'],
  ['2001:db8:1:3::9', '2001:db8:1:3::/64'],
  ['::1', '0:0:0:0::/64'],
  ['0000:0000:0000:0000:0000:ffff:c000:0207', '192.0.2.7'],
  ['::ffff:c000:207', '192.0.2.7'],
])('address %s belongs to the group %s', (address, group) => {
  expect(addressGroup(address)).toBe(group);
});

test.each(['', 'x', '1::2::3', '1:2:3', '1:2:3:4:5:6:7:8:9', '::g', 'fe80::1%eth0'])(
  'a text that is not an address (%j) forms a separate group',
  (text) => {
    expect(addressGroup(text)).toBe(text);
  },
);
