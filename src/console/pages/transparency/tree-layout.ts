import { floorLog2, splitPoint } from '../../../tlog/tree.ts';
import type { Leaves } from './audit-path.ts';
import { oldInNew, type Piece } from './old-in-new.ts';

/**
 * Layout of a Merkle tree diagram. Collapsed subtrees stand side by side on a baseline, each a triangle as high
 * as its number of levels. The nodes above are placed between their children.
 *
 *          o            node: as many rows up as its subtree has levels
 *        /   \
 *       o     \
 *      / \     \
 *     ▲   ■     ▲       blocks: a triangle for many leaves, a square for one
 */
export interface Shape extends Leaves {
  readonly children?: readonly [Shape, Shape];
}

export interface Point {
  readonly x: number;
  readonly y: number;
}
/** A collapsed subtree. Its tip is at x, y, and its base on the baseline. */
export interface Block extends Leaves, Point {
  readonly left: number;
  readonly right: number;
}
export interface PlacedNode extends Leaves, Point {
  /** Positions of the two children. */
  readonly children: readonly [Leaves & Point, Leaves & Point];
}
export interface Picture {
  readonly width: number;
  readonly height: number;
  readonly baseline: number;
  readonly blocks: readonly Block[];
  /** Nodes from the lowest to the root. */
  readonly nodes: readonly PlacedNode[];
  readonly root: Point;
}

/** Space above the root, in pixels. */
const above = 30;
/** Space below the baseline, in pixels. */
const below = 40;
const rowHeights = { least: 14, most: 44 };
/** Target height of the diagram in pixels, within the limits of the row height. */
const wantedHeight = 400;
const widestBlock = 116;

/** Returns the number of levels below the root: 0 for one leaf. */
export const levelsOf = ({ from, to }: Leaves): number => (to - from < 2 ? 0 : floorLog2(to - from - 1) + 1);

export function layOut(shape: Shape, width: number): Picture {
  const levels = Math.max(1, levelsOf(shape));
  const row = Math.max(rowHeights.least, Math.min(rowHeights.most, wantedHeight / levels));
  const baseline = above + levels * row;
  const heightOf = (part: Leaves) => baseline - levelsOf(part) * row;
  const tips = wholeShapes(shape);
  const blocks = new Map<Shape, Block>();
  const weights = tips.map(weightOf);
  const unit = width / weights.reduce((sum, weight) => sum + weight, 0);
  const widths = weights.map((weight) => Math.min(widestBlock, weight * unit));
  let left = (width - widths.reduce((sum, one) => sum + one, 0)) / 2;
  for (const [i, tip] of tips.entries()) {
    const right = left + widths[i]!;
    blocks.set(tip, {
      from: tip.from,
      to: tip.to,
      x: (left + right) / 2,
      y: heightOf(tip),
      left,
      right,
    });
    left = right;
  }
  const nodes: PlacedNode[] = [];
  const place = (part: Shape): Leaves & Point => {
    if (part.children === undefined) return blocks.get(part)!;
    const children = [place(part.children[0]), place(part.children[1])] as const;
    const at = {
      from: part.from,
      to: part.to,
      x: (children[0].x + children[1].x) / 2,
      y: heightOf(part),
    };
    nodes.push({ ...at, children });
    return at;
  };
  const { x, y } = place(shape);
  nodes.sort((a, b) => levelsOf(a) - levelsOf(b));
  return { width, height: baseline + below, baseline, blocks: [...blocks.values()], nodes, root: { x, y } };
}

/**
 * Returns the weight of a subtree's width. Larger subtrees get more width, but not in proportion: the largest subtree
 * has as many leaves as all other subtrees together.
 */
const weightOf = (part: Leaves): number => 1 + 0.35 * levelsOf(part);

function wholeShapes(shape: Shape): Shape[] {
  return shape.children === undefined
    ? [shape]
    : [...wholeShapes(shape.children[0]), ...wholeShapes(shape.children[1])];
}

/** Returns the tree of `treeSize` leaves, expanded along the path to one leaf. */
export function pathShape(leafIndex: number, treeSize: number): Shape {
  const open = ({ from, to }: Leaves): Shape => {
    if (leafIndex < from || leafIndex >= to || to - from === 1) return { from, to };
    const middle = from + splitPoint(to - from);
    return { from, to, children: [open({ from, to: middle }), open({ from: middle, to })] };
  };
  return open({ from: 0, to: treeSize });
}

/** Returns the later tree, expanded along the boundary behind the leaves of the earlier tree. */
export function boundaryShape(first: number, second: number): Shape {
  const shapeOf = (piece: Piece): Shape =>
    piece.age === 'both'
      ? { from: piece.from, to: piece.to, children: [shapeOf(piece.left), shapeOf(piece.right)] }
      : { from: piece.from, to: piece.to };
  return shapeOf(oldInNew(first, second));
}
