import { expect, test } from 'vitest';
import { GrowingTree } from '../../src/tlog/growing-tree.ts';
import { hashInPage, type PageAddress, pageWidth, placeOf } from '../../src/tlog/page.ts';
import { consistencyPlan, foldProof, inclusionPlan, verifyConsistency, verifyInclusion } from '../../src/tlog/proof.ts';
import { type Coordinate, floorLog2, foldRoot, type Hash, leafHash, rootPlan } from '../../src/tlog/tree.ts';
import { faultOf, flip } from './faults.ts';
import { mth, Oracle, path, proof, sha256 } from './oracle.ts';

/** More than a power of two, below which all sizes are tested. */
const most = 67;
const leaves = Array.from({ length: most }, (_, i) => new TextEncoder().encode(`leaf ${i}`));
const oracle = new Oracle(leaves);

const empty = (): GrowingTree => GrowingTree.load(sha256, 0, () => undefined)!;
const leafAt = (index: number): Hash => leafHash(sha256, leaves[index % most]!);

/** Grows a tree to `size`. Stores its pages after each leaf, as if a log committed each leaf separately. */
function grow(tree: GrowingTree, pages: Map<string, Uint8Array>, size: number): void {
  while (tree.size < size) {
    tree.append(leafAt(tree.size));
    for (const page of tree.takePages()) pages.set(`${page.level}/${page.index}`, page.bytes);
  }
}

/** Returns a function that reads the stored nodes of a tree of `size` leaves. */
function stored(size: number): (at: Coordinate) => Hash {
  const pages = new Map<string, Uint8Array>();
  grow(empty(), pages, size);
  return (at) => {
    const place = placeOf(at);
    return hashInPage(pages.get(`${place.level}/${place.index}`)!, pageWidth(place, size), place.row, place.column);
  };
}

test('the reference implementation gives the same results with and without its cache', () => {
  for (const size of [1, 2, 3, 7, 8, 31, 67]) {
    const some = leaves.slice(0, size);
    expect(oracle.root(0, size)).toEqual(mth(some));
    expect(oracle.path(size >> 1, 0, size)).toEqual(path(size >> 1, some));
    expect(oracle.proof((size >> 1) + 1, 0, size)).toEqual(proof((size >> 1) + 1, some));
  }
});

test('roots of all trees up to 67 leaves match the RFC, both grown and folded from stored nodes', () => {
  expect(empty().root()).toEqual(mth([]));
  const hashAt = stored(most);
  const tree = empty();
  for (let size = 1; size <= most; size++) {
    tree.append(leafAt(size - 1));
    expect(tree.root()).toEqual(oracle.root(0, size));
    expect(foldRoot(sha256, size, rootPlan(size).map(hashAt))).toEqual(oracle.root(0, size));
  }
});

test('every inclusion proof up to 67 leaves matches the RFC and verifies; proofs with a flipped bit do not', () => {
  const hashAt = stored(most);
  for (let treeSize = 1; treeSize <= most; treeSize++) {
    const root = oracle.root(0, treeSize);
    for (let leafIndex = 0; leafIndex < treeSize; leafIndex++) {
      const made = foldProof(sha256, inclusionPlan(leafIndex, treeSize), hashAt);
      const claim = {
        leafIndex,
        treeSize,
        leafHash: oracle.root(leafIndex, leafIndex + 1),
        path: made,
        root,
      };
      if (!same(made, oracle.path(leafIndex, 0, treeSize))) throw new Error(`proof of ${leafIndex} in ${treeSize}`);
      verifyInclusion(sha256, claim);
      const bad = [
        { ...claim, root: flip(root, leafIndex) },
        { ...claim, leafHash: flip(claim.leafHash, leafIndex) },
        ...made.map((_, i) => ({
          ...claim,
          path: made.map((hash, j) => (i === j ? flip(hash, leafIndex + i) : hash)),
        })),
      ];
      for (const claim of bad) {
        if (faultOf(() => verifyInclusion(sha256, claim)) !== 'root_mismatch') throw new Error('a flipped bit passed');
      }
      for (const path of [made.slice(1), made.slice(0, -1), [...made, root], [root, ...made]]) {
        if (path.length === made.length) continue;
        if (faultOf(() => verifyInclusion(sha256, { ...claim, path })) !== 'bad_path_length') {
          throw new Error('a proof of another length passed');
        }
      }
    }
  }
});

test('every consistency proof up to 67 leaves matches the RFC and verifies; proofs with a flipped bit do not', () => {
  const hashAt = stored(most);
  for (let secondSize = 1; secondSize <= most; secondSize++) {
    for (let firstSize = 1; firstSize <= secondSize; firstSize++) {
      const made = foldProof(sha256, consistencyPlan(firstSize, secondSize), hashAt);
      const [firstRoot, secondRoot] = [oracle.root(0, firstSize), oracle.root(0, secondSize)];
      const claim = { firstSize, secondSize, firstRoot, secondRoot, path: made };
      if (!same(made, oracle.proof(firstSize, 0, secondSize))) throw new Error(`${firstSize} to ${secondSize}`);
      verifyConsistency(sha256, claim);
      const bad = [
        { ...claim, firstRoot: flip(firstRoot, firstSize) },
        { ...claim, secondRoot: flip(secondRoot, firstSize) },
        ...made.map((_, i) => ({
          ...claim,
          path: made.map((hash, j) => (i === j ? flip(hash, firstSize + i) : hash)),
        })),
      ];
      for (const claim of bad) {
        if (!/root_mismatch/.test(faultOf(() => verifyConsistency(sha256, claim)) ?? '')) {
          throw new Error('a flipped bit passed');
        }
      }
      for (const path of [made.slice(1), made.slice(0, -1), [...made, secondRoot]]) {
        if (path.length === made.length) continue;
        if (faultOf(() => verifyConsistency(sha256, { ...claim, path })) !== 'bad_path_length') {
          throw new Error('a proof of another length passed');
        }
      }
    }
  }
});

test('a tree is loaded from its pages, unless they are truncated or have inconsistent hashes', () => {
  const sizes = [1, 2, 255, 256, 257, 511, 512, 700, 65_535, 65_536, 65_537, 65_793];
  const pages = new Map<string, Uint8Array>();
  const tree = empty();
  for (const size of sizes) {
    grow(tree, pages, size);
    const load = (page: PageAddress) => pages.get(`${page.level}/${page.index}`);
    const again = GrowingTree.load(sha256, size, load);
    expect(again?.root()).toEqual(tree.root());
    expect(GrowingTree.load(sha256, size, (page) => load(page)?.subarray(32))).toBeUndefined();
    if (size % 256 > 1) {
      const damaged = GrowingTree.load(sha256, size, (page) =>
        page.level === 0 ? flip(load(page)!, size) : load(page),
      );
      expect(damaged).toBeUndefined();
    }
    again!.append(leafAt(size));
    grow(tree, pages, size + 1);
    expect(again!.root()).toEqual(tree.root());
  }
});

test('floorLog2 is exact up to 2^53 − 1', () => {
  for (let level = 0; level < 53; level++) {
    expect(floorLog2(2 ** level)).toBe(level);
    if (level > 0) expect(floorLog2(2 ** level - 1)).toBe(level - 1);
  }
  expect(floorLog2(Number.MAX_SAFE_INTEGER)).toBe(52);
});

function same(a: readonly Uint8Array[], b: readonly Uint8Array[]): boolean {
  return a.length === b.length && a.every((hash, i) => Buffer.compare(hash, b[i]!) === 0);
}
