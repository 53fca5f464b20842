import { expect, it } from 'vitest';
import { connRecords } from '../../bench/conn-records.ts';
import { EventBlock, openBlock, partStarts } from '../../src/events/format/block.ts';
import { BlockBuilder } from '../../src/events/format/block-builder.ts';
import { columnNames } from '../../src/events/format/columns.ts';
import { compileFilter } from '../../src/events/query/select.ts';
import type { NetworkRecord } from '../../src/events/records.ts';

const [plain] = [...connRecords(1)];
const rows = 600;

/** Returns a block of connections within 10.0.0.0/8, and an array that lists the parts of the block that are read. */
function watchedBlock() {
  const builder = new BlockBuilder('network', 1_700_000_000_000);
  for (let n = 0; n < rows; n++)
    builder.add({
      ...plain!,
      src_ip: `10.0.${n % 3}.${n % 200}`,
      dst_ip: `10.1.0.${n % 100}`,
      dst_port: 1000 + (n % 3),
      vlan: n === 0 ? undefined : 7,
      transport: 'tcp',
      app_protocol: n % 2 === 0 ? 'ssl' : 'http',
      connection_id: `C${n}`,
      severity: n % 2 === 0 ? 'low' : 'medium',
    } satisfies NetworkRecord);
  const buffer = builder.finish();
  const { header } = openBlock(buffer, 1);
  const starts = partStarts(header);
  const reads: string[] = [];
  const block = new EventBlock(header, 1, (column, kind) => {
    reads.push(`${columnNames.network[column]} ${kind}`);
    const start = starts[2 * column + (kind === 'codes' ? 0 : 1)]!;
    const length = kind === 'codes' ? header.codesBytes(column) : header.dictionaryBytes(column);
    return new Uint8Array(buffer, start, length);
  });
  return { block, reads };
}

const none: string[] = [];
const noneOf = (field: string, ...values: (string | number)[]) => ({ field, values, negated: true }) as const;

it.each([
  ['the only value of all rows', noneOf('transport', 'tcp'), 0, none],
  ['a value that no block has', noneOf('transport', 'udp'), rows, none],
  ['numbers beyond the largest number', noneOf('dst_port', 999, 1003), rows, none],
  ['every possible number', noneOf('dst_port', 1000, 1001, 1002), 0, ['dst_port codes']],
  ['the only number, missing in one row', noneOf('vlan', 7), 1, ['vlan codes']],
  ['every existing severity', noneOf('severity', 'low', 'medium'), 0, ['severity codes']],
  ['every existing text', noneOf('app_protocol', 'http', 'ssl'), 0, ['app_protocol codes']],
  ['all addresses', noneOf('src_ip', '10.0.0.0/16'), 0, ['src_ip dictionary']],
  ['addresses that are neither source nor destination', noneOf('ip', '192.0.2.0/24'), rows, none],
  ['all destination addresses', noneOf('ip', '10.1.0.0/16'), 0, ['dst_ip dictionary']],
  // The text filter of an id column shows that this id is absent.
  ['an absent id', noneOf('connection_id', 'Cx'), rows, ['connection_id codes']],
])('a negated term for %s finds the right rows and reads only the necessary parts', (_name, term, found, read) => {
  for (const use of ['select', 'count'] as const) {
    const { block, reads } = watchedBlock();
    const filter = compileFilter('network', { terms: [term] });
    const result = filter[use](block);
    expect(typeof result === 'number' ? result : result.length).toBe(found);
    expect([...new Set(reads)]).toEqual(read);
  }
});

it('a negated term for one address is counted from the counts of addresses, without reading the codes of rows', () => {
  const { block, reads } = watchedBlock();
  const one = compileFilter('network', { terms: [noneOf('src_ip', '10.0.0.0')] });
  expect(one.count(block)).toBe(rows - 1);
  expect(reads).toEqual(['src_ip dictionary']);
  expect(one.select(block)).toHaveLength(rows - 1);
});

it('a negated term is combined with other terms correctly', () => {
  const { block } = watchedBlock();
  const terms = [noneOf('app_protocol', 'http'), { field: 'dst_port', values: [1000, 1001] }, noneOf('dst_port', 1001)];
  const wanted = Array.from({ length: rows }, (_, n) => n).filter((n) => n % 2 === 0 && n % 3 === 0);
  expect([...compileFilter('network', { terms }).select(block)]).toEqual(wanted);
});
