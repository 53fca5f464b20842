import fc from 'fast-check';
import { expect, test } from 'vitest';
import { characterWidth, type Label, maxCharacters, roomFor } from '../../../src/console/pages/topology/labels.ts';

const font = 10;
const at = (id: string, x: number, y: number): Label => ({ id, text: '10.0.0.1', x, y });
const anywhere = fc.uniqueArray(
  fc.record({
    id: fc.uuid(),
    text: fc.string({ maxLength: 40 }),
    x: fc.integer({ min: 0, max: 400 }),
    y: fc.integer({ min: 0, max: 200 }),
  }),
  { selector: ({ id }) => id, maxLength: 60 },
);

test('labels do not overlap, and the first label is always shown', () => {
  fc.assert(
    fc.property(anywhere, (labels) => {
      const shown = labels.filter(({ id }) => roomFor(labels, font, 100).has(id));
      expect(shown[0]).toBe(labels[0]);
      for (const [index, one] of shown.entries())
        for (const other of shown.slice(index + 1)) {
          const width = ({ text }: Label) => Math.min(maxCharacters, text.length) * characterWidth * font;
          const areBeside = Math.abs(one.x - other.x) >= (width(one) + width(other)) / 2 - 1e-9;
          const areBelow = Math.abs(one.y - other.y) >= font;
          expect(areBeside || areBelow || one.text.includes('\n') || other.text.includes('\n')).toBe(true);
        }
    }),
  );
});

test('zooming in shows more labels', () => {
  const grid = (zoom: number) =>
    Array.from({ length: 500 }, (_, n) => at(String(n), (n % 25) * 40 * zoom, Math.floor(n / 25) * 40 * zoom));
  const counts = [0.25, 0.5, 1, 2].map((zoom) => roomFor(grid(zoom), font, 1000).size);
  expect(counts).toEqual(counts.toSorted((a, b) => a - b));
  expect(counts[0]).toBeLessThan(150);
  expect(counts.at(-1)).toBe(500);
});

test('the graph shows at most the given number of labels', () => {
  expect([...roomFor([at('a', 0, 0), at('b', 500, 0), at('c', 900, 0)], font, 2)]).toEqual(['a', 'b']);
});
