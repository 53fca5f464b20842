import { describe, expect, it } from 'vitest';
import { chooseRun } from '../../../src/events/store/merge.ts';

const maxRows = 1024;

/** Returns a directory of adjacent blocks with these numbers of rows. */
function blocksOf(rows: Float64Array<ArrayBuffer>, received = new Float64Array(rows.length)) {
  let next = 1;
  const firstSeq = rows.map((count) => {
    next += count;
    return next - count;
  });
  return { count: rows.length, firstSeq, rows, received };
}

/** Appends batches and merges after each, on row counts alone. */
function simulate(batches: readonly number[]): { blocks: number[]; rewritten: number } {
  const blocks: number[] = [];
  let rewritten = 0;
  for (const batch of batches) {
    blocks.push(batch);
    for (;;) {
      const run = chooseRun(blocksOf(Float64Array.from(blocks)), maxRows);
      if (run === undefined) break;
      const sum = blocks.slice(run.from, run.to).reduce((a, b) => a + b, 0);
      expect(run.to - run.from).toBeGreaterThan(1);
      expect(sum).toBeLessThanOrEqual(maxRows);
      rewritten += sum;
      blocks.splice(run.from, run.to - run.from, sum);
    }
  }
  return { blocks, rewritten };
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

  it('merges small blocks between large blocks, and many small blocks also with a large block', () => {
    expect(simulate([1000, 5, 5, 5, 1000, 7, 7, 1000]).blocks).toEqual([1015, 1000, 14, 1000]);
  });
});
