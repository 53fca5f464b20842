import { type Hash, type Hasher, nodeHash, splitPoint } from '../../../tlog/tree.ts';

/** The leaves with `from` ≤ index < `to`. */
export interface Leaves {
  readonly from: number;
  readonly to: number;
}

/** One step up the path of an inclusion proof: combines the current node with the next hash of the path. */
export interface PathStep {
  /** The side of the path's hash. */
  readonly side: 'left' | 'right';
  /** The leaves below the path's hash. */
  readonly sibling: Leaves;
  /** The leaves below the resulting node. */
  readonly node: Leaves;
}

/**
 * Returns the steps from a leaf to the root (RFC 6962, section 2.1.1), one for each hash of the path, in the order of
 * the path. Sizes and indices are safe integers with 0 ≤ leafIndex < treeSize.
 */
export function pathSteps(leafIndex: number, treeSize: number): PathStep[] {
  const steps: PathStep[] = [];
  let node: Leaves = { from: 0, to: treeSize };
  while (node.to - node.from > 1) {
    const middle = node.from + splitPoint(node.to - node.from);
    const left = { from: node.from, to: middle };
    const right = { from: middle, to: node.to };
    const isLeft = leafIndex < middle;
    steps.push({ side: isLeft ? 'right' : 'left', sibling: isLeft ? right : left, node });
    node = isLeft ? left : right;
  }
  return steps.reverse();
}

/**
 * Computes the node of each step from the leaf's hash and the path; the last node is the root. Makes at most `count`
 * steps.
 */
export function climb(
  sha256: Hasher,
  leaf: Hash,
  steps: readonly PathStep[],
  path: readonly Hash[],
  count = steps.length,
): Hash[] {
  const nodes: Hash[] = [];
  let hash = leaf;
  for (let i = 0; i < Math.min(count, steps.length, path.length); i++) {
    hash = steps[i]!.side === 'left' ? nodeHash(sha256, path[i]!, hash) : nodeHash(sha256, hash, path[i]!);
    nodes.push(hash);
  }
  return nodes;
}
