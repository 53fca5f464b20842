import fc from 'fast-check';
import { expect, test } from 'vitest';
import { connRecords } from '../../../bench/conn-records.ts';
import { openBlock } from '../../../src/events/format/block.ts';
import { BlockBuilder } from '../../../src/events/format/block-builder.ts';
import { HeaderCache } from '../../../src/events/store/header-cache.ts';
import { StoredHeader } from '../../../src/events/store/stored-header.ts';
import { limits } from '../../../src/limits.ts';

/** Returns the header of a block with this many rows. */
function headerOf(rows: number): StoredHeader {
  const builder = new BlockBuilder('network', 0);
  for (const record of connRecords(rows)) builder.add(record);
  return new StoredHeader(openBlock(builder.finish(), 1).header.bytes.slice());
}

const headers = Array.from({ length: 9 }, (_, i) => headerOf(i + 1));

test('a cache hit returns the header cached last for the block, and the memory does not grow', () => {
  const step = fc.record({
    table: fc.constantFrom('network' as const, 'dns' as const),
    firstSeq: fc.integer({ min: 1, max: 40 }),
    rows: fc.integer({ min: 1, max: headers.length }),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 100 }), (steps) => {
      const kept = new HeaderCache(16);
      const last = new Map<string, number>();
      for (const { table, firstSeq, rows } of steps) {
        expect(kept.put(table, firstSeq, headers[rows - 1]!).rows).toBe(rows);
        last.set(`${table} ${firstSeq}`, rows);
        expect(kept.get(table, firstSeq)?.rows).toBe(rows);
        expect(kept.byteLength).toBe(16 * limits.maxKeptHeaderBytes);
      }
      for (const [block, rows] of last) {
        const [table, firstSeq] = block.split(' ');
        const found = kept.get(table as 'network' | 'dns', Number(firstSeq));
        if (found === undefined) continue;
        expect(found.rows).toBe(rows);
        expect(found.bytes).toEqual(headers[rows - 1]!.bytes);
      }
    }),
  );
});

test('a second scan of more blocks than the cache has slots still has cache hits', () => {
  const kept = new HeaderCache();
  let found = 0;
  const blocks = 1.5 * limits.keptHeaders;
  for (let round = 0; round < 2; round++)
    for (let i = 0; i < blocks; i++) {
      const firstSeq = 1 + i * limits.maxBlockRows;
      if (kept.get('network', firstSeq) === undefined) kept.put('network', firstSeq, headers[0]!);
      else found++;
    }
  expect(found).toBeGreaterThan(blocks / 8);
  expect(found).toBeLessThan(limits.keptHeaders);
  expect(kept.byteLength).toBe(limits.keptHeaders * limits.maxKeptHeaderBytes);
});

test('a header that is too long is not cached', () => {
  const kept = new HeaderCache(16);
  const bytes = new Uint8Array(limits.maxKeptHeaderBytes + 1);
  bytes.set(headers[0]!.bytes);
  const long = new StoredHeader(bytes);
  expect(kept.put('network', 1, long)).toBe(long);
  expect([kept.get('network', 1), kept.byteLength]).toEqual([undefined, 0]);
});
