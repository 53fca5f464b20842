/**
 * Inclusion and consistency proofs of RFC 6962 (sections 2.1.1 and 2.1.2): plan, fold, verify.
 *
 * A plan is a list of steps, one for each hash of the proof, in the order of the proof (bottom-up). A step
 * lists the stored hashes that its hash is folded from: one, or several for the part that touches the right
 * edge.
 */
import { TlogError } from './fault.ts';
import {
  type Coordinate,
  checkHash,
  checkIndex,
  checkSize,
  equalHashes,
  floorLog2,
  foldEdge,
  type Hash,
  type Hasher,
  nodeHash,
  rootPlan,
  subtrees,
} from './tree.ts';

export type ProofPlan = readonly (readonly Coordinate[])[];

/** Returns the stored hashes from which PATH(leafIndex, D[treeSize]) is folded. */
export function inclusionPlan(leafIndex: number, treeSize: number): ProofPlan {
  checkSize(treeSize);
  checkIndex(leafIndex, treeSize);
  const steps: Coordinate[][] = [];
  let from = 0;
  let to = treeSize;
  while (to - from > 1) {
    const level = floorLog2(to - from - 1);
    const half = 2 ** level;
    const middle = from + half;
    if (leafIndex < middle) {
      steps.push(to - middle === half ? [{ level, index: middle / half }] : subtrees(middle, to));
      to = middle;
    } else {
      steps.push([{ level, index: from / half }]);
      from = middle;
    }
  }
  return steps.reverse();
}

/** Returns the stored hashes from which PROOF(firstSize, D[secondSize]) is folded; 0 < firstSize ≤ secondSize. */
export function consistencyPlan(firstSize: number, secondSize: number): ProofPlan {
  checkSizes(firstSize, secondSize);
  const steps: Coordinate[][] = [];
  let from = 0;
  let to = secondSize;
  while (to > firstSize) {
    const level = floorLog2(to - from - 1);
    const half = 2 ** level;
    const middle = from + half;
    if (firstSize <= middle) {
      steps.push(to - middle === half ? [{ level, index: middle / half }] : subtrees(middle, to));
      to = middle;
    } else {
      steps.push([{ level, index: from / half }]);
      from = middle;
    }
  }
  // The remaining leaves are a subtree that ends at the first size. If the subtree starts at leaf 0, it is the first
  // tree, whose root the verifier has.
  if (from > 0) steps.push(subtrees(from, to));
  return steps.reverse();
}

/** Returns whether consistency proofs from this size omit its root, because the size is a power of two. */
export function omitsFirstRoot(firstSize: number): boolean {
  return firstSize > 0 && rootPlan(firstSize).length === 1;
}

/** Returns the proof from the hashes of the plan, fetched by `hashAt`. */
export function foldProof(sha256: Hasher, plan: ProofPlan, hashAt: (at: Coordinate) => Hash): Hash[] {
  return plan.map((step) => foldEdge(sha256, step.map(hashAt)));
}

export interface InclusionClaim {
  readonly leafIndex: number;
  readonly treeSize: number;
  readonly leafHash: Hash;
  readonly path: readonly Hash[];
  readonly root: Hash;
}

/**
 * Checks that the path leads from the leaf to the root, at that index and size; throws a `TlogError` otherwise. The
 * algorithm is RFC 9162 section 2.1.3.2; RFC 6962 does not specify one.
 */
export function verifyInclusion(sha256: Hasher, claim: InclusionClaim): void {
  checkSize(claim.treeSize);
  checkIndex(claim.leafIndex, claim.treeSize);
  checkHash(claim.leafHash, 'leaf hash');
  checkHash(claim.root, 'root hash');
  checkPath(claim.path);
  let node = claim.leafIndex;
  let last = claim.treeSize - 1;
  let hash = claim.leafHash;
  for (const sibling of claim.path) {
    if (last === 0) throw pathLength(claim.path.length, 'too many');
    if (node % 2 === 1 || node === last) {
      hash = nodeHash(sha256, sibling, hash);
      // The last node of a level has no sibling if its index is even.
      while (node % 2 === 0 && node !== 0) {
        node = node / 2;
        last = Math.floor(last / 2);
      }
    } else {
      hash = nodeHash(sha256, hash, sibling);
    }
    node = Math.floor(node / 2);
    last = Math.floor(last / 2);
  }
  if (last !== 0) throw pathLength(claim.path.length, 'too few');
  if (!equalHashes(hash, claim.root))
    throw new TlogError('root_mismatch', 'the inclusion proof leads to a different root');
}

export interface ConsistencyClaim {
  readonly firstSize: number;
  readonly secondSize: number;
  readonly firstRoot: Hash;
  readonly secondRoot: Hash;
  readonly path: readonly Hash[];
}

/**
 * Checks that the second tree extends the first without changing it; throws a `TlogError` otherwise. Sizes must be 0 <
 * first ≤ second; equal sizes require an empty path and equal roots. The algorithm is RFC 9162 section 2.1.4.2.
 */
export function verifyConsistency(sha256: Hasher, claim: ConsistencyClaim): void {
  checkSizes(claim.firstSize, claim.secondSize);
  checkHash(claim.firstRoot, 'first root hash');
  checkHash(claim.secondRoot, 'second root hash');
  checkPath(claim.path);
  if (claim.firstSize === claim.secondSize) {
    if (claim.path.length > 0) throw pathLength(claim.path.length, 'too many');
    if (!equalHashes(claim.firstRoot, claim.secondRoot)) {
      throw new TlogError('root_mismatch', 'the sizes are equal, but the roots differ');
    }
    return;
  }

  let node = claim.firstSize - 1;
  let last = claim.secondSize - 1;
  while (node % 2 === 1) {
    node = Math.floor(node / 2);
    last = Math.floor(last / 2);
  }
  // If the first size is a power of two, its root is the starting hash and is omitted from the path.
  const path = node === 0 ? [claim.firstRoot, ...claim.path] : claim.path;
  const start = path[0];
  if (start === undefined) throw pathLength(0, 'too few');
  let first = start;
  let second = start;
  for (const hash of path.slice(1)) {
    if (last === 0) throw pathLength(claim.path.length, 'too many');
    if (node % 2 === 1 || node === last) {
      first = nodeHash(sha256, hash, first);
      second = nodeHash(sha256, hash, second);
      while (node % 2 === 0 && node !== 0) {
        node = node / 2;
        last = Math.floor(last / 2);
      }
    } else {
      second = nodeHash(sha256, second, hash);
    }
    node = Math.floor(node / 2);
    last = Math.floor(last / 2);
  }
  if (last !== 0) throw pathLength(claim.path.length, 'too few');
  if (!equalHashes(first, claim.firstRoot)) {
    throw new TlogError('first_root_mismatch', 'the consistency proof leads to a different first root');
  }
  if (!equalHashes(second, claim.secondRoot)) {
    throw new TlogError('root_mismatch', 'the consistency proof leads to a different second root');
  }
}

function checkSizes(first: number, second: number): void {
  checkSize(first);
  checkSize(second);
  // A proof from size 0 is rejected: it proves nothing, and implementations handle it differently.
  if (first === 0 || first > second) {
    throw new TlogError('bad_size', `sizes ${first} and ${second} must be 0 < first ≤ second`);
  }
}

function checkPath(path: readonly Hash[]): void {
  for (let i = 0; i < path.length; i++) checkHash(path[i]!, `proof hash ${i}`);
}

function pathLength(length: number, problem: 'too many' | 'too few'): TlogError {
  return new TlogError('bad_path_length', `the proof has ${length} hashes, which is ${problem} for these sizes`);
}
