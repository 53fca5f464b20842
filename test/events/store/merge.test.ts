import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { chooseRun } from '../../../src/events/store/merge.ts';

const maxRows = 1024;

/** Returns a directory of adjacent blocks with these numbers of rows, and with 70 bytes per row unless given. */
function blocksOf(
  rows: Float64Array<ArrayBuffer>,
  received = new Float64Array(rows.length),
  bytes = rows.map((count) => 70 * count),
) {
  let next = 1;
  const firstSeq = rows.map((count) => {
    next += count;
    return next - count;
  });
  return { count: rows.length, firstSeq, rows, received, bytes };
}

interface Merges {
  /** Numbers of rows. */
  readonly blocks: number[];
  readonly rewritten: number;
  /** Largest number of merges of three blocks into two that moved the same row. */
  readonly fillings: number;
}

/** Appends batches and merges after each batch. Blocks are represented by their numbers of rows. */
function simulate(batches: readonly number[]): Merges {
  const blocks: number[] = [];
  const filled = new Uint8Array(batches.reduce((a, b) => a + b, 0));
  let rewritten = 0;
  for (const batch of batches) {
    for (let left = batch; left > 0; left -= maxRows) blocks.push(Math.min(left, maxRows));
    for (;;) {
      const directory = blocksOf(Float64Array.from(blocks));
      const run = chooseRun(directory, maxRows);
      if (run === undefined) break;
      const sum = blocks.slice(run.from, run.to).reduce((a, b) => a + b, 0);
      expect(run.to - run.from).toBeGreaterThan(1);
      expect(sum).toBeLessThanOrEqual(run.to - run.from === 3 ? 2 * maxRows : maxRows);
      rewritten += sum;
      blocks.splice(run.from, run.to - run.from, ...(sum > maxRows ? [maxRows, sum - maxRows] : [sum]));
      const first = directory.firstSeq[run.from]! - 1;
      if (sum > maxRows) for (let row = first; row < first + sum; row++) filled[row]!++;
    }
  }
  return { blocks, rewritten, fillings: filled.reduce((a, b) => Math.max(a, b), 0) };
}

