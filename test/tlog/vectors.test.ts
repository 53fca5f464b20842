import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { sha256 as nobleSha256 } from '../../src/client/sha256.ts';
import { sha256 as nativeSha256 } from '../../src/crypto/sha256.ts';
import { GrowingTree } from '../../src/tlog/growing-tree.ts';
import { verifyInclusion } from '../../src/tlog/proof.ts';
import { leafHash } from '../../src/tlog/tree.ts';
import { faultOf } from './faults.ts';

const folder = join(process.env.CANDOR_SHARED ?? '../shared', 'vectors', 'merkle');

interface Vector {
  readonly leafIdx: number;
  readonly treeSize: number;
  readonly root: string;
  readonly leafHash: string;
  readonly proof: readonly string[] | null;
  readonly desc: string;
  readonly wantErr: boolean;
}

/**
 * Reads a vector. Integers that are not safe become NaN, because rounding could turn them into other valid numbers.
 */
function readVector(path: string): Vector {
  const text = readFileSync(path, 'utf8').replace(/("(?:leafIdx|treeSize)":\s*)(-?\d+)/g, (_, name, digits) =>
    Number.isSafeInteger(Number(digits)) && String(Number(digits)) === digits
      ? `${name}${digits}`
      : `${name}"${digits}"`,
  );
  const parsed = JSON.parse(text);
  const size = (value: unknown) => (typeof value === 'number' ? value : Number.NaN);
  return { ...parsed, leafIdx: size(parsed.leafIdx), treeSize: size(parsed.treeSize) };
}

const bytes = (text: string) => new Uint8Array(Buffer.from(text, 'base64'));

describe.skipIf(!existsSync(folder)).each([
  ['native', nativeSha256],
  ['noble', nobleSha256],
])('a tree with the %s SHA-256', (_, sha256) => {
  test('accepts 6 valid inclusion proofs and rejects 92 invalid ones', () => {
    const found = { good: 0, bad: 0, large: 0, length: 0 };
    const names = readdirSync(join(folder, 'inclusion'), { recursive: true, encoding: 'utf8' });
    for (const name of names.filter((n) => n.endsWith('.json'))) {
      const vector = readVector(join(folder, 'inclusion', name));
      const fault = faultOf(() =>
        verifyInclusion(sha256, {
          leafIndex: vector.leafIdx,
          treeSize: vector.treeSize,
          leafHash: bytes(vector.leafHash),
          path: (vector.proof ?? []).map(bytes),
          root: bytes(vector.root),
        }),
      );
      expect(fault !== undefined, `${name}: ${vector.desc}`).toBe(vector.wantErr);
      found[vector.wantErr ? 'bad' : 'good'] += 1;
      if (Number.isNaN(vector.leafIdx)) found.large += 1;
      if (fault === 'bad_hash') found.length += 1;
    }
    expect(found.good).toBe(6);
    expect(found.bad).toBe(92);
    expect(found.large).toBeGreaterThan(0);
    expect(found.length).toBeGreaterThan(0);
  });

  test('computes the known roots', () => {
    const { leaves, roots } = JSON.parse(readFileSync(join(folder, 'rfc6962-known-roots.json'), 'utf8'));
    const tree = GrowingTree.load(sha256, 0, () => undefined)!;
    expect(Buffer.from(tree.root()).toString('hex')).toBe(roots[0]);
    leaves.forEach((leaf: string, i: number) => {
      tree.append(leafHash(sha256, new Uint8Array(Buffer.from(leaf, 'hex'))));
      expect(Buffer.from(tree.root()).toString('hex')).toBe(roots[i + 1]);
    });
    expect(tree.size).toBe(8);
  });
});
