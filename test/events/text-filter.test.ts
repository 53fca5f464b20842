import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { connRecords } from '../../bench/conn-records.ts';
import { EventBlock, openBlock, type PartKind, partStarts } from '../../src/events/format/block.ts';
import { BlockBuilder } from '../../src/events/format/block-builder.ts';
import { columnIndex } from '../../src/events/format/columns.ts';
import { compileFilter } from '../../src/events/query/select.ts';
import { encodeTextFilter, hashOfText, isTextFilter, mayHave } from '../../src/events/query/text-filter.ts';

const encoder = new TextEncoder();
const hashOf = (text: string) => hashOfText(encoder.encode(text));

function filterOf(texts: readonly (string | undefined)[]): Uint8Array {
  const offsets = new Uint32Array(texts.length + 1);
  const encoded = texts.map((text) => encoder.encode(text ?? ''));
  encoded.forEach((bytes, row) => {
    offsets[row + 1] = offsets[row]! + bytes.length;
  });
  const present = Uint8Array.from(texts, (text) => Number(text !== undefined));
  return encodeTextFilter(Buffer.concat(encoded), offsets, present, texts.length);
}

describe('the filter of texts', () => {
  it('contains every text that it was built from, for any texts', () => {
    const texts = fc.array(fc.option(fc.string({ unit: 'grapheme', maxLength: 40 }), { nil: undefined }), {
      minLength: 1,
      maxLength: 300,
    });
    fc.assert(
      fc.property(texts, (rows) => {
        const filter = filterOf(rows);
        expect(isTextFilter(filter, rows.length)).toBe(true);
        for (const text of rows) if (text !== undefined) expect(mayHave(filter, hashOf(text))).toBe(true);
      }),
      { numRuns: 70 },
    );
  });

  it('has few false positives, even for sequential ids', () => {
    const filter = filterOf(Array.from({ length: 8160 }, (_, n) => `C${n}`));
    let others = 0;
    for (let n = 0; n < 50_000; n++) if (mayHave(filter, hashOf(`C${100_000 + n}`))) others++;
    expect(others / 50_000).toBeLessThan(0.006);
  });

  it('is used only if its length matches the number of rows', () => {
    const filter = filterOf(['a', 'b', 'c']);
    expect(isTextFilter(filter, 3)).toBe(true);
    for (const rows of [0, 1, 2, 4, 8160]) expect(isTextFilter(filter, rows)).toBe(false);
    expect(isTextFilter(new Uint8Array(0), 0)).toBe(false);
  });
});

describe('a block with a filter', () => {
  const column = columnIndex.network.get('connection_id')!;
  const records = [...connRecords(300)];
  const builder = new BlockBuilder('network', 1);
  for (const record of records) builder.add(record);
  const whole = openBlock(builder.finish(), 1);
  const ids = records.map(({ connection_id }) => connection_id!);
  const absent = Array.from({ length: 1000 }, (_, n) => `Cabsent${n}`);
  const count = (block: EventBlock, id: string) =>
    compileFilter('network', { terms: [{ field: 'connection_id', values: [id] }] }).count(block);

  it('is excluded for nearly all absent ids by the filter alone', () => {
    const read: string[] = [];
    const starts = partStarts(whole.header);
    const buffer = rebuilt();
    const block = new EventBlock(whole.header, 1, (at, kind) => {
      read.push(`${at} ${kind}`);
      const place = 2 * at + Number(kind === 'dictionary');
      return new Uint8Array(buffer, starts[place], lengthOf(at, kind));
    });
    expect(absent.filter((id) => block.mayHave('connection_id', hashOf(id))).length).toBeLessThan(30);
    expect(new Set(read)).toEqual(new Set([`${column} codes`]));
    for (const id of ids) expect(count(block, id)).toBe(1);
  });

  it.each([0, 1, 100, 449])('still finds its texts if the filter is truncated to %d bytes', (length) => {
    const starts = partStarts(whole.header);
    const buffer = rebuilt();
    const block = new EventBlock(whole.header, 1, (at, kind) => {
      const place = 2 * at + Number(kind === 'dictionary');
      const cut = at === column && kind === 'codes';
      return new Uint8Array(buffer, starts[place], cut ? length : lengthOf(at, kind));
    });
    expect(absent.every((id) => block.mayHave('connection_id', hashOf(id)))).toBe(true);
    for (const id of ids) expect(count(block, id)).toBe(1);
    for (const id of absent.slice(0, 50)) expect(count(block, id)).toBe(0);
  });

  const lengthOf = (at: number, kind: PartKind) =>
    kind === 'codes' ? whole.header.codesBytes(at) : whole.header.dictionaryBytes(at);

  function rebuilt(): ArrayBuffer {
    builder.copy(whole);
    return builder.finish();
  }
});
