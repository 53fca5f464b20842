import fc from 'fast-check';
import { expect, it } from 'vitest';
import { AddressList, compareEntries } from '../../src/events/format/address-list.ts';
import { addressBytes, compareAddress, ipv4Of } from '../../src/net/ip.ts';

const address = fc.oneof(
  fc.ipV4(),
  fc.ipV6(),
  fc.constantFrom('::', '::1', '0.0.0.0', '255.255.255.255', '::fffe:ffff:ffff', '::1:0:0:0', '2001:db8::1'),
);

const sorted = (texts: readonly string[]): Uint8Array[] => {
  const all = texts.map((text) => addressBytes(text)!).sort((a, b) => compareAddress(a, 0, b, 0));
  return all.filter((one, i) => i === 0 || compareAddress(all[i - 1]!, 0, one, 0) !== 0);
};

const wide = (all: readonly Uint8Array[]) => new AddressList(new Uint8Array(Buffer.concat(all)), all.length);

/** Returns the list in its narrow form: IPv4 addresses are stored as u32, after the other addresses. */
function narrow(all: readonly Uint8Array[]): AddressList {
  const others = all.filter((one) => ipv4Of(one) < 0);
  const values = Uint32Array.from(all.map((one) => ipv4Of(one)).filter((value) => value >= 0));
  const bytes = new Uint8Array(Buffer.concat([...others, new Uint8Array(values.buffer)]));
  return new AddressList(bytes, all.length, others.length === 0 ? 0 : values.length);
}

it('an address list of either storage form agrees with a sorted array of addresses', () => {
  fc.assert(
    fc.property(
      fc.array(address, { minLength: 1, maxLength: 40 }),
      fc.array(address, { minLength: 1, maxLength: 10 }),
      (texts, others) => {
        const all = sorted(texts);
        const [one, two] = [wide(all), narrow(all)];
        expect(two.v4 !== undefined).toBe(all.every((each) => ipv4Of(each) >= 0));
        if (two.v4 === undefined) expect(Buffer.from(two.bytes)).toEqual(Buffer.concat(all));
        all.forEach((each, i) => {
          expect(two.text(i)).toBe(one.text(i));
          expect([one.ipv4(i), two.ipv4(i)]).toEqual([ipv4Of(each), ipv4Of(each)]);
          const out = new Uint8Array(20);
          two.write(i, out, 4);
          expect(compareAddress(out, 4, each, 0)).toBe(0);
          expect(two.placeOf(each)).toBe(i);
        });
        for (const sought of [...all, ...sorted(others)]) {
          const below = all.filter((each) => compareAddress(each, 0, sought, 0) < 0).length;
          const upTo = all.filter((each) => compareAddress(each, 0, sought, 0) <= 0).length;
          for (const list of [one, two]) {
            expect([list.firstNotBelow(sought), list.firstAbove(sought)]).toEqual([below, upTo]);
            expect(list.placeOf(sought)).toBe(upTo > below ? below : -1);
          }
        }
        const rest = sorted(others);
        const third = narrow(rest);
        all.forEach((each, i) => {
          rest.forEach((other, j) => {
            expect(Math.sign(compareEntries(two, i, third, j))).toBe(Math.sign(compareAddress(each, 0, other, 0)));
          });
        });
      },
    ),
    { numRuns: 100 },
  );
});

it('an empty address list contains no address', () => {
  const list = new AddressList(new Uint8Array(0), 0);
  expect(list.length).toBe(0);
  expect([list.firstNotBelow(addressBytes('10.0.0.1')!), list.placeOf(addressBytes('::1')!)]).toEqual([0, -1]);
});
