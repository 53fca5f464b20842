import fc from 'fast-check';
import { expect, test } from 'vitest';
import { BlockCounts } from '../../../src/events/store/block-counts.ts';

const directory = (blocks: readonly (readonly [firstSeq: number, rows: number])[]) => ({
  // The array is longer than `count`, as in growing directories.
  firstSeq: Float64Array.of(...blocks.map(([firstSeq]) => firstSeq), 0, 0),
  rows: Float64Array.of(...blocks.map(([, rows]) => rows), 0, 0),
  count: blocks.length,
});

/**
 * Counts the rows of each block with a sequence divisible by three. Returns the counts, and which blocks were read.
 */
function ask(counts: BlockCounts, blocks: readonly (readonly [number, number])[], filter = 'f') {
  const read: number[] = [];
  const found = counts.of(filter, directory(blocks), (block) => {
    read.push(block);
    return matching(blocks[block]!);
  });
  return { found: [...found], read };
}
const matching = ([firstSeq, rows]: readonly [number, number]) =>
  Array.from({ length: rows }, (_, i) => firstSeq + i).filter((seq) => seq % 3 === 0).length;

test('a count reads only new blocks', () => {
  const counts = new BlockCounts();
  expect(
    ask(counts, [
      [1, 4],
      [5, 4],
    ]),
  ).toEqual({ found: [1, 1], read: [0, 1] });
  expect(
    ask(counts, [
      [1, 4],
      [5, 4],
      [9, 2],
    ]),
  ).toEqual({ found: [1, 1, 1], read: [2] });
  expect(
    ask(counts, [
      [1, 4],
      [5, 4],
      [9, 2],
    ]).read,
  ).toEqual([]);
  expect(
    ask(
      counts,
      [
        [1, 4],
        [5, 4],
        [9, 2],
      ],
      'g',
    ).read,
  ).toEqual([0, 1, 2]);
});

test('a merged block has the sum of the counts of its parts, and blocks that retention removed are left out', () => {
  const counts = new BlockCounts();
  ask(counts, [
    [1, 4],
    [5, 4],
    [9, 2],
    [11, 3],
  ]);
  expect(
    ask(counts, [
      [5, 6],
      [11, 3],
      [14, 1],
    ]),
  ).toEqual({ found: [2, 1, 0], read: [2] });
});

test('a block that begins or ends within an earlier block is read', () => {
  const counts = new BlockCounts();
  ask(counts, [
    [1, 4],
    [5, 4],
  ]);
  expect(
    ask(counts, [
      [1, 6],
      [7, 2],
    ]),
  ).toEqual({ found: [2, 0], read: [0, 1] });
});

test('the earlier counts are discarded after the newest rows were aborted', () => {
  const counts = new BlockCounts();
  const [first, second, third] = [
    [1, 4],
    [5, 4],
    [9, 2],
  ] as const;
  ask(counts, [first, second, third]);
  expect(ask(counts, [first, second]).read).toEqual([0, 1]);
});

test('a cancelled count continues where it stopped', () => {
  const counts = new BlockCounts();
  const blocks: [number, number][] = [
    [1, 4],
    [5, 4],
    [9, 2],
  ];
  const giveUpAt = (last: number) => () =>
    counts.of('f', directory(blocks), (block) => {
      if (block === last) throw new RangeError('given up');
      return matching(blocks[block]!);
    });
  for (const block of [1, 2]) expect(giveUpAt(block)).toThrow(RangeError);
  expect(ask(counts, blocks)).toEqual({ found: [1, 1, 1], read: [2] });
});

test('the counts of the most recently used filters are cached', () => {
  const counts = new BlockCounts(2);
  for (const filter of ['a', 'b', 'a', 'c']) ask(counts, [[1, 4]], filter);
  expect(ask(counts, [[1, 4]], 'a').read).toEqual([]);
  expect(ask(counts, [[1, 4]], 'b').read).toEqual([0]);
});

test('the cache of counts has a limit in bytes, except for the last used filter', () => {
  const counts = new BlockCounts(32, 100);
  const blocks = (count: number) => Array.from({ length: count }, (_, i) => [1 + 4 * i, 4] as const);
  for (const filter of ['a', 'b', 'c']) ask(counts, blocks(6), filter);
  expect(counts.bytes).toBe(2 * 6 * 8);
  expect(ask(counts, blocks(6), 'b').read).toEqual([]);
  expect(ask(counts, blocks(6), 'a').read).toHaveLength(6);
  ask(counts, blocks(50), 'd');
  expect(counts.bytes).toBe(50 * 8);
  expect(ask(counts, blocks(50), 'd').read).toEqual([]);
  expect(ask(counts, blocks(6), 'd').found).toEqual(blocks(6).map(matching));
});

test('after any changes of blocks, cached counts equal a fresh count', () => {
  const step = fc.record({
    append: fc.array(fc.integer({ min: 1, max: 9 })),
    drop: fc.nat(3),
    merge: fc.nat(9),
    by: fc.nat(4),
  });
  fc.assert(
    fc.property(fc.array(step), (steps) => {
      const counts = new BlockCounts();
      let blocks: [number, number][] = [];
      let next = 1;
      for (const { append, drop, merge, by } of steps) {
        for (const rows of append) {
          blocks.push([next, rows]);
          next += rows;
        }
        const run = blocks.splice(merge, by);
        const [first] = run;
        if (first !== undefined) blocks.splice(merge, 0, [first[0], run.reduce((sum, [, rows]) => sum + rows, 0)]);
        blocks = blocks.slice(drop);
        expect(ask(counts, blocks).found).toEqual(blocks.map(matching));
      }
    }),
  );
});
