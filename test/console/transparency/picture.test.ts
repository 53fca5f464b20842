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

function checkPicture(shape: Shape, picture: Picture): void {
  let right = 0;
  for (const block of picture.blocks) {
    expect(block.left).toBeGreaterThanOrEqual(right - 1e-9);
    expect(block.right).toBeGreaterThan(block.left);
    right = block.right;
    expect(block.y).toBeLessThanOrEqual(picture.baseline);
  }
  expect(right).toBeLessThanOrEqual(width + 1e-9);
  for (const node of picture.nodes) {
    const [a, b] = node.children;
    expect(a.x).toBeLessThan(b.x);
    expect(node.x).toBe((a.x + b.x) / 2);
    expect(node.y).toBeLessThan(a.y);
    expect(node.y).toBeLessThan(b.y);
    expect([a.from, a.to, b.to]).toEqual([node.from, b.from, node.to]);
    expect(node.y).toBeGreaterThan(0);
  }
  const top = picture.nodes.at(-1) ?? picture.blocks[0]!;
  expect([top.from, top.to, top.x, top.y]).toEqual([shape.from, shape.to, picture.root.x, picture.root.y]);
}

describe('the picture of a path', () => {
  it('has the leaf, each sibling in its place and a node for each step, for every leaf of every size up to 64', () => {
    for (let size = 1; size <= 64; size++)
      for (let leaf = 0; leaf < size; leaf++) {
        const shape = pathShape(leaf, size);
        const picture = layOut(shape, width);
        checkPicture(shape, picture);
        const steps = pathSteps(leaf, size);
        const siblings = steps.map(({ sibling }) => sibling).sort((a, b) => a.from - b.from);
        const others = picture.blocks.filter(({ from }) => from !== leaf);
        expect(others.map(({ from, to }) => ({ from, to }))).toEqual(siblings);
        expect(picture.blocks).toHaveLength(siblings.length + 1);
        expect(picture.nodes.map(({ from, to }) => ({ from, to }))).toEqual(steps.map(({ node }) => node));
      }
  });

  it('has room for the largest trees', () => {
    const shape = pathShape(2 ** 52 + 12345, Number.MAX_SAFE_INTEGER);
    const picture = layOut(shape, width);
    checkPicture(shape, picture);
    expect(picture.blocks).toHaveLength(54);
  });
});

describe('the picture of two trees', () => {
  it('has the whole pieces side by side, for all sizes up to 64', () => {
    for (let second = 1; second <= 64; second++)
      for (let first = 1; first <= second; first++) {
        const shape = boundaryShape(first, second);
        const picture = layOut(shape, width);
        checkPicture(shape, picture);
        expect(picture.blocks.map(({ from, to }) => [from, to])).toEqual(
          wholePieces(oldInNew(first, second)).map(({ from, to }) => [from, to]),
        );
      }
  });
});

describe('levels', () => {
  it('are those of RFC 6962 trees: none for a leaf, one more for each doubling', () => {
    const levels = [1, 2, 3, 4, 5, 8, 9, 2 ** 40, 2 ** 40 + 1].map((to) => levelsOf({ from: 0, to }));
    expect(levels).toEqual([0, 1, 2, 2, 3, 3, 4, 40, 41]);
  });
});
