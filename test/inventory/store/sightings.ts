import type { Asset, AssetHistory } from '../../../src/contract/resources/asset.ts';
import { BlockBuilder } from '../../../src/events/format/block-builder.ts';
import type { NetworkRecord } from '../../../src/events/records.ts';
import type { Sighting } from '../../../src/inventory/model/sighting.ts';
import type { StoreReader } from '../../../src/store/store.ts';
import { batchOf, everything, type Opened, resources, start } from '../../store/opened.ts';
import { networkRecord } from '../../store/records.ts';

export const minute = 60_000;
export const macA = '00:1b:63:00:00:0a';
export const macB = '00:1b:63:00:00:0b';

export interface Host {
  readonly ip: string;
  readonly mac?: string;
  readonly at?: number;
}

/** Commits sightings of hosts, in this order. */
export async function see({ store }: Pick<Opened, 'store'>, ...hosts: readonly Host[]): Promise<void> {
  await sight(
    { store },
    hosts.map(
      ({ ip, mac, at = start }): Sighting => ({
        kind: 'host',
        ip,
        at,
        ...(mac === undefined ? {} : { mac }),
      }),
    ),
  );
}

export async function sight({ store }: Pick<Opened, 'store'>, sightings: readonly Sighting[]): Promise<void> {
  await store.commit(batchOf([], { sightings }));
}

/** Returns a block of established connections into the home networks. */
export function inbound(records: readonly Partial<NetworkRecord>[]): ArrayBuffer {
  const block = new BlockBuilder('network', 0);
  for (const record of records)
    block.add(networkRecord({ direction: 'inbound', conn_state: 'SF', state: 'closed', ...record }));
  return block.finish();
}

export type Listed = Asset & { readonly id: string };

export function assetsOf(reader: StoreReader): Listed[] {
  return resources<Asset>(reader.listAssets({ ...everything, sort: 'ip' })).map(({ id, attributes }) => ({
    id,
    ...attributes,
  }));
}

/** Returns the one asset that has this address now. */
export function holder(reader: StoreReader, ip: string): Listed {
  const found = assetsOf(reader).filter(({ ip_addresses }) => ip_addresses.includes(ip));
  if (found.length !== 1) throw new Error(`${found.length} assets have ${ip}`);
  return found[0]!;
}

/** Returns the history of an asset, oldest first. */
export function historyOf(reader: StoreReader, id: string): AssetHistory[] {
  return resources<AssetHistory>(reader.listAssetHistory(id, { ...everything, sort: 'at' })).map(
    ({ attributes }) => attributes,
  );
}
