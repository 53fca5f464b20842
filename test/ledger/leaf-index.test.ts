import fc from 'fast-check';
import { expect, test } from 'vitest';
import { sha256 } from '../../src/crypto/sha256.ts';
import { LeafIndex, segmentLeaves } from '../../src/ledger/storage/leaf-index.ts';
import { type LeafRow, packRows, prefixOf } from '../../src/ledger/storage/leaf-rows.ts';
import {
  dueSlices,
  isPlaceOfRun,
  type LeafBuckets,
  leavesLike,
  mergeSlice,
} from '../../src/ledger/storage/leaf-runs.ts';
import type { Hash } from '../../src/tlog/tree.ts';

const hashOf = (n: number) => sha256(new TextEncoder().encode(String(n)));

/** Buckets in memory that count reads. `grow` merges buckets as a log does. */
class Buckets implements LeafBuckets {
  readonly rows = new Map<string, Uint8Array>();
  reads = 0;

  get(level: number, run: number, bucket: number): Uint8Array | undefined {
    this.reads += 1;
    return this.rows.get(`${level}/${run}/${bucket}`);
  }

  put(level: number, run: number, bucket: number, rows: Uint8Array): void {
    this.rows.set(`${level}/${run}/${bucket}`, rows);
  }

  grow(first: number, size: number): void {
    for (const slice of dueSlices(first, size)) {
      for (const { level, run, bucket, rows } of mergeSlice(slice, this)) {
        expect(isPlaceOfRun(level, run, bucket, size)).toBe(true);
        this.put(level, run, bucket, rows);
      }
    }
  }

  readonly like = (hash: Hash, segments: number) => leavesLike(hash, segments, this);
}

test('every leaf is found by its hash: in a segment, at its edges, among the newest, and after a restart', () => {
  const size = 2 * segmentLeaves + 100;
  const stored = new Buckets();
  const index = new LeafIndex();
  for (let n = 0; n < size; n++) {
    for (const { segment, bucket, rows } of index.add(hashOf(n))) stored.put(0, segment, bucket, rows);
  }
  expect(stored.rows.size).toBe(512);
  const again = LeafIndex.load(size, hashOf);
  for (const of of [index, again]) {
    for (const n of [0, 1, segmentLeaves - 1, segmentLeaves, 2 * segmentLeaves - 1, 2 * segmentLeaves, size - 1]) {
      expect([...of.candidates(hashOf(n), stored.like)]).toContain(n);
    }
    let found = 0;
    for (let n = 0; n < size; n += 97) if ([...of.candidates(hashOf(n), stored.like)].includes(n)) found++;
    expect(found).toBe(Math.ceil(size / 97));
    expect([...of.candidates(hashOf(size + 1), stored.like)].length).toBeLessThan(3);
  }
});

/** Returns a segment with only every 997th leaf, by hash. For merging, it is equivalent to a full segment. */
function sparseSegment(segment: number): Map<number, LeafRow[]> {
  const buckets = new Map<number, LeafRow[]>();
  for (let offset = segment % 997; offset < segmentLeaves; offset += 997) {
    const prefix = prefixOf(hashOf(segment * segmentLeaves + offset));
    const rows = buckets.get(prefix >>> 24);
    if (rows === undefined) buckets.set(prefix >>> 24, [{ prefix, offset }]);
    else rows.push({ prefix, offset });
  }
  return buckets;
}

test('an index merged up to 38 million leaves finds the same leaves as separate segments, in fewer reads', () => {
  const stored = new Buckets();
  const segments = 580;
  for (let segment = 0; segment < segments; segment++) {
    for (const [bucket, rows] of sparseSegment(segment)) stored.put(0, segment, bucket, packRows(rows, 2));
    const first = segment * segmentLeaves;
    // Appends of odd sizes, and of sizes that span several slices.
    for (let at = first; at < first + segmentLeaves; at += 7919)
      stored.grow(at, Math.min(at + 7919, first + segmentLeaves));
  }
  const plain = new Buckets();
  for (const [name, rows] of stored.rows) if (name.startsWith('0/')) plain.rows.set(name, rows);
  for (let segment = 0; segment < segments; segment += 3) {
    const hash = hashOf(segment * segmentLeaves + (segment % 997) + 997 * (segment % 60));
    for (const complete of [segments, segment + 1]) {
      const found = [...stored.like(hash, complete)];
      expect(found).toEqual([...plain.like(hash, complete)]);
      expect(found).toContain(segment * segmentLeaves + (segment % 997) + 997 * (segment % 60));
    }
  }
  stored.reads = 0;
  for (let n = 0; n < 256; n++) [...stored.like(hashOf(n), segments)];
  expect(stored.reads / 256).toBeLessThan(60);
  expect([...stored.rows.keys()].filter((name) => name.startsWith('2/')).length).toBeGreaterThan(20_000);
});

test('each slice is merged once, after the slices that it needs, for any growth of the log', () => {
  const all = (from: number, to: number) => [...dueSlices(from, to)];
  const name = ({ level, run, slice }: { level: number; run: number; slice: number }) => `${level}/${run}/${slice}`;
  const size = 24 * 2 ** 20;
  const whole = all(0, size);
  expect(new Set(whole.map(name)).size).toBe(whole.length);
  fc.assert(
    fc.property(fc.array(fc.nat(size), { maxLength: 60 }), (cuts) => {
      const sizes = [0, ...cuts.sort((a, b) => a - b), size];
      const parts = sizes.slice(1).flatMap((to, i) => all(sizes[i]!, to));
      expect(parts.map(name).sort()).toEqual(whole.map(name).sort());
      const done = new Set<string>();
      const early: string[] = [];
      for (const slice of parts) {
        const { level, run } = slice;
        for (let child = 0; child < 16 && level > 1; child++) {
          const needed = name({ level: level - 1, run: run * 16 + child, slice: slice.slice >> 4 });
          if (!done.has(needed)) early.push(`${name(slice)} before ${needed}`);
        }
        done.add(name(slice));
      }
      expect(early).toEqual([]);
    }),
    { numRuns: 20 },
  );
});
