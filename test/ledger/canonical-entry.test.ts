import canonicalize from 'canonicalize';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { EntryReader } from '../../src/ledger/check/canonical-entry.ts';
import { uuidToBytes } from '../../src/uuid.ts';

const seed = 20_251_121;
const hex = (length: number) => fc.stringMatching(new RegExp(`^[0-9a-f]{${length}}$`));
const plain = (maxLength: number) => fc.stringMatching(/^[ !#-[\]-~]*$/, { maxLength });
const anyEntry = fc.record({
  actor: fc.string({ unit: 'binary' }),
  data: fc.dictionary(fc.string({ unit: 'binary' }), fc.jsonValue({ maxDepth: 4 })),
  id: fc.uuid(),
  key_id: fc.uuid(),
  kind: plain(64),
  occurred_at: plain(40),
  signature: hex(128),
  subject: fc.record({ id: fc.string(), type: fc.string() }),
});
const canonicalEntry = anyEntry.map((entry) => ({ entry, text: canonicalize(entry)! }));

/** Surrounds the bytes with other bytes, which must not be read. */
function amid(bytes: Uint8Array, before: number, others: string): Buffer {
  const memory = Buffer.concat([Buffer.alloc(before, others), bytes, Buffer.from(others.repeat(40))]);
  return memory.subarray(before, before + bytes.length);
}
const others = fc.constantFrom('}', '"}}', 'a', '0', '\\', '{"a":', '\0');

/** Performs the same check as `EntryReader`, with a JSON parser. */
function isEntry(bytes: Uint8Array): boolean {
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
    const value = JSON.parse(text);
    if (canonicalize(value) !== text) return false;
    const { actor, data, id, key_id, kind, occurred_at, signature, subject, ...rest } = value;
    const { id: subjectId, type, ...subjectRest } = subject;
    const isUuid = (one: unknown) => /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(String(one));
    return (
      Object.keys(rest).length + Object.keys(subjectRest).length === 0 &&
      [actor, id, key_id, kind, occurred_at, signature, subjectId, type].every((one) => typeof one === 'string') &&
      text.includes(',"data":{') &&
      typeof data === 'object' &&
      isUuid(id) &&
      isUuid(key_id) &&
      /^[0-9a-f]{128}$/.test(signature)
    );
  } catch {
    return false;
  }
}

test('the canonical form of successive entries is read without adjacent bytes', () => {
  const reader = new EntryReader();
  fc.assert(
    fc.property(canonicalEntry, fc.nat(9), others, ({ entry, text }, before, beside) => {
      const bytes = amid(Buffer.from(text), before, beside);
      expect(reader.read(bytes)).toBe(true);
      expect(reader).toMatchObject({ id: entry.id, keyId: entry.key_id, kind: entry.kind });
      expect(Buffer.from(reader.signature).toString('hex')).toBe(entry.signature);
      const { signature: _, ...signed } = entry;
      expect(String(reader.signedBytes)).toBe(canonicalize(signed));
      const words = Buffer.from(uuidToBytes(entry.id));
      for (let n = 0; n < 4; n++) expect(reader.idWord(n)).toBe(words.readInt32BE(4 * n));
      const behind = Buffer.concat([Buffer.from('?'), bytes]);
      expect(reader.read(behind, 1)).toBe(true);
      expect(reader.read(behind)).toBe(false);
      expect(reader.id).toBe(entry.id);
    }),
    { seed, numRuns: 500 },
  );
});

test('all bytes that a parser would reject are rejected', () => {
  const reader = new EntryReader();
  const signs = fc.constantFrom(...'"\\{}[]:,0-19aAfg.eE \n\0\x7f\x80\xc3\xff');
  const places = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
  const edits = fc.array(fc.tuple(fc.constantFrom('put', 'insert', 'remove', 'end'), places, signs), {
    minLength: 1,
    maxLength: 2,
  });
  let taken = 0;
  fc.assert(
    fc.property(canonicalEntry, edits, fc.nat(9), others, ({ text }, list, before, beside) => {
      let bytes = Buffer.from(text);
      for (const [edit, place, sign] of list) {
        const at = Math.floor(place * bytes.length);
        const head = bytes.subarray(0, at);
        const put = edit === 'put' || edit === 'insert' ? Buffer.from(sign, 'latin1') : Buffer.alloc(0);
        const rest = edit === 'end' ? Buffer.alloc(0) : bytes.subarray(edit === 'insert' ? at : at + 1);
        bytes = Buffer.concat([head, put, rest]);
      }
      const read = reader.read(amid(bytes, before, beside));
      if (read) taken += 1;
      // Kind and time must be plain text of limited length.
      if (read) expect(isEntry(bytes)).toBe(true);
      else if (isEntry(bytes)) {
        const { kind, occurred_at } = JSON.parse(String(bytes));
        expect(kind.length > 64 || occurred_at.length > 40 || /["\\]/.test(kind + occurred_at)).toBe(true);
      }
    }),
    { seed, numRuns: 3000 },
  );
  expect(taken).toBeGreaterThan(100);
});

test.each([
  ['members in another order', '{"b":1,"a":1}'],
  ['a member twice', '{"a":1,"a":1}'],
  ['a number that JCS formats differently', '{"a":1.0}'],
  ['a number with a leading zero', '{"a":01}'],
  ['an escape that JCS doesn’t make', '{"a":"\\u0041"}'],
  ['a control character', '{"a":"\n"}'],
  ['a space', '{"a": 1}'],
  ['a list in place of the object', '[]'],
  ['too deeply nested objects', `${'{"a":'.repeat(70)}1${'}'.repeat(70)}`],
])('data with %s is not canonical', (_, data) => {
  const signature = 'f'.repeat(128);
  const id = '00000000-0000-7000-8000-000000000000';
  const text = (inner: string) =>
    `{"actor":"a","data":${inner},"id":"${id}","key_id":"${id}","kind":"k","occurred_at":"o","signature":"${signature}","subject":{"id":"s","type":"t"}}`;
  const reader = new EntryReader();
  expect(reader.read(Buffer.from(text('{}')))).toBe(true);
  expect(reader.read(Buffer.from(text(data)))).toBe(false);
});
