import fc from 'fast-check';
import { expect, test } from 'vitest';
import { cover, startOf, widthMs } from '../../src/rollups/model/levels.ts';

const minutes = fc.integer({ min: 0, max: 200 * 24 * 60 });

test('a range is covered by few whole buckets without gap or overlap', () => {
  fc.assert(
    fc.property(minutes, fc.nat(70 * 24 * 60), (first, length) => {
      const from = first * widthMs.minute;
      const to = from + length * widthMs.minute;
      const parts = cover(from, to);
      let at = from;
      let buckets = 0;
      for (const part of parts) {
        expect(part.from).toBe(at);
        expect(startOf(part.level, part.from)).toBe(part.from);
        expect(startOf(part.level, part.to)).toBe(part.to);
        buckets += (part.to - part.from) / widthMs[part.level];
        at = part.to;
      }
      expect(at).toBe(to);
      expect(buckets).toBeLessThanOrEqual(2 * 59 + 2 * 23 + 70);
    }),
  );
});

test('a range without an end is covered without gaps, and ends with day buckets', () => {
  fc.assert(
    fc.property(minutes, (first) => {
      const from = first * widthMs.minute;
      const parts = cover(from);
      expect(parts[0]!.from).toBe(from);
      expect(parts.at(-1)).toMatchObject({ level: 'day', to: Number.POSITIVE_INFINITY });
      for (const [i, { to }] of parts.entries()) if (i + 1 < parts.length) expect(parts[i + 1]!.from).toBe(to);
    }),
  );
});
