import fc from 'fast-check';
import { expect, it } from 'vitest';
import { limits } from '../../src/limits.ts';
import { PairTotals } from '../../src/topology/model/pair-totals.ts';

it('the totals sum the traffic of each ordered pair of nodes', () => {
  const node = fc.nat({ max: 30 });
  const flows = fc.array(fc.tuple(node, node, fc.nat(), fc.nat({ max: 9 })), { maxLength: 600 });
  fc.assert(
    fc.property(flows, (added) => {
      const totals = new PairTotals();
      const wanted = new Map<string, readonly [number, number]>();
      for (const [source, target, bytes, connections] of added) {
        totals.add(source, target, bytes, connections);
        const [b, c] = wanted.get(`${source} ${target}`) ?? [0, 0];
        wanted.set(`${source} ${target}`, [b + bytes, c + connections]);
      }
      expect(totals.pairs.length).toBe(wanted.size);
      for (const [key, sums] of wanted) {
        const [source, target] = key.split(' ').map(Number) as [number, number];
        const pair = totals.pairs.find(source, target);
        expect([totals.bytes[pair], totals.connections[pair]]).toEqual(sums);
      }
      expect(totals.pairs.find(31, 0)).toBe(-1);
    }),
  );
});

it('the totals saturate at the limit of byte sums', () => {
  const totals = new PairTotals();
  for (let i = 0; i < 3; i++) totals.add(0, 1, Number.MAX_SAFE_INTEGER, 1);
  expect(totals.bytes[0]).toBe(limits.maxSummedBytes);
});

it('the totals release their memory', () => {
  const totals = new PairTotals();
  for (let i = 0; i < 1000; i++) totals.add(i, 1, 1, 1);
  totals.release();
  expect([totals.pairs.a.length, totals.bytes.length]).toEqual([0, 0]);
});
