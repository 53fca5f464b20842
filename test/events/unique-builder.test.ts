import fc from 'fast-check';
import { expect, it } from 'vitest';
import { UniqueBuilder } from '../../src/events/format/unique-builder.ts';

/** Returns the texts of the encoded column, in order; undefined where a text is absent. */
function texts(builder: UniqueBuilder, rows: number): (string | undefined)[] {
  const { codes, dictionary, entries } = builder.encode(rows);
  if (entries === 0) return new Array(rows).fill(undefined);
  const bytes = dictionary.slice();
  const offsets = new Uint32Array(bytes.buffer, 0, rows + 1);
  const utf8 = Buffer.from(bytes.buffer, offsets.byteLength);
  return Array.from({ length: rows }, (_, row) =>
    codes.length > 0 && codes[row] === 0 ? undefined : utf8.toString('utf8', offsets[row], offsets[row + 1]),
  );
}

const text = fc.oneof(
  fc.string({ maxLength: 30 }),
  fc.string({ unit: 'binary', maxLength: 9 }),
  fc.constantFrom('', 'naïve', '\ud800', 'x'.repeat(5000)),
);

it('a unique builder stores texts row by row, across blocks, while it grows', () => {
  const builder = new UniqueBuilder(2);
  let capacity = 2;
  fc.assert(
    fc.property(fc.array(fc.option(text, { nil: undefined }), { maxLength: 20 }), (values) => {
      values.forEach((value, row) => {
        while (row >= capacity) {
          capacity *= 2;
          builder.grow(capacity);
        }
        // As if a record was rejected after its id was set: the next record overwrites the id.
        builder.set(row, 'of another');
        builder.set(row, value);
      });
      expect(texts(builder, values.length)).toEqual(values.map((value) => value?.toWellFormed()));
    }),
    { numRuns: 100 },
  );
});
