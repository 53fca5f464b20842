import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { decodeEntryBundle, encodeEntryBundle } from '../../src/tlog/entry-bundle.ts';
import { faultOf } from './faults.ts';
import { mutatedBytes } from './mutations.ts';

const entries = fc.array(fc.uint8Array({ maxLength: 40 }), { minLength: 1, maxLength: 256 });
const good = encodeEntryBundle([Uint8Array.of(1, 2, 3), new Uint8Array(), Uint8Array.of(4)]);

describe('a bundle of entries', () => {
  test('prefixes each entry with its length, high byte first', () => {
    expect([...good]).toEqual([0, 3, 1, 2, 3, 0, 0, 0, 1, 4]);
    const long = encodeEntryBundle([new Uint8Array(258)]);
    expect([...long.subarray(0, 2)]).toEqual([1, 2]);
  });

  test('round-trips, even from the middle of a larger buffer', () => {
    fc.assert(
      fc.property(entries, fc.nat(5), (entries, before) => {
        const bundle = encodeEntryBundle(entries);
        expect(bundle.buffer.byteLength).toBe(bundle.length);
        const larger = new Uint8Array(before + bundle.length + 3);
        larger.set(bundle, before);
        const bytes = larger.subarray(before, before + bundle.length);
        expect(decodeEntryBundle(bytes, entries.length)).toEqual(entries);
      }),
    );
  });

  test('holds 1 to 256 entries of at most 65,535 bytes', () => {
    const largest = Array<Uint8Array>(256).fill(new Uint8Array(65_535).fill(9));
    const bundle = encodeEntryBundle(largest);
    expect(bundle.length).toBe(256 * 65_537);
    expect(decodeEntryBundle(bundle, 256).map(({ length }) => length)).toEqual(Array(256).fill(65_535));
    expect(faultOf(() => encodeEntryBundle([new Uint8Array(65_536)]))).toBe('bad_entry_bundle');
    expect(faultOf(() => encodeEntryBundle(Array(257).fill(new Uint8Array())))).toBe('bad_entry_bundle');
    expect(faultOf(() => encodeEntryBundle([]))).toBe('bad_entry_bundle');
  });

  test('that is truncated anywhere is rejected', () => {
    for (let end = 0; end < good.length; end++) {
      expect(faultOf(() => decodeEntryBundle(good.subarray(0, end), 3))).toBe('bad_entry_bundle');
    }
  });

  test.each([-1, 0, 1, 2, 4, 256, 257, 2.5, 2 ** 32 + 3, Number.NaN])(
    'with 3 entries is rejected as a bundle of %d entries',
    (width) => {
      expect(faultOf(() => decodeEntryBundle(good, width))).toBe('bad_entry_bundle');
    },
  );

  test('has one form: encoding a decoded bundle yields the same bytes', () => {
    const bytes = fc.oneof(mutatedBytes(good), fc.uint8Array({ maxLength: 100 }));
    fc.assert(
      fc.property(bytes, fc.integer({ min: 1, max: 4 }), (bytes, width) => {
        const fault = faultOf(() => {
          expect(Buffer.compare(encodeEntryBundle(decodeEntryBundle(bytes, width)), bytes)).toBe(0);
        });
        expect([undefined, 'bad_entry_bundle']).toContain(fault);
      }),
      { numRuns: 600 },
    );
  });
});
