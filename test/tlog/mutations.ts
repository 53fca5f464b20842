import fc from 'fast-check';

/** Generates texts like `good` in which some characters are replaced, removed or inserted. */
export function mutated(good: string): fc.Arbitrary<string> {
  const edit = fc.record({
    at: fc.nat(good.length),
    cut: fc.nat(3),
    put: fc.oneof(fc.constantFrom(...edges), fc.string({ unit: 'binary', maxLength: 4 })),
  });
  return fc.array(edit, { minLength: 1, maxLength: 4 }).map((edits) => {
    let text = good;
    for (const { at, cut, put } of edits) text = text.slice(0, at) + put + text.slice(at + cut);
    return text;
  });
}

/** Generates bytes that are mutated like the texts of `mutated`. */
export function mutatedBytes(good: Uint8Array): fc.Arbitrary<Uint8Array> {
  const edit = fc.record({
    at: fc.nat(good.length),
    cut: fc.nat(3),
    put: fc.uint8Array({ maxLength: 4 }),
  });
  return fc.array(edit, { minLength: 1, maxLength: 4 }).map((edits) => {
    let bytes = Buffer.from(good);
    for (const { at, cut, put } of edits) {
      bytes = Buffer.concat([bytes.subarray(0, at), put, bytes.subarray(at + cut)]);
    }
    return new Uint8Array(bytes);
  });
}

/** Characters of the tested formats, and similar characters. */
const edges = [
  '',
  '\n',
  '\n\n',
  ' ',
  '+',
  '=',
  '/',
  '0',
  'x',
  '.p/',
  '—',
  '— ',
  '\r\n',
  '\0',
  '\u0085',
  '\u00a0',
  '\ufeff',
  '\ud800',
  '-',
  '1e3',
  '\u0661',
];
