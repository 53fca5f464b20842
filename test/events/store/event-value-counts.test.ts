/** Value counts of events equal a plain count over the listed resources. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, it, onTestFinished } from 'vitest';
import { dnsEventValuesQuery, networkEventValuesQuery } from '../../../src/contract/count-parameters.ts';
import { openDatabase } from '../../../src/database/lmdb.ts';
import { BlockBuilder } from '../../../src/events/format/block-builder.ts';
import { tables } from '../../../src/events/format/columns.ts';
import type { EventFilter } from '../../../src/events/query/filter.ts';
import type { Table } from '../../../src/events/records.ts';
import { EventStore } from '../../../src/events/store/event-store.ts';
import { assetIds, Bindings } from '../bindings.ts';
import { recordOf, termOf } from '../oracle.ts';

type Attributes = Readonly<Record<string, unknown>>;

const names = { network: networkEventValuesQuery, dns: dnsEventValuesQuery } as const;
const namesOf = (table: Table) => (names[table].properties.by as unknown as { enum: string[] }).enum;

function open(table: Table, cancelled = () => false) {
  const folder = mkdtempSync(join(tmpdir(), 'candor-values-'));
  const env = openDatabase(join(folder, 'siem.mdb'));
  onTestFinished(async () => {
    await env.close();
    rmSync(folder, { recursive: true });
  });
  const assets = new Bindings([
    { ip: '10.0.0.1', asset_id: assetIds[0]!, since: 0 },
    { ip: '10.0.0.2', asset_id: assetIds[0]!, since: 0 },
    { ip: '192.168.1.1', asset_id: assetIds[1]!, since: 1_700_000_000_000 },
  ]);
  const events = new EventStore(env, cancelled, assets);
  for (let block = 0; block < 8; block++) {
    const builder = new BlockBuilder(table, 1_700_000_000_999);
    for (const record of fc.sample(recordOf(table), { numRuns: 1 + 9 * block, seed: block }))
      builder.add(record as never);
    env.transactionSync(() => events.append(builder.finish()));
  }
  const list = (filter: EventFilter) => {
    const { json } = events.list({ table, filter, order: 'asc', per_page: 1000, page: 1 });
    return (JSON.parse(new TextDecoder().decode(json)) as { attributes: Attributes }[]).map(
      ({ attributes }) => attributes,
    );
  };
  return { events, list };
}

/** Returns the values of an event, as the contract defines them. */
function valuesOf(event: Attributes, by: string): readonly string[] {
  const of = {
    ip: ['src_ip', 'dst_ip'],
    asset_id: ['src_asset_id', 'dst_asset_id'],
  }[by] ?? [by];
  const found =
    by === 'answer'
      ? ((event.answers as { data: string }[] | undefined) ?? []).map(({ data }) => data)
      : by === 'app_protocol'
        ? ((event.app_protocols as string[] | undefined) ?? [])
        : of.map((name) => event[name]).filter((value) => value !== undefined);
  const texts = found.map((value) =>
    ['query', 'src_mac', 'dst_mac'].includes(by) ? String(value).toLowerCase() : String(value),
  );
  return [...new Set(texts)];
}

it.each(tables)(
  'values of %s events are counted exactly, for any attribute and filter',
  (table) => {
    const { events, list } = open(table);
    const all = list({ terms: [] });
    expect(all.length).toBeGreaterThan(200);
    const cases = fc.record({
      by: fc.constantFrom(...namesOf(table)),
      limit: fc.constantFrom(1, 5, 100),
      filter: fc.record(
        {
          from: fc.constantFrom(0, 1, 1_700_000_000_001),
          to: fc.constantFrom(1, 1_700_000_060_000),
          terms: fc.array(termOf(all), { maxLength: 2 }),
        },
        { requiredKeys: ['terms'] },
      ),
    });
    fc.assert(
      fc.property(cases, ({ by, limit, filter }) => {
        const matching = list(filter);
        const counts = new Map<string, number>();
        for (const event of matching)
          for (const value of valuesOf(event, by)) counts.set(value, (counts.get(value) ?? 0) + 1);
        const sorted = [...counts].sort(([a, x], [b, y]) => y - x || (a < b ? -1 : 1));
        const rest = sorted.slice(limit).reduce((sum, [, count]) => sum + count, 0);
        expect(events.valueCounts({ table, filter, by, limit })).toEqual({
          of: `${table}_event`,
          by,
          total: matching.length,
          absent: matching.filter((event) => valuesOf(event, by).length === 0).length,
          values: sorted.slice(0, limit).map(([value, count]) => ({ value, count })),
          distinct: counts.size,
          other: rest,
          complete: true,
        });
      }),
      { numRuns: 120 },
    );
  },
  60_000,
);

it.each(tables.flatMap((table) => namesOf(table).map((by) => [table, by] as const)))(
  'each counted value of %s events by %s is accepted by the filter, which finds the counted number of events',
  (table, by) => {
    const { events } = open(table);
    const { values, total } = events.valueCounts({ table, filter: { terms: [] }, by, limit: 100 });
    expect(total).toBeGreaterThan(0);
    for (const { value, count } of values) {
      // Parameters must not be empty.
      if (value === '') continue;
      const filter = { terms: [{ field: by, values: [value] }] };
      expect([value, events.list({ table, filter, order: 'asc', per_page: 1, page: 1 }).total]).toEqual([value, count]);
    }
  },
);

it('a count that is cancelled between two blocks fails with CANCELLED', () => {
  let left = Number.POSITIVE_INFINITY;
  const { events } = open('network', () => left-- <= 0);
  const filter = { terms: [{ field: 'transport', values: ['tcp'] }] };
  const asked = { table: 'network', filter } as const;
  left = 3;
  expect(() => events.valueCounts({ ...asked, by: 'src_ip', limit: 1 })).toThrow(
    expect.objectContaining({ code: 'CANCELLED' }),
  );
  left = 3;
  expect(() => events.histogram({ ...asked, buckets: 5, now: 0 })).toThrow(
    expect.objectContaining({ code: 'CANCELLED' }),
  );
});
