import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { climb, pathSteps } from '../../../src/console/pages/transparency/audit-path.ts';
import {
  climbBoth,
  consistencyWalk,
  oldInNew,
  proofLength,
  wholePieces,
} from '../../../src/console/pages/transparency/old-in-new.ts';
import {
  consistencyPlan,
  foldProof,
  inclusionPlan,
  verifyConsistency,
  verifyInclusion,
} from '../../../src/tlog/proof.ts';
import { type Coordinate, foldRoot, type Hash, leafHash, nodeHash, rootPlan } from '../../../src/tlog/tree.ts';

const maxSize = 64;
const sha256 = (bytes: Uint8Array): Hash => new Uint8Array(createHash('sha256').update(bytes).digest());
const leaves = Array.from({ length: maxSize }, (_, i) => leafHash(sha256, new Uint8Array([i])));
const hashAt = ({ level, index }: Coordinate): Hash =>
  level === 0
    ? leaves[index]!
    : nodeHash(
        sha256,
        hashAt({ level: level - 1, index: 2 * index }),
        hashAt({ level: level - 1, index: 2 * index + 1 }),
      );
const rootOf = (size: number): Hash => foldRoot(sha256, size, rootPlan(size).map(hashAt));
const roots = Array.from({ length: maxSize + 1 }, (_, size) => rootOf(size));
const covered = (step: readonly Coordinate[]) => ({
  from: step[0]!.index * 2 ** step[0]!.level,
  to: step.at(-1)!.index * 2 ** step.at(-1)!.level + 2 ** step.at(-1)!.level,
});

describe('the path of an inclusion proof', () => {
  it("has the steps of tlog's plan in the same order, for every leaf of every size up to 64", () => {
    for (let size = 1; size <= maxSize; size++)
      for (let leaf = 0; leaf < size; leaf++)
        expect(pathSteps(leaf, size).map(({ sibling }) => sibling)).toEqual(inclusionPlan(leaf, size).map(covered));
  });

  it('leads to the root that tlog verifies, and each step covers its two inputs', () => {
    for (let size = 1; size <= maxSize; size++)
      for (let leafIndex = 0; leafIndex < size; leafIndex++) {
        const steps = pathSteps(leafIndex, size);
        const path = foldProof(sha256, inclusionPlan(leafIndex, size), hashAt);
        const nodes = climb(sha256, leaves[leafIndex]!, steps, path);
        const root = nodes.at(-1) ?? leaves[leafIndex]!;
        expect(root).toEqual(roots[size]);
        verifyInclusion(sha256, { leafIndex, treeSize: size, leafHash: leaves[leafIndex]!, path, root });
        let below = { from: leafIndex, to: leafIndex + 1 };
        for (const { side, sibling, node } of steps) {
          const [left, right] = side === 'left' ? [sibling, below] : [below, sibling];
          expect([left.from, left.to, right.to]).toEqual([node.from, right.from, node.to]);
          below = node;
        }
        expect(below).toEqual({ from: 0, to: size });
      }
  });

  it('is computed for at most the requested number of steps, and at most one step per hash', () => {
    const path = foldProof(sha256, inclusionPlan(5, 13), hashAt);
    const all = climb(sha256, leaves[5]!, pathSteps(5, 13), path);
    expect(climb(sha256, leaves[5]!, pathSteps(5, 13), path, 2)).toEqual(all.slice(0, 2));
    expect(climb(sha256, leaves[5]!, pathSteps(5, 13), path.slice(0, 1))).toEqual(all.slice(0, 1));
  });

  it('accepts the largest sizes', () => {
    const size = Number.MAX_SAFE_INTEGER;
    for (const leaf of [0, 2 ** 52 - 1, 2 ** 52, size - 1])
      expect(pathSteps(leaf, size).map(({ sibling }) => sibling)).toEqual(inclusionPlan(leaf, size).map(covered));
  });
});

describe('the earlier tree in the later one', () => {
  it('consists of the right edge of the earlier tree, for all sizes up to 64', () => {
    for (let second = 1; second <= maxSize; second++)
      for (let first = 1; first <= second; first++) {
        const whole = wholePieces(oldInNew(first, second));
        expect(whole.filter(({ age }) => age === 'old').map(({ from, to }) => ({ from, to }))).toEqual(
          first === second ? [{ from: 0, to: first }] : rootPlan(first).map((at) => covered([at])),
        );
        expect(whole.map(({ from }) => from)).toEqual([0, ...whole.slice(0, -1).map(({ to }) => to)]);
        expect(whole.at(-1)!.to).toBe(second);
      }
  });

  it("is divided into the subtrees of tlog's proof, in the order of the proof", () => {
    for (let second = 1; second <= maxSize; second++)
      for (let first = 1; first <= second; first++) {
        const walk = consistencyWalk(first, second);
        const parts = walk.startsWithRoot ? walk.steps : [walk.start, ...walk.steps];
        expect(parts.map(({ from, to }) => ({ from, to }))).toEqual(consistencyPlan(first, second).map(covered));
        expect(proofLength(walk)).toBe(consistencyPlan(first, second).length);
      }
  });

  it('is proven by a path to both roots, which tlog accepts', () => {
    for (let second = 2; second <= maxSize; second++)
      for (let first = 1; first < second; first++) {
        const path = foldProof(sha256, consistencyPlan(first, second), hashAt);
        const walk = consistencyWalk(first, second);
        const both = climbBoth(sha256, walk, roots[first]!, path);
        expect(both.first.at(-1)).toEqual(roots[first]);
        expect(both.second.at(-1)).toEqual(roots[second]);
        expect(both.second).toHaveLength(walk.steps.length);
        verifyConsistency(sha256, {
          firstSize: first,
          secondSize: second,
          firstRoot: both.first.at(-1)!,
          secondRoot: both.second.at(-1)!,
          path,
        });
      }
  });

  it('does not lead to the later root if a bit of the proof is flipped', () => {
    for (let second = 2; second <= 24; second++)
      for (let first = 1; first < second; first++) {
        const path = foldProof(sha256, consistencyPlan(first, second), hashAt);
        for (let i = 0; i < path.length; i++) {
          const wrong = path.map((hash, at) => (at === i ? hash.map((byte, n) => (n === 9 ? byte ^ 1 : byte)) : hash));
          const both = climbBoth(sha256, consistencyWalk(first, second), roots[first]!, wrong);
          expect(both.second.at(-1)).not.toEqual(roots[second]);
        }
      }
  });

  it('is computed only as far as the hashes of the proof and the requested steps allow', () => {
    const walk = consistencyWalk(3, 7);
    expect(climbBoth(sha256, walk, roots[3]!, [])).toEqual({ first: [], second: [] });
    const path = foldProof(sha256, consistencyPlan(3, 7), hashAt);
    expect(climbBoth(sha256, walk, roots[3]!, path.slice(0, 2)).second).toHaveLength(1);
    expect(climbBoth(sha256, walk, roots[3]!, path, 2).second).toHaveLength(2);
  });
});
