import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodePiece, pieceRows } from '../../src/contract/event-piece.ts';
import { PieceWriter, pieces, type RowRun } from '../../src/events/event-piece.ts';
import { type EventBlock, openBlock } from '../../src/events/format/block.ts';
import { BlockBuilder } from '../../src/events/format/block-builder.ts';
import { columnNames, columnOf, tables } from '../../src/events/format/columns.ts';
import type { DnsRecord, NetworkRecord, Table } from '../../src/events/records.ts';
import { addressBytes } from '../../src/net/ip.ts';
import { recordOf } from './oracle.ts';

type Row = (NetworkRecord | DnsRecord) & { received_at: number; sensor_id: string | undefined };

/** Rows of bodies that arrived at different times from different sensors; several rows have explicit ids. */
const rowOf = (table: Table): fc.Arbitrary<Row> =>
  fc
    .tuple(recordOf(table), fc.integer({ min: 0, max: 2 }), fc.option(fc.uuid(), { nil: undefined }))
    .map(([record, body, id]) => ({
      ...record,
      id,
      received_at: 1_700_000_000_000 + body,
      sensor_id: body === 0 ? undefined : `sensor ${body}`,
    }));

function blockOf(table: Table, rows: readonly Row[], firstSeq: number): EventBlock {
  const builder = new BlockBuilder(table, 0);
  for (const { received_at, sensor_id, ...record } of rows) {
    builder.receivedAt = received_at;
    builder.sensorId = sensor_id;
    builder.add(record as never);
  }
  return openBlock(builder.finish(), firstSeq);
}

/** Splits the rows into blocks of these sizes; the last block has the remaining rows. */
function split(table: Table, rows: readonly Row[], sizes: readonly number[], firstSeq: number): EventBlock[] {
  const blocks: EventBlock[] = [];
  let from = 0;
  for (const size of [...sizes, rows.length]) {
    const part = rows.slice(from, from + size);
    if (part.length > 0) blocks.push(blockOf(table, part, firstSeq + from));
    from += part.length;
  }
  return blocks;
}

function merged(table: Table, blocks: readonly EventBlock[], firstSeq: number): EventBlock {
  const builder = new BlockBuilder(table, 0);
  for (const block of blocks) builder.copy(block);
  return openBlock(builder.finish(), firstSeq);
}

const runsOf = (blocks: readonly EventBlock[], skip = 0): RowRun[] =>
  blocks.map((block, index) => ({ block, first: index === 0 ? skip : 0, end: block.rows }));

function written(runs: Iterable<RowRun>): string[] {
  const writer = new PieceWriter();
  return Array.from(pieces(runs), (piece) => Buffer.from(writer.write(piece)).toString('hex'));
}

/** Encodes the documented format, one value at a time. */
function plain(table: Table, rows: readonly Row[], firstSeq: number): string {
  const f64 = (value: number) => {
    const bytes = Buffer.alloc(8);
    bytes.writeDoubleLE(value);
    return bytes;
  };
  const u32 = (value: number) => {
    const bytes = Buffer.alloc(4);
    bytes.writeUInt32LE(value);
    return bytes;
  };
  const text = (value: string) => Buffer.concat([u32(Buffer.byteLength(value)), Buffer.from(value)]);
  const nan = Buffer.from('000000000000f87f', 'hex');
  const columns = columnNames[table].map((name) => {
    const { kind } = columnOf(table, name)!;
    const values = rows.map((row) => (row as unknown as Record<string, unknown>)[name]);
    if (values.every((value) => value === undefined)) return Buffer.alloc(0);
    const letter = { time: 't', number: 'n', boolean: 'b', address: 'a', unique: 'u' }[kind as string] ?? 's';
    // [fixed-size part, variable part]; the fixed parts of all rows come before the variable parts.
    const encoded = values.map((value): [Buffer, Buffer] => {
      if (letter === 's' || letter === 'u')
        return value === undefined
          ? [u32(0xffff_ffff), Buffer.alloc(0)]
          : [u32(Buffer.byteLength(String(value))), Buffer.from(String(value))];
      if (letter === 'a')
        return [
          value === undefined ? Buffer.alloc(17) : Buffer.from([1, ...addressBytes(String(value))!]),
          Buffer.alloc(0),
        ];
      return [value === undefined ? nan : f64(Number(value)), Buffer.alloc(0)];
    });
    const isShared =
      letter !== 'u' && encoded.every((value) => Buffer.concat(value).equals(Buffer.concat(encoded[0]!)));
    const head = [text(name), Buffer.from(letter), Buffer.from([isShared ? 1 : 2])];
    if (letter === 's' && !isShared) {
      const list = [...new Set(values.filter((value) => value !== undefined).map(String))];
      const places = values.map((value) => (value === undefined ? 0 : 1 + list.indexOf(String(value))));
      return Buffer.concat([...head, Buffer.from([list.length]), ...list.map(text), Buffer.from(places)]);
    }
    const put = isShared ? encoded.slice(0, 1) : encoded;
    return Buffer.concat([...head, ...put.map(([fixed]) => fixed), ...put.map(([, variable]) => variable)]);
  });
  const head = [Buffer.from([0]), Buffer.from('candor-event-piece/v1\n'), text(table), f64(firstSeq), u32(rows.length)];
  return Buffer.concat([...head, ...columns]).toString('hex');
}

