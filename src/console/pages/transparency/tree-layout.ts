import { floorLog2, splitPoint } from '../../../tlog/tree.ts';
import type { Leaves } from './audit-path.ts';
import { oldInNew, type Piece } from './old-in-new.ts';

/**
 * Where the parts of a Merkle tree stand in a picture of it: subtrees that are not opened stand side by side on one
 * baseline, each a triangle as high as it has levels, and the nodes above them hang between their children.
 *
 *          o            node: as many rows up as its subtree has levels
 *        /   \
 *       o     \
 *      / \     \
 *     ▲   ■     ▲       blocks: a triangle over many leaves, a square for one
 */
export interface Shape extends Leaves {
  readonly children?: readonly [Shape, Shape];
}

export interface Point {
  readonly x: number;
  readonly y: number;
}
/** A subtree that is not opened; its tip is at x, y, its base on the baseline. */
export interface Block extends Leaves, Point {
  readonly left: number;
  readonly right: number;
}
export interface PlacedNode extends Leaves, Point {
  /** The tips of what it is hashed from. */
  readonly children: readonly [Leaves & Point, Leaves & Point];
}
export interface Picture {
  readonly width: number;
  readonly height: number;
  readonly baseline: number;
  readonly blocks: readonly Block[];
  /** From the lowest to the root. */
  readonly nodes: readonly PlacedNode[];
  readonly root: Point;
}

/** Room above the root and below the baseline, in pixels. */
const above = 30;
const below = 40;
const rowHeights = { least: 14, most: 44 };
/** The whole picture is about this high, where rows can be chosen so. */
const wantedHeight = 400;
const widestBlock = 116;

/** Levels below the root of so many leaves: 0 for one. */
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

/** Larger subtrees get more room, but not in proportion: the largest has as many leaves as all others together. */
const weightOf = (part: Leaves): number => 1 + 0.35 * levelsOf(part);

function wholeShapes(shape: Shape): Shape[] {
  return shape.children === undefined
    ? [shape]
    : [...wholeShapes(shape.children[0]), ...wholeShapes(shape.children[1])];
}

/** The tree of `treeSize` leaves, opened only along the path to one leaf: that and the subtrees beside stay whole. */
export function pathShape(leafIndex: number, treeSize: number): Shape {
  const open = ({ from, to }: Leaves): Shape => {
    if (leafIndex < from || leafIndex >= to || to - from === 1) return { from, to };
    const middle = from + splitPoint(to - from);
    return { from, to, children: [open({ from, to: middle }), open({ from: middle, to })] };
  };
  return open({ from: 0, to: treeSize });
}

/** The later tree, opened only along the boundary behind the earlier one. */
export function boundaryShape(first: number, second: number): Shape {
  const shapeOf = (piece: Piece): Shape =>
    piece.age === 'both'
      ? { from: piece.from, to: piece.to, children: [shapeOf(piece.left), shapeOf(piece.right)] }
      : { from: piece.from, to: piece.to };
  return shapeOf(oldInNew(first, second));
}
