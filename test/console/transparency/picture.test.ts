import { describe, expect, it } from 'vitest';
import { pathSteps } from '../../../src/console/pages/transparency/audit-path.ts';
import { oldInNew, wholePieces } from '../../../src/console/pages/transparency/old-in-new.ts';
import {
  boundaryShape,
  layOut,
  levelsOf,
  type Picture,
  pathShape,
  type Shape,
} from '../../../src/console/pages/transparency/tree-layout.ts';

const width = 640;

/** Returns the layout errors, one per line. */
function problemsOf(shape: Shape, { blocks, nodes, baseline, root }: Picture): string[] {
  const problems: string[] = [];
  const say = (isRight: boolean, what: string) => {
    if (!isRight) problems.push(`${shape.from}-${shape.to}: ${what}`);
  };
  let right = 0;
  for (const block of blocks) {
    say(block.left >= right - 1e-9 && block.right > block.left, `block ${block.from} over its neighbour`);
    say(block.y <= baseline, `block ${block.from} below the baseline`);
    right = block.right;
  }
  say(right <= width + 1e-9, 'wider than it may be');
  for (const { x, y, from, to, children } of nodes) {
    const [a, b] = children;
    say(a.x < b.x && x === (a.x + b.x) / 2, `node ${from}-${to} not between its children`);
    say(y < a.y && y < b.y && y > 0, `node ${from}-${to} not above its children`);
    say(a.from === from && a.to === b.from && b.to === to, `node ${from}-${to} over other leaves than its children`);
  }
  const top = nodes.at(-1) ?? blocks[0]!;
  say(top.from === shape.from && top.to === shape.to && top.x === root.x && top.y === root.y, 'the root is elsewhere');
  return problems;
}

describe('the picture of a path', () => {
  it('has the leaf, its siblings and a node per step, for every leaf of every size up to 64', () => {
    for (let size = 1; size <= 64; size++)
      for (let leaf = 0; leaf < size; leaf++) {
        const shape = pathShape(leaf, size);
        const picture = layOut(shape, width);
        expect(problemsOf(shape, picture)).toEqual([]);
        const steps = pathSteps(leaf, size);
        const siblings = steps.map(({ sibling }) => sibling).sort((a, b) => a.from - b.from);
        const others = picture.blocks.filter(({ from }) => from !== leaf);
        expect(others.map(({ from, to }) => ({ from, to }))).toEqual(siblings);
        expect(picture.blocks).toHaveLength(siblings.length + 1);
        expect(picture.nodes.map(({ from, to }) => ({ from, to }))).toEqual(steps.map(({ node }) => node));
      }
  });

  it('fits the largest trees', () => {
    const shape = pathShape(2 ** 52 + 12345, Number.MAX_SAFE_INTEGER);
    const picture = layOut(shape, width);
    expect(problemsOf(shape, picture)).toEqual([]);
    expect(picture.blocks).toHaveLength(54);
  });
});

describe('the picture of two trees', () => {
  it('has the undivided subtrees side by side, for all sizes up to 64', () => {
    for (let second = 1; second <= 64; second++)
      for (let first = 1; first <= second; first++) {
        const shape = boundaryShape(first, second);
        const picture = layOut(shape, width);
        expect(problemsOf(shape, picture)).toEqual([]);
        expect(picture.blocks.map(({ from, to }) => [from, to])).toEqual(
          wholePieces(oldInNew(first, second)).map(({ from, to }) => [from, to]),
        );
      }
  });
});

describe('the number of levels', () => {
  it('matches RFC 6962 trees: zero for a leaf, one more for each doubling', () => {
    const levels = [1, 2, 3, 4, 5, 8, 9, 2 ** 40, 2 ** 40 + 1].map((to) => levelsOf({ from: 0, to }));
    expect(levels).toEqual([0, 1, 2, 2, 3, 3, 4, 40, 41]);
  });
});