describe('merging', () => {
  it.each([1, 3, 100, 511, 600])('leaves few blocks and rarely rewrites rows, for batches of %d rows', (size) => {
    const batches = Array.from({ length: 3000 }, () => size);
    const total = 3000 * size;
    const { blocks, rewritten } = simulate(batches);
    expect(blocks.reduce((a, b) => a + b, 0)).toBe(total);
    expect(rewritten).toBeLessThanOrEqual(total * Math.log2(maxRows));
    expect(blocks.length).toBeLessThan(20 + (2.1 * total) / maxRows);
  });

  it('merges only runs that cannot grow, if growing runs are excluded', () => {
    const choose = (...rows: number[]) => chooseRun(blocksOf(Float64Array.from(rows)), maxRows, { grows: false });
    const ten = new Array<number>(10).fill(100);
    expect(choose(...ten)).toBeUndefined();
    expect(choose(...ten, 100)).toEqual({ from: 0, to: 10 });
    expect(choose(1000, 100, 100, ...ten)).toEqual({ from: 1, to: 11 });
    expect(choose(1000, 100, 100)).toBeUndefined();
  });

  it('does not merge blocks with more than 8 MiB', () => {
    const mib = 2 ** 20;
    const choose = (rows: number[], ...mebibytes: number[]) =>
      chooseRun(
        blocksOf(
          Float64Array.from(rows),
          new Float64Array(rows.length),
          Float64Array.from(mebibytes, (n) => n * mib),
        ),
        maxRows,
      );
    const ten = new Array<number>(10).fill(5);
    expect(choose(ten, ...new Array<number>(10).fill(1))).toEqual({ from: 0, to: 8 });
    expect(choose(ten, ...new Array<number>(10).fill(3))).toEqual({ from: 0, to: 2 });
    expect(choose(ten, ...new Array<number>(10).fill(5))).toBeUndefined();
    expect(choose(ten, ...new Array<number>(10).fill(9))).toBeUndefined();
    expect(choose([700, 500, 600, 1024], 2, 3, 3, 9)).toEqual({ from: 0, to: 3 });
    expect(choose([700, 500, 600, 1024], 2, 3, 4, 9)).toBeUndefined();
    expect(choose([1000, 24, 900, 1024], 4, 4, 5, 9)).toEqual({ from: 0, to: 2 });
    expect(choose([1000, 24, 900, 1024], 5, 4, 9, 9)).toBeUndefined();
  });

  it('does not change full blocks', () => {
    expect(simulate(Array.from({ length: 50 }, () => maxRows))).toMatchObject({ rewritten: 0 });
  });

  it('does not merge blocks of different days', () => {
    const days = [1, 1, 1, 1, 2, 2, 2, 2, 2, 2, 2, 2];
    const received = Float64Array.from(days, (day, i) => day * 24 * 3_600_000 + i);
    const rows = new Float64Array(days.length).fill(5);
    const choose = (from: number) => chooseRun(blocksOf(rows.slice(from), received.slice(from)), maxRows);
    expect(choose(0)).toEqual({ from: 0, to: 4 });
    expect(choose(4)).toEqual({ from: 0, to: 8 });
    expect(choose(5)).toBeUndefined();
    // The blocks alternate between two days.
    const turns = blocksOf(
      rows,
      received.map((_, i) => (i % 2) * 24 * 3_600_000),
    );
    expect(chooseRun(turns, maxRows)).toBeUndefined();
  });

  it('does not merge across a gap', () => {
    const gapped = blocksOf(new Float64Array(12).fill(5));
    for (let i = 4; i < 12; i++) gapped.firstSeq[i]! += 5;
    expect(chooseRun(gapped, maxRows)).toEqual({ from: 0, to: 4 });
  });

  it('merges small blocks between large blocks, and merges many small blocks with a large block', () => {
    expect(simulate([1000, 5, 5, 5, 1024, 1024, 7, 7, 1024]).blocks).toEqual([1015, 1024, 1024, 14, 1024]);
  });

  it('merges three blocks into two, as soon as the three blocks no longer grow', () => {
    expect(simulate(Array.from({ length: 6 }, () => 1255)).blocks).toEqual([
      1024, 1024, 1024, 1024, 924, 1024, 231, 1024, 231,
    ]);
    expect(simulate([600, 600, 600]).blocks).toEqual([600, 600, 600]);
    expect(simulate([600, 600, 600, 600]).blocks).toEqual([1024, 776, 600]);
    expect(simulate([700, 700, 700, 700]).blocks).toEqual([700, 700, 700, 700]);
  });

  it('merges two blocks that make exactly one full block, instead of filling blocks with parts of others', () => {
    const pair = blocksOf(Float64Array.of(1000, 24, 900, 1024));
    expect(chooseRun(pair, maxRows)).toEqual({ from: 0, to: 2 });
  });

  it('does not fill blocks across a gap or the end of a day, or with rows from blocks that still grow', () => {
    const rows = Float64Array.of(231, 1024, 231, 1024);
    expect(chooseRun(blocksOf(rows), maxRows)).toEqual({ from: 0, to: 3 });
    const days = Float64Array.of(0, 0, 24 * 3_600_000, 24 * 3_600_000);
    expect(chooseRun(blocksOf(rows, days), maxRows)).toBeUndefined();
    const gapped = blocksOf(rows);
    gapped.firstSeq[2]! += 5;
    expect(chooseRun(gapped, maxRows)).toBeUndefined();
    expect(chooseRun(blocksOf(rows.slice(0, 3)), maxRows)).toBeUndefined();
  });

  it('ends for all batches, with each row filled into blocks at most twice and few blocks left', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 3 * maxRows }), fc.array(fc.nat(), { maxLength: 150 }), (most, seeds) => {
        const batches = seeds.map((seed) => 1 + (seed % most));
        const { blocks, rewritten, fillings } = simulate(batches);
        const total = batches.reduce((a, b) => a + b, 0);
        expect(blocks.reduce((a, b) => a + b, 0)).toBe(total);
        expect(fillings).toBeLessThanOrEqual(2);
        expect(rewritten).toBeLessThanOrEqual(total * Math.log2(maxRows));
        // Three adjacent blocks fill two, except at the end.
        expect(blocks.length).toBeLessThan(16 + (1.5 * total) / maxRows);
      }),
    );
  });
});
