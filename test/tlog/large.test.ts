/**
 * Sizes at which 32-bit arithmetic breaks. Hashes are synthetic, because complete subtrees of this size
 * cannot be grown.
 */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { edgePages } from '../../src/tlog/growing-tree.ts';
import { pageWidth, placeOf } from '../../src/tlog/page.ts';
import { consistencyPlan, foldProof, inclusionPlan, verifyConsistency, verifyInclusion } from '../../src/tlog/proof.ts';
import { type Coordinate, foldRoot, type Hash, nodeHash, rootPlan, subtrees } from '../../src/tlog/tree.ts';
import { faultOf, flip } from './faults.ts';
import { sha256 } from './oracle.ts';

const max = Number.MAX_SAFE_INTEGER;
const size = fc.oneof(
  fc.integer({ min: 1, max: 300 }),
  ...[2 ** 31, 2 ** 32, 2 ** 40, 2 ** 52].map((n) => fc.integer({ min: n - 70, max: n + 70 })),
  fc.integer({ min: max - 140, max }),
  fc.integer({ min: 1, max }),
);
/** Generates a size, and a number from `from` to below the size. */
const sizeAnd = (from: number) =>
  size.filter((n) => n > from).chain((n) => fc.tuple(fc.constant(n), fc.integer({ min: from, max: n - 1 })));

/**
 * Returns the nodes of a tree in which all leaves except one are equal. The nodes of a level have one hash,
 * except the node above the odd leaf, so any node at any size is computed immediately.
 */
function paintedTree(oddLeaf: number): (at: Coordinate) => Hash {
  const plain: Hash[] = [sha256(Uint8Array.of(7))];
  const odd: Hash[] = [sha256(Uint8Array.of(8))];
  for (let level = 1; level < 53; level++) {
    const below = plain[level - 1]!;
    plain.push(nodeHash(sha256, below, below));
    const isRight = Math.floor(oddLeaf / 2 ** (level - 1)) % 2 === 1;
    odd.push(isRight ? nodeHash(sha256, below, odd[level - 1]!) : nodeHash(sha256, odd[level - 1]!, below));
  }
  return ({ level, index }) => (Math.floor(oddLeaf / 2 ** level) === index ? odd : plain)[level]!;
}

test('inclusion proofs verify at any size, have at most 53 hashes, and fail with a flipped bit or another index', () => {
  fc.assert(
    fc.property(sizeAnd(0), fc.nat(), ([treeSize, leafIndex], n) => {
      const hashAt = paintedTree(leafIndex);
      const root = foldRoot(sha256, treeSize, rootPlan(treeSize).map(hashAt));
      const path = foldProof(sha256, inclusionPlan(leafIndex, treeSize), hashAt);
      const claim = { leafIndex, treeSize, leafHash: hashAt({ level: 0, index: leafIndex }), path, root };
      expect(path.length).toBeLessThanOrEqual((treeSize - 1).toString(2).length);
      verifyInclusion(sha256, claim);
      if (path.length > 0) {
        const at = n % path.length;
        const bad = path.map((hash, i) => (i === at ? flip(hash, n) : hash));
        expect(faultOf(() => verifyInclusion(sha256, { ...claim, path: bad }))).toBe('root_mismatch');
      }
      // These numbers are equal to the index for 32-bit operators.
      for (const other of [leafIndex + 2 ** 31, leafIndex + 2 ** 32, leafIndex - 2 ** 32]) {
        expect(faultOf(() => verifyInclusion(sha256, { ...claim, leafIndex: other }))).toBeDefined();
      }
    }),
    { numRuns: 60 },
  );
});

