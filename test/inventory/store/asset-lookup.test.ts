import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Alert } from '../../../src/contract/resources/alert.ts';
import type { NetworkEvent } from '../../../src/contract/resources/network-event.ts';
import { ServiceError } from '../../../src/errors.ts';
import type { Owner } from '../../../src/events/asset-lookup.ts';
import { BlockBuilder } from '../../../src/events/format/block-builder.ts';
import type { EventListQuery, Store, StoreReader } from '../../../src/store/store.ts';
import { analyst, batchOf, everything, finding, opened, resources, start } from '../../store/opened.ts';
import { networkRecord } from '../../store/records.ts';

const ips = ['10.0.0.1', '10.0.0.2', '10.0.0.3', 'fd00::1'] as const;
const macs = ['00:1b:63:00:00:01', '00:1b:63:00:00:02', '00:1b:63:00:00:03'] as const;
const minute = 60_000;

/** An answered connection to one of the addresses, or a change of the n-th asset by a user. */
type Step =
  | { readonly kind: 'seen'; readonly ip: string; readonly mac: string | undefined; readonly at: number }
  | { readonly kind: 'merge' | 'split' | 'remove' | 'give' | 'take'; readonly n: number; readonly m: number };

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('seen' as const),
      ip: fc.constantFrom(...ips),
      mac: fc.constantFrom(undefined, ...macs),
      at: fc.nat(20),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constantFrom('merge' as const, 'split' as const, 'remove' as const, 'give' as const, 'take' as const),
      n: fc.nat(5),
      m: fc.nat(5),
    }),
  },
);

const idsOf = (reader: StoreReader) => resources(reader.listAssets(everything)).map(({ id }) => id);

async function take(one: Step, store: Store, reader: StoreReader): Promise<void> {
  if (one.kind === 'seen') {
    const builder = new BlockBuilder('network', start);
    builder.add(
      networkRecord({
        timestamp: start + one.at * minute,
        src_ip: '203.0.113.1',
        dst_ip: one.ip,
        dst_mac: one.mac,
        dst_port: 22,
        transport: 'tcp',
        conn_state: 'SF',
        direction: 'inbound',
      }),
    );
    const alert = finding({ src_ip: ips[0], dst_ip: one.ip, timestamp: start + one.at * minute });
    await store.commit(batchOf([alert], { blocks: [builder.finish()] }));
    return;
  }
  const ids = idsOf(reader);
  const id = ids[one.n % ids.length];
  if (id === undefined) return;
  const { ip_addresses, mac_addresses } = reader.getAsset(id)!;
  switch (one.kind) {
    case 'merge':
      await store.mergeAssets(id, ids[one.m % ids.length]!, analyst);
      return;
    case 'split':
      await store.splitAsset(id, [...ip_addresses, ...mac_addresses].slice(0, 1), analyst);
      return;
    case 'remove':
      await store.removeAsset(id);
      return;
    case 'give':
      await store.changeAsset(id, { ip_addresses: [...ip_addresses, ips[one.m % ips.length]!] }, analyst);
      return;
    case 'take':
      await store.changeAsset(id, { ip_addresses: ip_addresses.slice(1) }, analyst);
  }
}

/** Takes a step, and ignores the error if the step is not possible in the current state. */
async function attempt(one: Step, store: Store, reader: StoreReader): Promise<void> {
  try {
    await take(one, store, reader);
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
  }
}

/** Checks that all reads agree about the owners of addresses. Returns the owners and the generation. */
function checked(reader: StoreReader): { generation: number; owners: Map<string, readonly Owner[]> } {
  const { assets } = reader;
  assets.refresh();
  const generation = assets.generation();
  const owners = new Map(ips.map((ip) => [ip as string, assets.owners(ip)]));
  const known = new Set(idsOf(reader));
  for (const [ip, spans] of owners) {
    for (const [n, { asset_id, from, to }] of spans.entries()) {
      expect(known).toContain(asset_id);
      expect(from).toBeLessThan(to);
      if (n > 0) expect(from).toBeGreaterThanOrEqual(spans[n - 1]!.to);
      expect(assets.ranges(asset_id)).toContainEqual({ ip, from, to });
    }
  }
  for (const id of known)
    for (const { ip, from, to } of assets.ranges(id)) expect(owners.get(ip)).toContainEqual({ asset_id: id, from, to });
  return { generation, owners };
}

/** Checks that lists by asset find the events that name it. */
function checkEvents(reader: StoreReader): void {
  const list = (values?: string[]) => {
    const terms = values === undefined ? [] : [{ field: 'dst_asset_id', values }];
    const query: EventListQuery = {
      table: 'network',
      filter: { terms },
      order: 'asc',
      per_page: 1000,
      page: 1,
    };
    return resources<NetworkEvent>(reader.listEvents(query));
  };
  const all = list();
  for (const { attributes } of all)
    expect(attributes.dst_asset_id).toBe(reader.assets.at(attributes.dst_ip, Date.parse(attributes.timestamp)));
  for (const id of idsOf(reader))
    expect(list([id])).toEqual(all.filter(({ attributes }) => attributes.dst_asset_id === id));
}

/**
 * Checks alerts as `checkEvents` checks events. An alert concerns the assets of both its source and its
 * target.
 */
function checkAlerts(reader: StoreReader): void {
  const list = (values?: string[]) =>
    resources<Alert>(
      reader.listAlerts({
        ...everything,
        terms: values === undefined ? [] : [{ field: 'asset_id', values }],
      }),
    );
  const all = list();
  for (const { id, attributes } of all) {
    const { src_ip, dst_ip, last_seen, asset_ids } = attributes;
    const owners = [src_ip, dst_ip].map((ip) => reader.assets.at(ip!, Date.parse(last_seen)));
    expect(asset_ids).toEqual([...new Set(owners.filter((owner) => owner !== undefined))]);
    expect(reader.getAlert(id)?.asset_ids).toEqual(asset_ids);
  }
  for (const id of idsOf(reader))
    expect(list([id])).toEqual(all.filter(({ attributes }) => attributes.asset_ids.includes(id)));
}

test('owners, ranges, events and alerts agree after any steps, and the generation changes whenever owners change', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 25, size: 'max' }), async (steps) => {
      const { store, reader } = opened();
      let before = checked(reader);
      for (const one of steps) {
        await attempt(one, store, reader);
        const now = checked(reader);
        expect(now.generation).toBeGreaterThanOrEqual(before.generation);
        if (now.generation === before.generation) expect(now.owners).toEqual(before.owners);
        before = now;
      }
      checkEvents(reader);
      checkAlerts(reader);
    }),
    { numRuns: 25 },
  );
});
