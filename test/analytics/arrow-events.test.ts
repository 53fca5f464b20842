import fc from 'fast-check';
import { expect, it } from 'vitest';
import { arrowEvents, arrowPage } from '../../src/analytics/arrow/page.ts';
import { routeOf } from '../../src/contract/routes.ts';
import { eventValues } from '../../src/events/event-values.ts';
import { openBlock } from '../../src/events/format/block.ts';
import { BlockAssets } from '../../src/events/format/block-assets.ts';
import { BlockBuilder } from '../../src/events/format/block-builder.ts';
import { tables } from '../../src/events/format/columns.ts';
import { writeEventJson } from '../../src/events/resource.ts';
import { columnsOf } from '../../src/http/export-list.ts';
import { Bindings, bindingsOf } from '../events/bindings.ts';
import { recordOf } from '../events/oracle.ts';

const lists = { network: 'listNetworkEvents', dns: 'listDnsEvents' } as const;
const addresses = ['10.0.0.1', '10.0.0.2', '2001:db8::1'];
const times = [0, 1_700_000_000_000];

it.each(tables)('%s events are encoded to the same bytes from their columns as from their JSON', (table) => {
  const columns = columnsOf(routeOf(lists[table]));
  const ends = fc.record({ src_ip: fc.constantFrom(...addresses), dst_ip: fc.constantFrom(...addresses) });
  const record = fc.tuple(recordOf(table), ends).map(([one, more]) => ({ ...one, ...more }));
  const cases = fc.record({
    records: fc.array(fc.oneof(recordOf(table), record), { maxLength: 40 }),
    bound: bindingsOf(addresses, times),
  });
  fc.assert(
    fc.property(cases, ({ records, bound }) => {
      const builder = new BlockBuilder(table, 1_700_000_000_999);
      for (const one of records) builder.add(one as never);
      const block = openBlock(builder.finish(), 7);
      const assets = new BlockAssets(block, new Bindings(bound));
      const rows = records.map((_, row) => ({ block, row, assets }));
      const json = rows.map(({ row }) => `${writeEventJson(block, row, assets)}\n`).join('');
      const part = { columns, isFirst: true, isLast: true };
      const reader = {
        exportEventColumns: (_query: unknown, attributes: readonly string[]) => ({
          count: rows.length,
          columns: attributes.map((attribute) => rows.map(eventValues(table, attribute))),
        }),
      };
      const { bytes } = arrowEvents(reader, { table, filter: { terms: [] }, order: 'asc', columns });
      expect(Buffer.compare(bytes, arrowPage({ lines: new TextEncoder().encode(json), ...part }))).toBe(0);
    }),
    { numRuns: 50 },
  );
});
