import fc from 'fast-check';
import ipaddr from 'ipaddr.js';
import { describe, expect, it } from 'vitest';
import { addressBytes, addressRanges, compareAddress, isAddress, printAddress } from '../../src/net/ip.ts';
import { canonical } from '../events/oracle.ts';

describe('addresses', () => {
  it('are parsed and formatted like ipaddr.js and RFC 5952', () => {
    fc.assert(
      fc.property(fc.oneof(fc.ipV4(), fc.ipV6()), (text) => {
        expect(printAddress(addressBytes(text)!)).toBe(canonical(text));
      }),
      { numRuns: 1000 },
    );
  });

  it('are formatted according to RFC 5952, from any 16 bytes', () => {
    const byte = fc.oneof(fc.constant(0), fc.nat(255));
    fc.assert(
      fc.property(fc.array(byte, { minLength: 16, maxLength: 16 }), (list) => {
        const bytes = Uint8Array.from(list);
        const text = printAddress(bytes);
        expect(text).toBe(canonical(ipaddr.fromByteArray(list).toString()));
        expect(addressBytes(text)).toEqual(bytes);
      }),
      { numRuns: 1000 },
    );
  });

  it.each([
    ['::ffff:1.2.3.4', '1.2.3.4'],
    ['::FFFF:102:304', '1.2.3.4'],
    ['2001:0DB8::0001', '2001:db8::1'],
    ['1:0:0:2:0:0:0:3', '1:0:0:2::3'],
    ['1:0:0:2:3:0:0:4', '1::2:3:0:0:4'],
    ['1:2:3:4:5:6:7:0', '1:2:3:4:5:6:7:0'],
    ['64:ff9b::192.0.2.33', '64:ff9b::c000:221'],
    ['0:0:0:0:0:0:0:0', '::'],
    ['1::', '1::'],
  ])('like %s are formatted as %s', (text, written) => {
    expect(printAddress(addressBytes(text)!)).toBe(written);
  });

  it.each([
    '',
    ':',
    ':::',
    '1',
    '1.2.3',
    '1.2.3.4.5',
    '256.1.1.1',
    '01.2.3.4',
    '1.2.3.4 ',
    ' 1.2.3.4',
    '1..2.3',
    '.1.2.3',
    '1.2.3.',
    '0x1.2.3.4',
    '1:2:3:4:5:6:7',
    '1:2:3:4:5:6:7:8:9',
    '1::2::3',
    '12345::',
    '::g',
    'fe80::1%eth0',
    '1:2:3:4:5:6:7::8',
    ':1:2:3:4:5:6:7',
    '1:2:3:4:5:6:7:',
    '::1.2.3',
    '1:2:3:4:5:6:7:1.2.3.4',
    '::1.2.3.4:5',
    '1.2.3.4/8',
    '[::1]',
    '１.2.3.4',
  ])('%j is not an address', (text) => {
    expect(isAddress(text)).toBe(false);
  });
});

describe('CIDR blocks', () => {
  const within = (block: string, text: string) => {
    const bytes = addressBytes(text)!;
    return addressRanges(block)!.some(
      ({ first, last }) => compareAddress(first, 0, bytes, 0) <= 0 && compareAddress(bytes, 0, last, 0) <= 0,
    );
  };

  it('contain the same addresses as in ipaddr.js', () => {
    fc.assert(
      fc.property(fc.ipV4(), fc.ipV4(), fc.nat(32), (base, text, length) => {
        const [range, bits] = ipaddr.IPv4.parseCIDR(`${base}/${length}`);
        expect(within(`${base}/${length}`, text)).toBe(ipaddr.IPv4.parse(text).match(range, bits));
      }),
    );
    fc.assert(
      fc.property(fc.ipV6(), fc.ipV6(), fc.nat(128), (base, text, length) => {
        const address = ipaddr.IPv6.parse(text);
        const [range, bits] = ipaddr.IPv6.parseCIDR(`${base}/${length}`);
        if (address.isIPv4MappedAddress() || range.isIPv4MappedAddress()) return;
        expect(within(`${base}/${length}`, text)).toBe(address.match(range, bits));
      }),
    );
  });

  it('match only addresses of their family', () => {
    expect(within('::/0', '1.2.3.4')).toBe(false);
    expect(within('::/0', 'ffff::')).toBe(true);
    expect(within('::/0', '::1')).toBe(true);
    expect(within('0.0.0.0/0', '::1')).toBe(false);
    expect(within('::ffff:10.0.0.0/104', '10.9.9.9')).toBe(true);
  });

  it.each([
    '10.0.0.0/33',
    '::/129',
    '10.0.0.0/',
    '10.0.0.0/08',
    '10.0.0.0/-1',
    '10.0.0.0/8/8',
    '/8',
    'x/8',
    '1.2.3.4/ 8',
  ])('%s is not a CIDR block', (text) => {
    expect(addressRanges(text)).toBeUndefined();
  });
});
