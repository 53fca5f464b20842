import { expect, test } from 'vitest';
import { LeafIndex, segmentLeaves } from '../../src/ledger/storage/leaf-index.ts';
import { sha256 } from '../../src/sha256.ts';

const hashOf = (n: number) => sha256(new TextEncoder().encode(String(n)));

test('every leaf is found by its hash: in a segment, at its edges, among the newest, and after a restart', () => {
  const size = 2 * segmentLeaves + 100;
  const stored = new Map<string, Uint8Array>();
  const index = new LeafIndex();
  for (let n = 0; n < size; n++) {
    for (const { segment, bucket, rows } of index.add(hashOf(n))) stored.set(`${segment}/${bucket}`, rows);
  }
  expect(stored.size).toBe(512);
  const again = LeafIndex.load(size, hashOf);
  const load = (segment: number, bucket: number) => stored.get(`${segment}/${bucket}`);
  for (const of of [index, again]) {
    for (const n of [
      0,
      1,
      segmentLeaves - 1,
      segmentLeaves,
      2 * segmentLeaves - 1,
      2 * segmentLeaves,
      size - 1,
    ]) {
      expect([...of.candidates(hashOf(n), load)]).toContain(n);
    }
    let found = 0;
    for (let n = 0; n < size; n += 97) if ([...of.candidates(hashOf(n), load)].includes(n)) found++;
    expect(found).toBe(Math.ceil(size / 97));
    expect([...of.candidates(hashOf(size + 1), load)].length).toBeLessThan(3);
  }
});