test('consistency proofs verify at any size, and fail with a flipped bit', () => {
  fc.assert(
    fc.property(sizeAnd(1), fc.nat(), ([secondSize, firstSize], n) => {
      const hashAt = paintedTree(n);
      const [firstRoot, secondRoot] = [firstSize, secondSize].map((s) =>
        foldRoot(sha256, s, rootPlan(s).map(hashAt)),
      ) as [Hash, Hash];
      const path = foldProof(sha256, consistencyPlan(firstSize, secondSize), hashAt);
      const claim = { firstSize, secondSize, firstRoot, secondRoot, path };
      expect(path.length).toBeLessThanOrEqual(54);
      verifyConsistency(sha256, claim);
      const at = n % path.length;
      const bad = path.map((hash, i) => (i === at ? flip(hash, n) : hash));
      expect(faultOf(() => verifyConsistency(sha256, { ...claim, path: bad }))).toMatch(/root_mismatch/);
    }),
    { numRuns: 60 },
  );
});

test('a plan contains only complete nodes, each on a page that holds it', () => {
  fc.assert(
    fc.property(sizeAnd(1), ([treeSize, n]) => {
      const plans = [inclusionPlan(n, treeSize), consistencyPlan(n, treeSize), [rootPlan(treeSize)]];
      for (const at of plans.flat(2)) {
        expect((at.index + 1) * 2 ** at.level).toBeLessThanOrEqual(treeSize);
        const place = placeOf(at);
        expect(place.column).toBeLessThan(Math.floor(pageWidth(place, treeSize) / 2 ** place.row));
        expect(place.level * 8 + place.row).toBe(at.level);
        expect(place.index * (256 / 2 ** place.row) + place.column).toBe(at.index);
      }
      // The root is computed from nodes on the growing pages, so a restart needs no other pages.
      const edge = edgePages(treeSize).map(({ level, index }) => `${level}/${index}`);
      for (const at of rootPlan(treeSize)) expect(edge).toContain(`${placeOf(at).level}/${placeOf(at).index}`);
    }),
    { numRuns: 100 },
  );
});

test('the largest tree has one subtree for each bit of its size', () => {
  expect(subtrees(0, max)).toHaveLength(53);
  expect(subtrees(0, 2 ** 31)).toEqual([{ level: 31, index: 0 }]);
  expect(subtrees(0, 2 ** 32 + 1)).toEqual([
    { level: 32, index: 0 },
    { level: 0, index: 2 ** 32 },
  ]);
  expect(inclusionPlan(max - 1, max)).toHaveLength(52);
  expect(inclusionPlan(0, max)).toHaveLength(53);
});

test('invalid sizes, indices and hashes are rejected, each with its fault', () => {
  const hash = sha256(new Uint8Array(0));
  const claim = { leafIndex: 0, treeSize: 1, leafHash: hash, path: [], root: hash };
  for (const treeSize of [-1, 0.5, Number.NaN, 2 ** 53, Number.POSITIVE_INFINITY]) {
    expect(faultOf(() => inclusionPlan(0, treeSize))).toBe('bad_size');
    expect(faultOf(() => consistencyPlan(1, treeSize))).toBe('bad_size');
    expect(faultOf(() => rootPlan(treeSize))).toBe('bad_size');
    expect(faultOf(() => verifyInclusion(sha256, { ...claim, treeSize }))).toBe('bad_size');
  }
  for (const leafIndex of [-1, 1, 0.5, Number.NaN, 2 ** 53]) {
    expect(faultOf(() => inclusionPlan(leafIndex, 1))).toBe('bad_index');
    expect(faultOf(() => verifyInclusion(sha256, { ...claim, leafIndex }))).toBe('bad_index');
  }
  const consistency = { firstRoot: hash, secondRoot: hash, path: [] };
  for (const [firstSize, secondSize] of [
    [0, 1],
    [2, 1],
    [0, 0],
  ] as const) {
    expect(faultOf(() => verifyConsistency(sha256, { ...consistency, firstSize, secondSize }))).toBe('bad_size');
  }
  const short = hash.subarray(1);
  expect(faultOf(() => verifyInclusion(sha256, { ...claim, root: short }))).toBe('bad_hash');
  expect(faultOf(() => verifyInclusion(sha256, { ...claim, leafHash: short }))).toBe('bad_hash');
  expect(faultOf(() => verifyInclusion(sha256, { ...claim, treeSize: 2, path: [short] }))).toBe('bad_hash');
});
