/** Trees from their tiles and their right edge, compared with the plain recursion of RFC 6962. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { CompactRange } from '../../src/client/compact-range.ts';
import { checkExtension } from '../../src/client/consistency.ts';
import { AuditFault } from '../../src/client/fault.ts';
import type { LogSource } from '../../src/client/log-source.ts';
import { sha256 } from '../../src/client/sha256.ts';
import { fetchEdge, fetchTile, proofFromTiles } from '../../src/client/tiles.ts';
import { bindsElsewhere } from '../../src/tlog/binding.ts';
import { bytesToHex } from '../../src/tlog/hex.ts';
import { consistencyPlan, foldProof, verifyConsistency } from '../../src/tlog/proof.ts';
import { parseTilePath } from '../../src/tlog/tile.ts';
import { equalHashes, foldRoot, type Hash, leafHash, nodeHash, rootPlan } from '../../src/tlog/tree.ts';

/** A tree with numbered leaves. Its leaves from index `fork` differ from those of other trees. */
class Tree {
  readonly #nodes = new Map<string, Hash>();
  readonly #fork: number;

  constructor(fork = Number.POSITIVE_INFINITY) {
    this.#fork = fork;
  }

  readonly at = ({ level, index }: { level: number; index: number }): Hash => {
    const name = `${level},${index}`;
    const known = this.#nodes.get(name);
    if (known !== undefined) return known;
    const leaf = new TextEncoder().encode(`${index >= this.#fork ? 'other' : 'leaf'} ${index}`);
    const left = { level: level - 1, index: 2 * index };
    const hash =
      level === 0
        ? leafHash(sha256, leaf)
        : nodeHash(sha256, this.at(left), this.at({ ...left, index: left.index + 1 }));
    this.#nodes.set(name, hash);
    return hash;
  };

  root(size: number): Hash {
    return foldRoot(sha256, size, rootPlan(size).map(this.at));
  }

  head(size: number) {
    return { size, root: this.root(size) };
  }

  /** Returns a log of this tree. `proof` replaces its consistency proofs. */
  source(proof?: (first: number, second: number) => readonly Hash[]): LogSource {
    const honest = (first: number, second: number) => foldProof(sha256, consistencyPlan(first, second), this.at);
    return {
      url: 'http://log',
      get: async (path) => {
        const [first, second] = [...path.matchAll(/=(\d+)/g)].map(([, digits]) => Number(digits)) as [number, number];
        const audit_path = (proof ?? honest)(first, second).map(bytesToHex);
        return JSON.stringify({ first_size: first, second_size: second, tree_size: second, audit_path });
      },
      getBytes: async (path) => {
        const { level, index, width } = parseTilePath(path.replace(/^\/tile\//, ''));
        const hashes = Array.from({ length: width }, (_, i) => this.at({ level: 8 * level, index: 256 * index + i }));
        return new Uint8Array(Buffer.concat(hashes));
      },
    };
  }
}

const honest = new Tree();
const sizes = fc.integer({ min: 1, max: 1200 });

test('a compact range that grows from any size has the root and the right edge of the tree', () => {
  const whole = new CompactRange(sha256);
  for (let size = 0; size <= 530; size++) {
    expect(equalHashes(whole.root(), honest.root(size))).toBe(true);
    expect(whole.edge).toEqual(rootPlan(size).map(honest.at));
    const begun = new CompactRange(sha256, size, whole.edge);
    for (let next = size; next < size + 9; next++) begun.append(honest.at({ level: 0, index: next }));
    expect(equalHashes(begun.root(), honest.root(size + 9))).toBe(true);
    const nodes: string[] = [];
    whole.append(honest.at({ level: 0, index: size }), (at, hash) => {
      expect(equalHashes(hash, honest.at(at))).toBe(true);
      nodes.push(`${at.level}`);
    });
    expect(nodes).toHaveLength(1 + rootPlan(size).length - (rootPlan(size + 1).length - 1));
  }
  expect(() => new CompactRange(sha256, 3, [])).toThrow('0 hashes');
});

test('edges and proofs are computed from tiles', async () => {
  const source = honest.source();
  await fc.assert(
    fc.asyncProperty(sizes, sizes, async (a, b) => {
      const [first, second] = [Math.min(a, b), Math.max(a, b) + 1];
      expect(await fetchEdge(source, first, second)).toEqual(rootPlan(first).map(honest.at));
      const proof = await proofFromTiles(source, first, second);
      if (proof instanceof AuditFault) throw new Error(proof.code);
      const roots = { firstRoot: proof.firstRoot, secondRoot: honest.root(second) };
      verifyConsistency(sha256, { firstSize: first, secondSize: second, ...roots, path: proof.path });
      expect(equalHashes(proof.firstRoot, honest.root(first))).toBe(true);
    }),
    { numRuns: 60 },
  );
  const big = await fetchTile(source, { level: 0, index: 3, width: 17 });
  expect(big).toHaveLength(17);
});

describe('checking that a tree extends another', () => {
  test('succeeds for any two sizes of an honest log, with its proof', async () => {
    await fc.assert(
      fc.asyncProperty(sizes, sizes, async (a, b) => {
        const [first, second] = [Math.min(a, b), Math.max(a, b)];
        expect(await checkExtension(honest.source(), honest.head(first), honest.head(second))).toBeUndefined();
      }),
      { numRuns: 60 },
    );
  });

  test('reports WRONG_PROOF for an invalid proof if the tiles show that the log is append-only', async () => {
    const source = honest.source((first, second) => consistencyPlan(first, second).map(() => new Uint8Array(32)));
    await fc.assert(
      fc.asyncProperty(sizes, sizes, async (a, b) => {
        const [first, second] = [Math.min(a, b), Math.max(a, b) + 1];
        const found = await checkExtension(source, honest.head(first), honest.head(second));
        expect(found).toMatchObject({ code: 'WRONG_PROOF' });
      }),
      { numRuns: 30 },
    );
  });

  test('finds a proof, from the log or its tiles, that a forked tree extends a different earlier tree, for any two sizes', async () => {
    await fc.assert(
      fc.asyncProperty(sizes, sizes, fc.nat(), fc.boolean(), async (a, b, where, silent) => {
        const [first, second] = [Math.min(a, b), Math.max(a, b) + 1];
        const forked = new Tree(where % first);
        const source = forked.source(silent ? () => [] : undefined);
        const [earlier, later] = [honest.head(first), forked.head(second)];
        const found = await checkExtension(source, earlier, later);
        if (found === undefined || found instanceof AuditFault) throw new Error(`not found: ${found?.code}`);
        expect(found.fault.code).toBe('INCONSISTENT');
        expect(found.binding !== undefined && bindsElsewhere(sha256, found.binding, earlier, later)).toBe(true);
        expect(bindsElsewhere(sha256, found.binding!, forked.head(first), later)).toBe(false);
        expect(bindsElsewhere(sha256, found.binding!, earlier, honest.head(second))).toBe(false);
      }),
      { numRuns: 80 },
    );
  });

  test('reports PROOF_WITHHELD without a binding if neither proof nor tiles match the roots', async () => {
    const other = new Tree(3);
    const found = await checkExtension(other.source(), honest.head(5), honest.head(9));
    expect(found).toMatchObject({ fault: { code: 'PROOF_WITHHELD' } });
    expect(found).not.toHaveProperty('binding');
  });
});
