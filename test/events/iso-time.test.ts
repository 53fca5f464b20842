import fc from 'fast-check';
import { expect, it } from 'vitest';
import { isoTime } from '../../src/events/resource.ts';

it('times are formatted as Date formats them', () => {
  const edges = fc.constantFrom(0, 1, 86_399_999, 86_400_000, 951_782_400_000, 253_402_300_799_999);
  fc.assert(
    fc.property(fc.oneof(edges, fc.nat({ max: 253_402_300_799_999 })), (time) => {
      expect(isoTime(time)).toBe(new Date(time).toISOString());
    }),
  );
});