const inPieces = (table: Table, rows: readonly Row[], firstSeq: number) =>
  Array.from({ length: Math.ceil(rows.length / pieceRows) }, (_, i) =>
    plain(table, rows.slice(i * pieceRows, (i + 1) * pieceRows), firstSeq + i * pieceRows),
  );

describe.each(tables)('pieces of %s events', (table) => {
  it('have the documented bytes for any distribution of rows over blocks', () => {
    fc.assert(
      fc.property(
        fc.array(rowOf(table), { minLength: 1, maxLength: 150, size: 'max' }),
        fc.array(fc.integer({ min: 1, max: 70 }), { maxLength: 6 }),
        fc.integer({ min: 1, max: 2 ** 50 }),
        (rows, sizes, firstSeq) => {
          const expected = inPieces(table, rows, firstSeq);
          const blocks = split(table, rows, sizes, firstSeq);
          expect(written(runsOf(blocks))).toEqual(expected);
          expect(written(runsOf([merged(table, blocks, firstSeq)]))).toEqual(expected);
        },
      ),
      { numRuns: 60 },
    );
  });

  it('start at any row, and end before a gap in the sequences', () => {
    const rows = fc.sample(rowOf(table), { numRuns: 200, seed: 7 });
    const blocks = split(table, rows, [90, 60], 1000);
    expect(written(runsOf(blocks, 30))).toEqual(inPieces(table, rows.slice(30), 1030));
    expect(written(runsOf([blocks[0]!, blocks[2]!]))).toEqual(inPieces(table, rows.slice(0, 90), 1000));
    expect(written([])).toEqual([]);
  });

  it('can contain texts of any length', () => {
    const [row] = fc.sample(rowOf(table), { numRuns: 1, seed: 3 });
    const rows = Array.from({ length: 3 }, (_, i) => ({ ...row!, sensor: 'x'.repeat(200_000 + i) }));
    expect(written(runsOf([blockOf(table, rows, 1)]))).toEqual(inPieces(table, rows, 1));
  });

  it('decode to the values that were encoded', () => {
    fc.assert(
      fc.property(fc.array(rowOf(table), { minLength: 1, maxLength: pieceRows }), (rows) => {
        const [hex] = written(runsOf([blockOf(table, rows, 5)]));
        const piece = decodePiece(Uint8Array.from(Buffer.from(hex!, 'hex')).subarray(1));
        expect(piece).toMatchObject({ table, firstSeq: 5, rows: rows.length });
        rows.forEach((row, at) => {
          const shown = piece!.columns.map(({ name, kind, values }) => [
            name,
            kind === 'b' && values[at] !== undefined ? values[at] === 1 : values[at],
          ]);
          const own = Object.entries(row).map(([name, value]) => [
            name,
            name.endsWith('_ip') ? addressBytes(String(value)) : value,
          ]);
          expect(defined(shown)).toEqual(defined(own));
        });
      }),
      { numRuns: 40 },
    );
  });
});

const defined = (entries: unknown[][]) => Object.fromEntries(entries.filter(([, value]) => value !== undefined));

it('bytes that are not a piece are rejected', () => {
  const rows = fc.sample(rowOf('network'), { numRuns: 3, seed: 1 });
  const bytes = Buffer.from(written(runsOf([blockOf('network', rows, 1)]))[0]!, 'hex').subarray(1);
  expect(decodePiece(bytes)).toBeDefined();
  for (let length = 0; length < 80; length++)
    expect(decodePiece(bytes.subarray(0, length)), `${length}`).toBeUndefined();
  expect(decodePiece(Buffer.concat([bytes, Buffer.from([1])]))).toBeUndefined();
  const other = Buffer.from(bytes);
  other[20] = 0x32;
  expect(decodePiece(other)).toBeUndefined();
});
