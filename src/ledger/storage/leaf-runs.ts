/**
 * Merges segments of the leaf-hash index as the log grows, so that a search reads few buckets: 16 segments (level 0)
 * become a run of level 1, and 16 runs of level 1 become a run of level 2. A bucket has about 256 rows on every level:
 * a segment has 256 buckets, by the first byte of the hash; a run of level 1 has 4096 buckets, by the first twelve
 * bits. At 10 million leaves a search reads about 20 buckets, instead of 152 with segments alone.
 *
 * A slice is one bucket of 16 runs and becomes 16 buckets of the next level (0.2 ms, 28 kB). One slice is
 * merged every 1024 leaves, from the size onwards at which its sources are complete. This spreads the work
 * evenly over commits, and the merged slices follow from the size alone.
 *
 * Sources are not deleted. Runs that are not merged, or were written by a version without merging, are
 * searched directly.
 */
import type { Hash } from '../../tlog/tree.ts';
import { segmentLeaves } from './leaf-index.ts';
import { type LeafRow, type OffsetBytes, offsetsOf, packRows, prefixOf, unpackRows } from './leaf-rows.ts';

const fanOut = 16;
const fanOutBits = 4;
const segmentBuckets = 256;
/** The highest level: runs of 2^32 leaves, the limit of their offsets. */
const maxLevel = 4;
const sliceLeaves = 1024;

/** One bucket of the 16 runs below a run. */
export interface LeafSlice {
  readonly level: number;
  readonly run: number;
  readonly slice: number;
}

/** Lookup of the rows of buckets. The buckets of level 0 belong to segments. */
export interface LeafBuckets {
  get(level: number, run: number, bucket: number): Uint8Array | undefined;
}

export interface MergedBucket {
  readonly level: number;
  readonly run: number;
  readonly bucket: number;
  readonly rows: Uint8Array;
}

/**
 * Yields the slices that become due as the log grows from `first` to `size` leaves, each slice after the slices that it
 * needs.
 */
export function* dueSlices(first: number, size: number): Generator<LeafSlice> {
  for (let level = 1, delay = 0; level <= maxLevel; level++) {
    const leaves = runLeaves(level);
    const slices = bucketsOf(level - 1);
    const lastRun = Math.floor((size - delay) / leaves) - 1;
    for (let run = Math.max(0, Math.floor((first - delay) / leaves) - 1); run <= lastRun; run++) {
      const start = (run + 1) * leaves + delay;
      const from = Math.max(0, Math.floor((first - start) / sliceLeaves));
      const to = Math.min(slices, Math.floor((size - start) / sliceLeaves));
      for (let slice = from; slice < to; slice++) yield { level, run, slice };
    }
    delay += slices * sliceLeaves; // by then, the last run of the level below is merged
  }
}

/** Merges a slice. Returns no buckets if a part of the slice was never merged itself. */
export function mergeSlice({ level, run, slice }: LeafSlice, stored: LeafBuckets): MergedBucket[] {
  const merged: LeafRow[][] = Array.from({ length: fanOut }, () => []);
  const shift = 32 - bucketBits(level);
  for (let child = 0; child < fanOut; child++) {
    const rows = stored.get(level - 1, run * fanOut + child, slice);
    if (rows === undefined && level > 1) return [];
    if (rows === undefined) continue; // no hash of the segment has this prefix
    const before = child * runLeaves(level - 1);
    for (const { prefix, offset } of unpackRows(rows, offsetBytes(level - 1)))
      merged[(prefix >>> shift) % fanOut]!.push({ prefix, offset: before + offset });
  }
  return merged.map((rows, i) => ({
    ...{ level, run, bucket: slice * fanOut + i },
    rows: packRows(rows, offsetBytes(level)), // also stored if empty, to show that there are no rows
  }));
}

/** Yields, oldest first, the leaves in the first `segments` segments whose hash has the same prefix as `hash`. */
export function* leavesLike(hash: Hash, segments: number, stored: LeafBuckets): Generator<number> {
  for (let at = 0; at < segments; ) {
    let level = maxLevel;
    while (at % fanOut ** level !== 0 || at + fanOut ** level > segments) level -= 1;
    yield* search(prefixOf(hash), level, at / fanOut ** level, stored);
    at += fanOut ** level;
  }
}

function* search(prefix: number, level: number, run: number, stored: LeafBuckets): Generator<number> {
  const rows = stored.get(level, run, prefix >>> (32 - bucketBits(level)));
  if (rows !== undefined) {
    for (const offset of offsetsOf(rows, prefix, offsetBytes(level))) yield run * runLeaves(level) + offset;
  } else if (level > 0) {
    for (let child = 0; child < fanOut; child++) yield* search(prefix, level - 1, run * fanOut + child, stored);
  }
}

/** Returns whether a run of this level can have this bucket in a log of `size` leaves. */
export function isPlaceOfRun(level: number, run: number, bucket: number, size: number): boolean {
  return level >= 1 && level <= maxLevel && (run + 1) * runLeaves(level) <= size && bucket < bucketsOf(level);
}

function runLeaves(level: number): number {
  return segmentLeaves * fanOut ** level;
}

function bucketsOf(level: number): number {
  return segmentBuckets * fanOut ** level;
}

function bucketBits(level: number): number {
  return 8 + fanOutBits * level;
}

function offsetBytes(level: number): OffsetBytes {
  return level === 0 ? 2 : level <= 2 ? 3 : 4;
}
