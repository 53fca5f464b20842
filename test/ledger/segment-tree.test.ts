import { expect, test } from 'vitest';
import { sha256 } from '../../src/crypto/sha256.ts';
import { leafHashInto, SegmentTree } from '../../src/ledger/check/segment-tree.ts';
import { GrowingTree, type PackedPage } from '../../src/tlog/growing-tree.ts';
import { leafHash } from '../../src/tlog/tree.ts';

const leafOf = (n: number) => sha256(Buffer.from(`leaf ${n}`));
const bytesOf = (pages: readonly PackedPage[], level: number) =>
  Buffer.from(pages.findLast((page) => page.level === level)?.bytes ?? []);

test('a tree has the same root and pages at every size as a tree that stores hashes individually', () => {
  const tree = new SegmentTree();
  const plain = GrowingTree.load(sha256, 0, () => undefined)!;
  expect(tree.root()).toEqual(plain.root());
  for (let n = 0; n < 1100; n++) {
    tree.leaves.set(leafOf(n), (n % 256) * 32);
    tree.append();
    plain.append(leafOf(n));
    expect(tree.size).toBe(n + 1);
    expect(tree.root()).toEqual(plain.root());
    const pages = plain.takePages();
    expect(tree.page(0)).toEqual(bytesOf(pages, 0));
    if (pages.some(({ level }) => level === 1)) expect(tree.page(1)).toEqual(bytesOf(pages, 1));
  }
});

test('a segment holds at most 65,536 leaves, and its upper page and root are those of a plain tree', () => {
  const tree = new SegmentTree();
  const plain = GrowingTree.load(sha256, 0, () => undefined)!;
  let upper = Buffer.alloc(0);
  for (let first = 0; first < 65_536; first += 256) {
    for (let n = first; n < first + 256; n++) {
      tree.leaves.set(leafOf(n), (n % 256) * 32);
      plain.append(leafOf(n));
    }
    for (let n = first; n < first + 256; n++) tree.append();
    upper = bytesOf(plain.takePages(), 1);
  }
  expect(tree.page(1)).toEqual(upper);
  expect(tree.root()).toEqual(plain.root());
  expect(() => tree.append()).toThrow('full');
});

test('a leaf hash is written only to its destination, and its input is unchanged', () => {
  for (const length of [0, 1, 54, 55, 63, 64, 700]) {
    const bytes = Buffer.alloc(1 + length, 200);
    const into = Buffer.alloc(96, 7);
    leafHashInto(bytes, into, 33);
    const hash = leafHash(sha256, bytes.subarray(1));
    expect(into).toEqual(Buffer.concat([Buffer.alloc(33, 7), hash, Buffer.alloc(31, 7)]));
    expect(bytes).toEqual(Buffer.alloc(1 + length, 200));
  }
});
