/** Compares streams that apache-arrow reads with the original items. */
import { tableFromIPC, type Vector } from 'apache-arrow';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { ArrowColumn, ArrowKind } from '../../src/analytics/arrow/columns.ts';
import { arrowPage } from '../../src/analytics/arrow/page.ts';
import { rowsOfLines } from '../../src/analytics/arrow/rows.ts';
import { batchMessages } from '../../src/analytics/arrow/stream.ts';

/** Generates texts without a leading byte order mark, which apache-arrow drops. */
const anyText = fc.string({ unit: 'binary' }).filter((text) => !text.startsWith('\uFEFF'));

/** Possible values of each kind of attribute, and how they are read back. */
const kinds: {
  readonly [Kind in ArrowKind]: {
    readonly value: fc.Arbitrary<unknown>;
    read(value: unknown): unknown;
  };
} = {
  text: { value: anyText, read: (value) => value },
  word: { value: fc.constantFrom('', 'a', 'é', '10.0.0.1', '🦊'), read: (value) => value },
  json: {
    value: fc.jsonValue({ maxDepth: 2 }).filter((value) => !holdsMinusZero(value)),
    read: (value) => JSON.parse(value as string),
  },
  texts: {
    value: fc.array(anyText, { maxLength: 4 }),
    read: (list) => [...(list as Vector)],
  },
  time: {
    value: fc
      .date({ noInvalidDate: true, min: new Date(0), max: new Date(253_402_300_799_999) })
      .map((time) => time.toISOString()),
    read: (value) => new Date(value as number).toISOString(),
  },
  flag: { value: fc.boolean(), read: (value) => value },
  real: {
    value: fc.double({ noNaN: true, noDefaultInfinity: true }).map((n) => n + 0),
    read: (value) => value,
  },
  int64: { value: fc.maxSafeInteger().map((n) => n + 0), read: (value) => Number(value) },
  uint8: { value: fc.integer({ min: 0, max: 2 ** 8 - 1 }), read: (value) => value },
  uint16: { value: fc.integer({ min: 0, max: 2 ** 16 - 1 }), read: (value) => value },
  uint32: { value: fc.integer({ min: 0, max: 2 ** 32 - 1 }), read: (value) => value },
};

/** Returns whether a value contains minus zero, which JSON reads back as 0. */
function holdsMinusZero(value: unknown): boolean {
  if (typeof value === 'object' && value !== null) return Object.values(value).some(holdsMinusZero);
  return Object.is(value, -0);
}

const names = Object.keys(kinds) as ArrowKind[];
const columns: ArrowColumn[] = [
  { name: 'id', kind: 'text', nullable: false },
  ...names.map((kind) => ({ name: kind, kind, nullable: true })),
];

const attributes = fc.record(
  Object.fromEntries(names.map((kind) => [kind, kinds[kind].value])) as Record<ArrowKind, fc.Arbitrary<unknown>>,
  { requiredKeys: [] },
);
const page = fc.array(fc.record({ id: anyText, attributes }), { maxLength: 20 });

const encode = (items: readonly object[]) =>
  new TextEncoder().encode(items.map((item) => `${JSON.stringify(item)}\n`).join(''));

function streamOf(pages: readonly (readonly object[])[]): Uint8Array {
  const last = pages.length - 1;
  const parts = pages.map((items, n) =>
    arrowPage({ lines: encode(items), columns, isFirst: n === 0, isLast: n === last }),
  );
  return Buffer.concat(parts);
}

test('any items survive a round trip through an Arrow stream; each page is one batch', () => {
  fc.assert(
    fc.property(fc.array(page, { minLength: 1, maxLength: 4 }), (pages) => {
      const table = tableFromIPC(streamOf(pages));
      const filled = pages.filter((items) => items.length > 0);
      expect(table.batches.map(({ numRows }) => numRows).filter((rows) => rows > 0)).toEqual(
        filled.map((items) => items.length),
      );
      const rows = Array.from({ length: table.numRows }, (_, row) => {
        const given = names.map((kind) => [kind, table.getChild(kind)?.get(row)] as const);
        return {
          id: table.getChild('id')?.get(row),
          attributes: Object.fromEntries(
            given.filter(([, value]) => value !== null).map(([kind, value]) => [kind, kinds[kind].read(value)]),
          ),
        };
      });
      expect(rows).toEqual(filled.flat());
    }),
    { numRuns: 50 },
  );
});

test('messages and their buffers are aligned to multiples of eight', () => {
  const stream = streamOf([[{ id: 'a', attributes: { word: 'x', texts: ['yy'], uint8: 1 } }], []]);
  const view = new DataView(stream.buffer, stream.byteOffset, stream.byteLength);
  expect(stream.byteLength % 8).toBe(0);
  expect([view.getUint32(0, true), view.getInt32(4, true) % 8]).toEqual([0xffff_ffff, 0]);
  expect([view.getUint32(stream.length - 8, true), view.getInt32(stream.length - 4, true)]).toEqual([0xffff_ffff, 0]);
});

test('integers keep their digits, alone and within JSON', () => {
  const lines = new TextEncoder().encode(
    '{"id":"1","attributes":{"int64":1700000000000000123,"json":{"ns":[1700000000000000123,-9007199254740993]}}}\n' +
      '{"id":"2","attributes":{"int64":-9223372036854775808,"real":123456789012345680000}}\n' +
      '{"id":"3","attributes":{"int64":9223372036854775807,"json":"1700000000000000123"}}\n',
  );
  const table = tableFromIPC(arrowPage({ lines, columns, isFirst: true, isLast: true }));
  expect(Array.from(table.getChild('int64')!)).toEqual([
    1700000000000000123n,
    -9223372036854775808n,
    9223372036854775807n,
  ]);
  expect([0, 2].map((row) => table.getChild('json')?.get(row))).toEqual([
    '{"ns":[1700000000000000123,-9007199254740993]}',
    '"1700000000000000123"',
  ]);
  expect(table.getChild('real')?.get(1)).toBe(123456789012345680000);
});

test('lone surrogates in adjacent texts are replaced separately, and do not combine into a character', () => {
  const texts = ['a\ud83e', '\udd8ab', 'é'];
  const lines = encode(texts.map((text) => ({ id: 'x', attributes: { text } })));
  const table = tableFromIPC(arrowPage({ lines, columns, isFirst: true, isLast: true }));
  expect(Array.from(table.getChild('text')!)).toEqual(['a\ufffd', '\ufffdb', 'é']);
});

test('an item without a required attribute, or with an invalid time, causes an error', () => {
  const rows = rowsOfLines(encode([{ id: 'x', attributes: { time: 'noon' } }]));
  expect(() => batchMessages([{ name: 'text', kind: 'text', nullable: false }], rows)).toThrow(
    /text: missing in 1 of 1 items/,
  );
  expect(() => batchMessages([{ name: 'time', kind: 'time', nullable: true }], rows)).toThrow(/noon/);
});

test('an integer beyond 64 bits becomes the largest 64-bit integer', () => {
  const items = [1e300, 2 ** 63, 2 ** 53].map((int64, n) => ({ id: `${n}`, attributes: { int64 } }));
  const table = tableFromIPC(streamOf([items]));
  const read = Array.from({ length: 3 }, (_, row) => table.getChild('int64')?.get(row));
  expect(read).toEqual([2n ** 63n - 1n, 2n ** 63n - 1n, 2n ** 53n]);
});
