import { TlogError } from './fault.ts';
import { consistencyPlan, verifyConsistency } from './proof.ts';
import { equalHashes, foldEdge, type Hash, type Hasher } from './tree.ts';

/** A size and its root, as stated by a head or a checkpoint. */
export interface SizedRoot {
  readonly size: number;
  readonly root: Hash;
}

/**
 * Shows that the tree with root `firstRoot` is a prefix of a tree with a second root: `path` leads from `firstRoot` to
 * the second root (RFC 6962 section 2.1.2). If the log signed the second root and a different first root, the log has
 * contradicted itself, because finding two trees with the same root is infeasible.
 */
export interface Binding {
  readonly firstSize: number;
  readonly secondSize: number;
  readonly firstRoot: Hash;
  readonly path: readonly Hash[];
}

/** Returns whether the binding leads to the tree of `second` from a prefix that differs from the tree of `first`. */
export function bindsElsewhere(sha256: Hasher, binding: Binding, first: SizedRoot, second: SizedRoot): boolean {
  const { firstSize, secondSize, firstRoot, path } = binding;
  if (firstSize !== first.size || secondSize !== second.size) return false;
  if (first.size >= second.size || equalHashes(firstRoot, first.root)) return false;
  try {
    verifyConsistency(sha256, { firstSize, secondSize, firstRoot, secondRoot: second.root, path });
    return true;
  } catch (error) {
    if (error instanceof TlogError) return false;
    throw error;
  }
}

/**
 * Returns the first root to which a consistency proof leads, folded from the proof's hashes of leaves before the first
 * size. Undefined if the first size is a power of two, because the proof then omits its root, or if the length is
 * wrong.
 */
export function firstRootOf(
  sha256: Hasher,
  path: readonly Hash[],
  firstSize: number,
  secondSize: number,
): Hash | undefined {
  const plan = consistencyPlan(firstSize, secondSize);
  if (plan.length !== path.length) return undefined;
  const left = path.filter((_, i) => {
    const { level, index } = plan[i]![0]!;
    return index * 2 ** level < firstSize;
  });
  return left.length === 0 ? undefined : foldEdge(sha256, left.reverse());
}
