import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  addToSketch,
  countSketch,
  type DistinctSketch,
  eachMark,
  emptySketch,
  hashText,
  mergeSketches,
  sketchBytes,
} from '../../../src/detect/behaviour/support/distinct-sketch.ts';

const terms = { max: 64, texts: 3 };
const of = (texts: Iterable<string>, to = emptySketch(), by = terms): DistinctSketch => {
  for (const text of texts) addToSketch(to, by, hashText(text), text.length % 256, text);
  return to;
};
/** Returns the used part of the state. */
const held = ({ hashes, marks, size, texts }: DistinctSketch) => [
  [...hashes.subarray(0, size)],
  [...marks.subarray(0, size)],
  texts,
];

describe('distinct texts', () => {
  it('are counted exactly below the limit', () => {
    fc.assert(
      fc.property(fc.array(fc.string(), { maxLength: 63 }), (texts) => {
        expect(countSketch(of(texts), terms)).toBe(new Set(texts).size);
      }),
    );
  });

  it('are estimated beyond the limit, within three standard errors', () => {
    const large = { max: 1024, texts: 5 };
    for (const count of [2000, 20_000, 200_000]) {
      const distinct = of(
        Array.from({ length: count }, (_, i) => `name-${i}.example`),
        emptySketch(),
        large,
      );
      expect(Math.abs(countSketch(distinct, large) / count - 1)).toBeLessThan(3 / Math.sqrt(1022));
    }
  });

  it('are the same in any order, with repetitions, and merged from any parts', () => {
    fc.assert(
      fc.property(fc.array(fc.string(), { maxLength: 200 }), fc.infiniteStream(fc.boolean()), (texts, sides) => {
        const all = of(texts);
        const [one, other] = [emptySketch(), emptySketch()];
        for (const text of [...texts].reverse()) of([text], sides.next().value ? one : other);
        mergeSketches(one, terms, other);
        mergeSketches(one, terms, all);
        expect(held(one)).toEqual(held(all));
      }),
    );
  });

  it('keep the mark of each text, and the texts with the smallest hashes', () => {
    const distinct = of(['a', 'bb', 'ccc', 'dddd', 'bb']);
    const marks: number[] = [];
    eachMark(distinct, (mark) => marks.push(mark));
    expect(marks.sort()).toEqual([1, 2, 3, 4]);
    const byHash = ['a', 'bb', 'ccc', 'dddd'].sort((a, b) => hashText(a) - hashText(b));
    expect(distinct.texts).toEqual(byHash.slice(0, 3));
  });

  it('use bounded memory', () => {
    const distinct = of(Array.from({ length: 10_000 }, (_, i) => `${i}`));
    expect(distinct.hashes).toHaveLength(64);
    expect(sketchBytes(distinct)).toBeLessThan(1000);
  });
});
