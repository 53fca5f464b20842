import { type Hash, type Hasher, nodeHash, splitPoint } from '../../../tlog/tree.ts';
import type { Leaves } from './audit-path.ts';

/**
 * Divides the tree of `second` leaves along the boundary behind its first `first` leaves: into subtrees that are
 * entirely old or entirely new, and the nodes above that span both.
 *
 *     second = 7, first = 5                 spans 0–7 (the later root)
 *                                          /         \
 *                                     old 0–4     spans 4–7
 *                                                 /       \
 *                                            spans 4–6   new 6–7
 *                                             /    \
 *                                        old 4–5  new 5–6
 *
 * The old subtrees are the right edge of the earlier tree. The root of the earlier tree is computed from these subtrees
 * alone.
 */
export type Piece =
  | (Leaves & { readonly age: 'old' | 'new' })
  | (Leaves & { readonly age: 'both'; readonly left: Piece; readonly right: Piece });

/** Returns the divided tree. Requires safe integers with 0 < first ≤ second. */
export function oldInNew(first: number, second: number): Piece {
  return pieceOf({ from: 0, to: second }, first);
}

function pieceOf({ from, to }: Leaves, first: number): Piece {
  if (to <= first) return { from, to, age: 'old' };
  if (from >= first) return { from, to, age: 'new' };
  const middle = from + splitPoint(to - from);
  const left = pieceOf({ from, to: middle }, first);
  return { from, to, age: 'both', left, right: pieceOf({ from: middle, to }, first) };
}

/** Returns the undivided subtrees from left to right. */
export function wholePieces(piece: Piece): (Leaves & { readonly age: 'old' | 'new' })[] {
  return piece.age === 'both' ? [...wholePieces(piece.left), ...wholePieces(piece.right)] : [piece];
}

/** One hash of a consistency proof: an old subtree is part of both roots, a new subtree only of the later root. */
export interface ConsistencyStep extends Leaves {
  readonly age: 'old' | 'new';
  /** The leaves below the parent node in the later tree. */
  readonly node: Leaves;
}

export interface ConsistencyWalk {
  /** The old subtree at the boundary, where both computations start. */
  readonly start: Leaves;
  /** Whether the start is the whole earlier tree. The verifier knows its root, so the proof omits it. */
  readonly startsWithRoot: boolean;
  /** Steps from the boundary up to the later root. */
  readonly steps: readonly ConsistencyStep[];
}

/** Returns the subtrees of the proof's hashes in their order (RFC 6962, section 2.1.2). */
export function consistencyWalk(first: number, second: number): ConsistencyWalk {
  const steps: ConsistencyStep[] = [];
  let piece = oldInNew(first, second);
  while (piece.age === 'both') {
    const { left, right, from, to } = piece;
    // The boundary lies within one child or between the children. If the boundary lies between the children, the walk
    // continues with the left child.
    const goesLeft = right.age === 'new';
    const beside = goesLeft ? right : left;
    steps.push({
      from: beside.from,
      to: beside.to,
      age: goesLeft ? 'new' : 'old',
      node: { from, to },
    });
    piece = goesLeft ? left : right;
  }
  const start = { from: piece.from, to: piece.to };
  return { start, startsWithRoot: piece.from === 0, steps: steps.reverse() };
}

/** Returns the number of hashes in the proof. */
export const proofLength = ({ startsWithRoot, steps }: ConsistencyWalk): number =>
  steps.length + (startsWithRoot ? 0 : 1);

/** Results of both computations after each computed step. After the last step of the walk, they are the two roots. */
export interface BothRoots {
  readonly first: readonly Hash[];
  readonly second: readonly Hash[];
}

/** Computes both roots from the proof. `firstRoot` is used only if the walk starts with the earlier root. */
export function climbBoth(
  sha256: Hasher,
  walk: ConsistencyWalk,
  firstRoot: Hash,
  path: readonly Hash[],
  count = walk.steps.length,
): BothRoots {
  const [start, ...hashes] = walk.startsWithRoot ? [firstRoot, ...path] : path;
  const first: Hash[] = [];
  const second: Hash[] = [];
  if (start === undefined) return { first, second };
  let old = start;
  let now = start;
  for (const [i, { age }] of walk.steps.slice(0, count).entries()) {
    const hash = hashes[i];
    if (hash === undefined) break;
    if (age === 'old') {
      old = nodeHash(sha256, hash, old);
      now = nodeHash(sha256, hash, now);
    } else now = nodeHash(sha256, now, hash);
    first.push(old);
    second.push(now);
  }
  return { first, second };
}
