import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { connRecords } from '../../bench/conn-records.ts';
import { severities } from '../../src/contract/vocabulary.ts';
import { openBlock } from '../../src/events/format/block.ts';
import { BlockBuilder } from '../../src/events/format/block-builder.ts';
import { tables } from '../../src/events/format/columns.ts';
import type { EventFilter } from '../../src/events/query/filter.ts';
import { compileFilter } from '../../src/events/query/select.ts';
import type { DnsRecord, NetworkRecord, Table } from '../../src/events/records.ts';
import { readEvent } from '../../src/events/resource.ts';
import { matches, recordOf, termOf } from './oracle.ts';

function blockOf(table: Table, records: readonly (NetworkRecord | DnsRecord)[]) {
  const builder = new BlockBuilder(table, 1_700_000_000_999);
  for (const record of records) builder.add(record as never);
  return openBlock(builder.finish(), 1);
}

const selected = (table: Table, records: readonly (NetworkRecord | DnsRecord)[], filter: EventFilter) => [
  ...compileFilter(table, filter).select(blockOf(table, records)),
];

describe.each(tables)('a filter of %s events', (table) => {
  it('selects the same events as a plain function over the resources', () => {
    const cases = fc.array(recordOf(table), { minLength: 1, maxLength: 40 }).chain((records) => {
      const block = blockOf(table, records);
      const events = records.map((_, row) => readEvent(block, row).attributes as Record<string, unknown>);
      const filter = fc.record(
        {
          from: fc.constantFrom(0, 1, 1_700_000_000_001, 1_700_000_050_000),
          to: fc.constantFrom(1, 1_700_000_000_001, 1_700_000_060_000),
          min_severity: fc.constantFrom(...severities),
          terms: fc.array(termOf(events), { maxLength: 2 }),
        },
        { requiredKeys: ['terms'] },
      );
      return fc.record({ block: fc.constant(block), events: fc.constant(events), filter });
    });
    fc.assert(
      fc.property(cases, ({ block, events, filter }) => {
        const compiled = compileFilter(table, filter);
        const wanted = events.flatMap((event, row) => (matches(filter, event) ? [row] : []));
        expect([...compiled.select(block)]).toEqual(wanted);
        expect(compiled.count(block)).toBe(wanted.length);
      }),
      { numRuns: 400 },
    );
  });

  it.each([
    ['nothing', 'x'],
    ['constructor', 'x'],
    ['id', 'x'],
    ['answers', 'x'],
    ['src_ip', '10.0.0'],
    ['ip', '10.0.0.0/33'],
    ['src_port', 'ssh'],
    ['src_port', '0x10'],
    ['src_port', ''],
    ['timestamp', 'yesterday'],
    ['source', 'syslog'],
    ['severity', 'HIGH'],
    ['asset_id', 'x'],
    ['sensor', 5],
  ])('rejects %s = %s, and the error names the parameter', (field, value) => {
    expect(() => compileFilter(table, { terms: [{ field, values: [value] }] })).toThrow(
      expect.objectContaining({ code: 'INVALID_REQUEST', details: expect.objectContaining({ field }) }),
    );
  });
});

describe('q', () => {
  const [plain] = [...connRecords(1)];
  const records = [
    { ...plain!, sensor: 'Edge-Müll', connection_id: 'Cabc' },
    { ...plain!, sensor: 'edge', app_protocol: 'SMB' },
    { ...plain!, sensor: undefined, src_ip: '198.51.100.7', src_mac: 'aa:bb:cc:dd:ee:ff' },
  ];

  it.each([
    ['EDGE', [0, 1]],
    ['müll', [0]],
    ['MÜLL', [0]],
    ['smb', [1]],
    ['gesmb', []],
    ['Cabc', [0]],
    ['Cab', []],
    ['198.51.100.7', [2]],
    ['198.51.100.0/24', [2]],
    ['CC:DD', [2]],
    ['', [0, 1, 2]],
  ])('%s finds %j', (q, rows) => {
    expect(selected('network', records, { q, terms: [] })).toEqual(rows);
  });

  it('finds parts of DNS names', () => {
    const [first] = fc.sample(recordOf('dns'), { numRuns: 1, seed: 2 });
    const names = ['www.Example.com', 'example.org', undefined].map((query) => ({
      ...first!,
      query,
      answers: undefined,
      sensor: undefined,
    }));
    expect(selected('dns', names, { q: 'EXAMPLE.', terms: [] })).toEqual([0, 1]);
    expect(selected('dns', names, { q: 'comexample', terms: [] })).toEqual([]);
  });

  it('finds answers by their data, independent of the storage format', () => {
    const [first] = fc.sample(recordOf('dns'), { numRuns: 1, seed: 2 });
    const answers = ['cdn.Example.net', 'a "quoted" \\ text'].map((data) =>
      JSON.stringify([{ type: 'TXT', ttl: 300, data }]),
    );
    const names = { query: undefined, qtype: undefined, rcode_name: undefined, sensor: undefined };
    const records = answers.map((text) => ({ ...first!, ...names, answers: text }));
    const found = (q: string) => selected('dns', records, { q, terms: [] });
    expect(found('EXAMPLE.net')).toEqual([0]);
    expect(found('"Quoted" \\ ')).toEqual([1]);
    for (const q of ['ttl', 'data', 'type', 'txt', '300', '":"', '{', ',']) expect(found(q)).toEqual([]);
  });
});

it('a filter terminates for numbers that are too large to increment, and finds them', () => {
  const [plain] = [...connRecords(1)];
  const of = (...packets: number[]) => packets.map((dst_packets) => ({ ...plain!, dst_packets }));
  const wanted = { field: 'dst_packets', values: [2 ** 53, 1.8e19] };
  expect(selected('network', of(1.8e19), { terms: [wanted] })).toEqual([0]);
  expect(selected('network', of(1.8e19, 1.8e19), { terms: [{ ...wanted, negated: true }] })).toEqual([]);
  expect(selected('network', of(2 ** 53, 2 ** 53 + 2), { terms: [wanted] })).toEqual([0]);
});

it('without assets, asset filters match no events, and negated asset filters match all events', () => {
  const records = [...connRecords(3)];
  const values = ['0190a7b0-0000-7000-8000-000000000000'];
  const none = { field: 'asset_id', values, negated: true } as const;
  expect(selected('network', records, { terms: [none] })).toEqual([0, 1, 2]);
  expect(selected('network', records, { terms: [{ field: 'asset_id', values }] })).toEqual([]);
});

it('the parameter answer finds events by the data of an answer', () => {
  const [record] = fc.sample(recordOf('dns'), { numRuns: 1, seed: 3 });
  const answers = ['10.0.0.1', '10.0.0.12', 'a "quoted" \\ text'].map((data) => JSON.stringify([{ type: 'A', data }]));
  const records = answers.map((text) => ({ ...record!, answers: text }));
  for (const [row, value] of ['10.0.0.1', '10.0.0.12', 'a "quoted" \\ text'].entries()) {
    expect(selected('dns', records, { terms: [{ field: 'answer', values: [value] }] })).toEqual([row]);
  }
});
