import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Alert } from '../../src/contract/resources/alert.ts';
import { withAssets } from '../../src/events/alert-assets.ts';
import { type AssetLookup, ownerAt } from '../../src/events/asset-lookup.ts';
import { CachedAssets } from '../../src/events/cached-assets.ts';
import { type EventBlock, openBlock } from '../../src/events/format/block.ts';
import { BlockAssets } from '../../src/events/format/block-assets.ts';
import { BlockBuilder } from '../../src/events/format/block-builder.ts';
import { tables } from '../../src/events/format/columns.ts';
import { compileFilter } from '../../src/events/query/select.ts';
import type { DnsRecord, NetworkRecord, Table } from '../../src/events/records.ts';
import { readEvent } from '../../src/events/resource.ts';
import { limits } from '../../src/limits.ts';
import { addressBytes, printAddress } from '../../src/net/ip.ts';
import { assetIds, Bindings, bindingsOf } from './bindings.ts';
import { maybeNegated, recordOf } from './oracle.ts';

const start = 1_700_000_000_000;
const addresses = ['10.0.0.1', '10.0.0.2', '10.0.0.9', '::ffff:10.0.0.1', '2001:DB8::1', '2001:db8::2'];
/** Bounds of bindings; events lie on, between and next to these bounds. */
const times = [0, start, start + 1, start + 500, start + 60_000];
const eventTimes = [1, start - 1, ...times, start + 10, start + 59_999, start + 60_001];

const recordsOf = (table: Table) => {
  const ends = {
    timestamp: fc.constantFrom(...eventTimes),
    src_ip: fc.constantFrom(...addresses),
    dst_ip: fc.constantFrom(...addresses),
  };
  const record = fc.tuple(recordOf(table), fc.record(ends)).map(([one, more]) => ({ ...one, ...more }));
  return fc.array(record, { minLength: 1, maxLength: 30 });
};

function blockOf(table: Table, records: readonly (NetworkRecord | DnsRecord)[]): EventBlock {
  const builder = new BlockBuilder(table, start);
  for (const record of records) builder.add(record as never);
  return openBlock(builder.finish(), 1);
}

const canonical = (text: string) => printAddress(addressBytes(text)!);

describe.each(tables)('the assets of %s events', (table) => {
  const fields = ['asset_id', 'src_asset_id', 'dst_asset_id'] as const;

  it('are the owners of the addresses at the time of the event, and filters match them after owners change', () => {
    const cases = fc.record({
      records: recordsOf(table),
      before: bindingsOf(addresses, times),
      after: bindingsOf(addresses, times),
      field: fc.constantFrom(...fields),
      values: fc.uniqueArray(fc.constantFrom(...assetIds), { minLength: 1, maxLength: 3 }),
      upper: fc.boolean(),
      negated: fc.boolean(),
    });
    fc.assert(
      fc.property(cases, ({ records, before, after, field, values, upper, negated }) => {
        const bindings = new Bindings();
        const block = blockOf(table, records);
        const given = values.map((id) => (upper ? id.toUpperCase() : id));
        const compiled = compileFilter(table, { terms: [maybeNegated({ field, values: given }, negated)] }, bindings);
        for (const state of [before, after]) {
          bindings.replace(state);
          const assets = new BlockAssets(block, bindings);
          const wanted = records.flatMap((record, row) => {
            const { attributes } = readEvent(block, row, assets);
            const src = bindings.at(canonical(record.src_ip), record.timestamp);
            const dst = bindings.at(canonical(record.dst_ip), record.timestamp);
            expect([attributes.src_asset_id, attributes.dst_asset_id]).toEqual([src, dst]);
            const of = { asset_id: [src, dst], src_asset_id: [src], dst_asset_id: [dst] }[field];
            return of.some((id) => id !== undefined && values.includes(id)) !== negated ? [row] : [];
          });
          expect([...compiled.select(block)]).toEqual(wanted);
          expect(compiled.count(block)).toBe(wanted.length);
        }
      }),
      { numRuns: 300 },
    );
  });

  it('are absent without bindings, and filters match no event', () => {
    const [record] = fc.sample(recordsOf(table), { numRuns: 1, seed: 1 });
    const block = blockOf(table, record!);
    expect(readEvent(block, 0).attributes).not.toHaveProperty('src_asset_id');
    for (const field of fields)
      expect(compileFilter(table, { terms: [{ field, values: [assetIds[0]!] }] }).count(block)).toBe(0);
  });
});

it('the owner from the bindings of one address equals the owner from all bindings', () => {
  fc.assert(
    fc.property(bindingsOf(addresses, times), fc.constantFrom(...eventTimes), (list, time) => {
      const bindings = new Bindings(list);
      for (const ip of addresses.map(canonical)) expect(ownerAt(bindings.owners(ip), time)).toBe(bindings.at(ip, time));
    }),
  );
});

it('cached owners change only with a refresh', () => {
  const [one, other] = assetIds as [string, string];
  const bindings = new Bindings([{ ip: '10.0.0.1', asset_id: one, since: 0 }]);
  const cached = new CachedAssets(bindings);
  cached.refresh();
  expect(cached.at('10.0.0.1', start)).toBe(one);
  bindings.replace([{ ip: '10.0.0.1', asset_id: other, since: 0 }]);
  expect([cached.at('10.0.0.1', start), cached.generation()]).toEqual([one, 1]);
  cached.refresh();
  cached.refresh();
  expect([cached.at('10.0.0.1', start), cached.generation()]).toEqual([other, 2]);
});

it('the cache of owners is cleared at its limit, and stays correct', () => {
  const [one] = assetIds as [string];
  const asked = new Map<string, number>();
  const bindings = new Bindings([{ ip: '10.0.0.1', asset_id: one, since: 0 }]);
  const counting: AssetLookup = {
    at: bindings.at.bind(bindings),
    owners(ip) {
      asked.set(ip, (asked.get(ip) ?? 0) + 1);
      return bindings.owners(ip);
    },
    ranges: bindings.ranges.bind(bindings),
    generation: () => 1,
  };
  const cached = new CachedAssets(counting);
  for (let n = 1; n <= limits.maxCachedOwners + 1; n++) cached.at(`10.${n >> 16}.${(n >> 8) & 255}.${n & 255}`, start);
  expect([cached.at('10.0.0.1', start), asked.get('10.0.0.1')]).toEqual([one, 2]);
});

it('an alert refers to the assets that had its addresses when it was last seen, each once', () => {
  const [one, other] = assetIds as [string, string];
  const bindings = new Bindings([
    { ip: '10.0.0.1', asset_id: one, since: 0 },
    { ip: '10.0.0.1', asset_id: other, since: start },
    { ip: '10.0.0.2', asset_id: one, since: 0 },
  ]);
  const idsOf = (src_ip: string | undefined, dst_ip: string | undefined, time: number) => {
    const alert = { src_ip, dst_ip, last_seen: new Date(time).toISOString(), asset_ids: [] };
    return withAssets(alert as unknown as Alert, bindings).asset_ids;
  };
  expect(idsOf('10.0.0.1', '10.0.0.2', start - 1)).toEqual([one]);
  expect(idsOf('10.0.0.1', '10.0.0.2', start)).toEqual([other, one]);
  expect(idsOf('203.0.113.1', '10.0.0.1', start)).toEqual([other]);
  expect(idsOf(undefined, undefined, start)).toEqual([]);
});
