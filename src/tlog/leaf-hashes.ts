import { foldProof, inclusionPlan } from './proof.ts';
import { type Coordinate, foldRoot, type Hash, type Hasher, hashBytes, nodeHash, rootPlan } from './tree.ts';

/** Returns the root of a small tree from all its leaf hashes, 32 bytes each. */
export function rootOf(sha256: Hasher, hashes: Uint8Array): Hash {
  const size = hashes.length / hashBytes;
  return foldRoot(
    sha256,
    size,
    rootPlan(size).map((at) => subtreeHash(sha256, hashes, at)),
  );
}

/** Returns the inclusion path of a leaf of a small tree, from the leaf up. */
export function pathOf(sha256: Hasher, hashes: Uint8Array, leafIndex: number): Hash[] {
  const plan = inclusionPlan(leafIndex, hashes.length / hashBytes);
  return foldProof(sha256, plan, (at) => subtreeHash(sha256, hashes, at));
}

function subtreeHash(sha256: Hasher, hashes: Uint8Array, { level, index }: Coordinate): Hash {
  if (level === 0) return hashes.subarray(index * hashBytes, (index + 1) * hashBytes);
  const left = subtreeHash(sha256, hashes, { level: level - 1, index: 2 * index });
  const right = subtreeHash(sha256, hashes, { level: level - 1, index: 2 * index + 1 });
  return nodeHash(sha256, left, right);
}
