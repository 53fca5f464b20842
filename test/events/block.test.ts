import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { connRecords } from '../../bench/conn-records.ts';
import type { ServiceError } from '../../src/errors.ts';
import { parseEventId } from '../../src/events/event-id.ts';
import { openBlock } from '../../src/events/format/block.ts';
import { BlockBuilder } from '../../src/events/format/block-builder.ts';
import { aligned } from '../../src/events/format/block-format.ts';
import { columnNames, tables } from '../../src/events/format/columns.ts';
import type { DnsRecord, NetworkRecord, Table } from '../../src/events/records.ts';
import { readEvent, writeEventJson } from '../../src/events/resource.ts';
import { limits } from '../../src/limits.ts';
import { attributesOf, recordOf } from './oracle.ts';

const receivedAt = 1_700_000_000_999;

function encode(
  table: Table,
  records: readonly (NetworkRecord | DnsRecord)[],
  builder = new BlockBuilder(table, receivedAt),
) {
  for (const record of records) builder.add(record as never);
  return builder.finish();
}

/** Returns the attributes without a computed community id. */
function shown(record: NetworkRecord | DnsRecord, attributes: object): object {
  const { community_id, ...rest } = attributes as { community_id?: string };
  return record.community_id === undefined ? rest : { ...rest, community_id };
}

describe.each(tables)('a block of %s events', (table) => {
  it('returns the values that were added, for any values', () => {
    fc.assert(
      fc.property(fc.array(recordOf(table), { maxLength: 60 }), (records) => {
        const block = openBlock(encode(table, records), 100);
        expect(block.rows).toBe(records.length);
        records.forEach((record, row) => {
          const { id, attributes } = readEvent(block, row);
          expect(shown(record, attributes)).toEqual(attributesOf(record, receivedAt));
          expect(parseEventId(id)).toEqual({ table, timestamp: record.timestamp, seq: 100 + row });
        });
      }),
      { numRuns: 50 },
    );
  });

  it('has unchanged rows if it is copied from other blocks', () => {
    fc.assert(
      fc.property(
        fc.array(recordOf(table), { minLength: 1, maxLength: 40 }),
        fc.array(recordOf(table), { maxLength: 40 }),
        (one, two) => {
          const first = openBlock(encode(table, one), 1);
          const second = openBlock(encode(table, two), 1 + one.length);
          const builder = new BlockBuilder(table, 0);
          builder.copy(first);
          builder.copy(second);
          const merged = openBlock(builder.finish(), 1);
          const texts = [first, second].flatMap((block) =>
            Array.from({ length: block.rows }, (_, row) => writeEventJson(block, row)),
          );
          expect(Array.from({ length: merged.rows }, (_, row) => writeEventJson(merged, row))).toEqual(texts);
          builder.copy(first, Uint32Array.of(one.length - 1));
          expect(writeEventJson(openBlock(builder.finish(), one.length), 0)).toBe(texts[one.length - 1]);
        },
      ),
      { numRuns: 30 },
    );
  });

  it('does not depend on earlier blocks of its builder', () => {
    fc.assert(
      fc.property(
        fc.array(recordOf(table), { maxLength: 30 }),
        fc.array(recordOf(table), { maxLength: 30 }),
        (before, records) => {
          const used = new BlockBuilder(table, receivedAt);
          encode(table, before, used);
          expect(Buffer.from(encode(table, records, used))).toEqual(Buffer.from(encode(table, records)));
        },
      ),
      { numRuns: 30 },
    );
  });

  it('is one transferable buffer of exactly its size', () => {
    const buffer = encode(table, fc.sample(recordOf(table), { numRuns: 20, seed: 1 }));
    const { header } = openBlock(buffer, 1);
    const parts = columnNames[table].map((_, i) => aligned(header.codesBytes(i)) + aligned(header.dictionaryBytes(i)));
    expect(buffer.byteLength).toBe(parts.reduce((sum, bytes) => sum + bytes, header.bytes.byteLength));
    const moved = structuredClone(buffer, { transfer: [buffer] });
    expect(buffer.byteLength).toBe(0);
    expect(openBlock(moved, 1).rows).toBe(20);
  });

  it('stores values in every column', () => {
    const builder = new BlockBuilder(table, receivedAt);
    builder.sensorId = '01900000-0000-7000-8000-00000000000b';
    const block = openBlock(encode(table, fc.sample(recordOf(table), { numRuns: 20, seed: 1 }), builder), 1);
    for (const [index, name] of columnNames[table].entries()) {
      if (name !== 'id') expect([name, block.header.encoding(index)]).not.toEqual([name, 0]);
    }
  });
});

describe('BlockBuilder', () => {
  const [good] = [...connRecords(1)];

  it.each([
    ['timestamp', -1],
    ['timestamp', 0.5],
    ['timestamp', 253_402_300_800_000],
    ['timestamp', Number.NaN],
    ['duration_ms', -0.001],
    ['src_bytes', Number.POSITIVE_INFINITY],
    ['src_ip', '10.0.0.256'],
    ['dst_ip', ''],
    ['state', 'broken'],
    ['severity', 'fatal'],
    ['id', 'not-a-uuid'],
  ])('rejects %s %s, names the field and stays unchanged', (field, value) => {
    const builder = new BlockBuilder('network', receivedAt);
    builder.add(good!);
    try {
      builder.add({ ...good!, src_ip: '203.0.113.77', history: 'orphan', [field]: value } as NetworkRecord);
      expect.unreachable();
    } catch (error) {
      expect((error as ServiceError).details).toMatchObject({ field });
    }
    expect(builder.rows).toBe(1);
    expect(Buffer.from(builder.finish())).toEqual(Buffer.from(encode('network', [good!])));
  });

  it('accepts at most maxBlockRows rows', () => {
    const builder = new BlockBuilder('network', receivedAt);
    for (const record of connRecords(limits.maxBlockRows)) builder.add(record);
    expect(builder.full).toBe(true);
    expect(() => builder.add(good!)).toThrow(RangeError);
    const block = openBlock(builder.finish(), 1);
    expect(block.rows).toBe(limits.maxBlockRows);
    let row = 0;
    for (const record of connRecords(limits.maxBlockRows)) {
      if (row % 101 === 0) {
        expect(shown(record, readEvent(block, row).attributes)).toEqual(attributesOf(record, receivedAt));
      }
      row++;
    }
  });

  it('replaces lone surrogates, each separately', () => {
    const records = ['\ud83d', '\ude00'].map((connection_id) => ({ ...good!, connection_id }));
    const block = openBlock(encode('network', records), 1);
    expect([0, 1].map((row) => block.texts('connection_id').text(row))).toEqual(['\ufffd', '\ufffd']);
  });
});
