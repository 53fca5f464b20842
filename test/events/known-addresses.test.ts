import { describe, expect, it } from 'vitest';
import { connRecords } from '../../bench/conn-records.ts';
import { AddressCache } from '../../src/events/format/address-cache.ts';
import { openBlock } from '../../src/events/format/block.ts';
import { BlockBuilder } from '../../src/events/format/block-builder.ts';
import { readEvent } from '../../src/events/resource.ts';
import { addressBytes } from '../../src/net/ip.ts';

const ipv4 = (i: number) => `10.${i >>> 16}.${(i >>> 8) & 255}.${i & 255}`;
const ipv6 = (i: number) => `2001:db8::${i.toString(16)}`;

describe('known addresses', () => {
  it('have the bytes of their text, each in a separate place', () => {
    const known = new AddressCache();
    const texts = Array.from({ length: 3000 }, (_, i) => (i % 3 === 0 ? ipv6(i) : ipv4(i * 7)));
    texts.push('255.255.255.255', '0.0.0.0', '::', '::1', '::ffff:10.0.0.1', '2001:DB8::1', '2001:db8::1');
    const places = texts.map((text) => known.place(text));
    expect(new Set(places).size).toBe(new Set(texts).size);
    texts.forEach((text, i) => {
      const place = places[i]!;
      expect(known.place(text)).toBe(place);
      expect(known.texts[place]).toBe(text);
      expect(known.bytes.slice(16 * place, 16 * place + 16)).toEqual(addressBytes(text));
    });
  });

  it.each(['', 'x', '1.2.3', '01.2.3.4', '1.2.3.256', ':::', 'fe80::1%eth0'])(
    '%j is not an address and is not added',
    (text) => {
      const known = new AddressCache();
      expect(known.place(text)).toBe(-1);
      expect(known.place('1.2.3.4')).toBeGreaterThanOrEqual(0);
      expect(known.place(text)).toBe(-1);
    },
  );

  it('are limited in number: above the limit, the cache is cleared and its generation increases', () => {
    const known = new AddressCache();
    for (const address of [ipv4, ipv6]) {
      const { generation } = known;
      for (let i = 0; i < 2 * AddressCache.most; i++) {
        const place = known.place(address(i));
        expect(place < AddressCache.most && known.texts[place] === address(i)).toBe(true);
      }
      expect(known.generation).toBeGreaterThan(generation);
    }
    expect(known.texts.length).toBe(AddressCache.most);
  });
});

it('a block with more addresses than the cache can hold has all of them', () => {
  const builder = new BlockBuilder('network', 0);
  const [record] = connRecords(1);
  const ends = Array.from({ length: 8000 }, (_, i) => [ipv4(2 * i + 3e5), i % 2 === 0 ? ipv4(i % 100) : ipv6(i)]);
  for (let i = 0; i < 3; i++) {
    const other = new BlockBuilder('network', 0);
    for (const [src, dst] of ends)
      other.add({ ...record!, src_ip: dst!, dst_ip: ipv4(Number(src!.length) + i * 9000) });
  }
  for (const [src, dst] of ends) builder.add({ ...record!, src_ip: src!, dst_ip: dst! });
  const block = openBlock(builder.finish(), 1);
  ends.forEach(([src_ip, dst_ip], row) => {
    expect(readEvent(block, row).attributes).toMatchObject({ src_ip, dst_ip });
  });
});
