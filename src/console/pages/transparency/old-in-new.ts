import { type Hash, type Hasher, nodeHash, splitPoint } from '../../../tlog/tree.ts';
import type { Leaves } from './audit-path.ts';

/**
 * How the tree of the first `first` leaves lies in the tree of `second`: cut along the boundary between them, the later
 * tree falls into subtrees that are wholly old or wholly new, and the nodes above, which span both.
 *
 *     second = 7, first = 5                 spans 0–7 (the later root)
 *                                          /         \
 *                                     old 0–4     spans 4–7
 *                                                 /       \
 *                                            spans 4–6   new 6–7
 *                                             /    \
 *                                        old 4–5  new 5–6
 *
 * The old subtrees are the right edge of the earlier tree: its root is hashed from them alone.
 */
export type Piece =
  | (Leaves & { readonly age: 'old' | 'new' })
  | (Leaves & { readonly age: 'both'; readonly left: Piece; readonly right: Piece });

/** Sizes are safe integers with 0 < first ≤ second. */
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

/** The subtrees that are not cut any further, from left to right. */
export function wholePieces(piece: Piece): (Leaves & { readonly age: 'old' | 'new' })[] {
  return piece.age === 'both' ? [...wholePieces(piece.left), ...wholePieces(piece.right)] : [piece];
}

/** One hash of a consistency proof: an old subtree goes into both roots, a new one only into the later root. */
export interface ConsistencyStep extends Leaves {
  readonly age: 'old' | 'new';
  /** What the node above covers, in the later tree. */
  readonly node: Leaves;
}

export interface ConsistencyWalk {
  /** Where both computations begin: the old subtree at the boundary. */
  readonly start: Leaves;
  /** Whether that is the whole earlier tree, whose root the verifier has, so that the proof doesn't bring it. */
  readonly startsWithRoot: boolean;
  /** From the boundary up to the later root. */
  readonly steps: readonly ConsistencyStep[];
}

/** What the hashes of the proof stand for (RFC 6962 section 2.1.2), in their order. */
export function consistencyWalk(first: number, second: number): ConsistencyWalk {
  const steps: ConsistencyStep[] = [];
  let piece = oldInNew(first, second);
  while (piece.age === 'both') {
    const { left, right, from, to } = piece;
    // The boundary lies in one of the two, or between them; then the left one ends at it.
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

/** How many hashes the proof has. */
export const proofLength = ({ startsWithRoot, steps }: ConsistencyWalk): number =>
  steps.length + (startsWithRoot ? 0 : 1);

/** What came of both computations after each of the first `count` steps; the last are the two roots. */
export interface BothRoots {
  readonly first: readonly Hash[];
  readonly second: readonly Hash[];
}

/** Both roots, from the proof and, where the walk starts with it, the earlier root. */
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
