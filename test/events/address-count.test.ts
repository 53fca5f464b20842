import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { connRecords } from '../../bench/conn-records.ts';
import { openBlock } from '../../src/events/format/block.ts';
import { BlockBuilder } from '../../src/events/format/block-builder.ts';
import { compileFilter } from '../../src/events/query/select.ts';
import { olderBlock } from './older-block.ts';

const [plain] = [...connRecords(1)];
type Ends = readonly [src: string, dst: string];

const made = (rows: readonly Ends[]): ArrayBuffer => {
  const builder = new BlockBuilder('network', 1);
  for (const [src_ip, dst_ip] of rows) builder.add({ ...plain!, src_ip, dst_ip });
  return builder.finish();
};

const count = (buffer: ArrayBuffer, field: string, values: readonly string[]) =>
  compileFilter('network', { terms: [{ field, values }] }).count(openBlock(buffer, 1));

const hosts = ['10.0.0.1', '10.0.0.2', '10.9.0.1', '2001:db8::1', '2001:db8::2', '::1'];
const host = fc.constantFrom(...hosts);
const rows = fc
  .array(fc.tuple(fc.tuple(host, host), fc.constantFrom(1, 1, 2, 300)), { minLength: 1, maxLength: 12 })
  .map((list) => list.flatMap(([ends, times]) => Array.from({ length: times }, () => ends)));

describe('the rows with an address', () => {
  it('are counted as source or destination, once if both are equal, even in blocks from earlier versions', () => {
    fc.assert(
      fc.property(rows, fc.array(host, { minLength: 1, maxLength: 2 }), (all, sought) => {
        const buffer = made(all);
        for (const each of [buffer, olderBlock(buffer)]) {
          const at = (end: 0 | 1) => (ends: Ends) => sought.includes(ends[end]);
          expect(count(each, 'src_ip', sought)).toBe(all.filter(at(0)).length);
          expect(count(each, 'dst_ip', sought)).toBe(all.filter(at(1)).length);
          expect(count(each, 'ip', sought)).toBe(all.filter((ends) => at(0)(ends) || at(1)(ends)).length);
        }
      }),
      { numRuns: 150 },
    );
  });

  it('are counted without reading which rows have the address', () => {
    const buffer = made(Array.from({ length: 600 }, (_, n) => [hosts[n % 6]!, hosts[n % 5]!] as const));
    const block = openBlock(buffer, 1);
    block.addressCodes = () => {
      throw new Error('codes were read');
    };
    for (const ip of hosts) {
      const filter = compileFilter('network', { from: 0, terms: [{ field: 'ip', values: [ip] }] });
      expect(filter.count(block)).toBe(count(olderBlock(buffer), 'ip', [ip]));
    }
  });

  it('are counted if more addresses than the list can hold are both source and destination of a row', () => {
    const address = (n: number) => `10.1.${n >> 8}.${n & 255}`;
    const all = Array.from({ length: 1000 }, (_, n) => {
      return [address(n % 500), address(n % 250)] as const;
    });
    const buffer = made(all);
    for (const n of [0, 3, 249, 250, 499])
      expect(count(buffer, 'ip', [address(n)])).toBe(
        all.filter(([src, dst]) => src === address(n) || dst === address(n)).length,
      );
  });
});
