import type { Asset } from '../../contract/resources/asset.ts';
import { within } from '../../database/grouped-rows.ts';
import { jsonPage } from '../../database/json-page.ts';
import { pageOf, type Row } from '../../database/lists/list.ts';
import { type AddressSpan, type AssetLookup, type Owner, ownerAt } from '../../events/asset-lookup.ts';
import type { ListPage, ListQuery } from '../../store/store.ts';
import { canonicalUuid } from '../../uuid.ts';
import { assetHistoryListOf, assetList, type NumberedRecord } from '../lists.ts';
import { type AssetRow, assetOf } from './asset-row.ts';
import { ownersOf } from './bindings.ts';
import type { InventoryTables } from './tables.ts';

export function getAsset({ assets }: InventoryTables, id: string): Asset | undefined {
  const key = canonicalUuid(id);
  const row = key === undefined ? undefined : assets.getStrict(key);
  return row && assetOf(row);
}

/** Returns one page of assets. Reads all assets, at 1 µs each. @throws INVALID_REQUEST like `pageOf`. */
export function listAssets(tables: InventoryTables, query: ListQuery, cancelled: () => boolean): ListPage {
  const { shown, ...rest } = pageOf(assetList, rows(tables), query, cancelled);
  const assets = shown.map(({ id }) => ({ id, type: assetList.type, attributes: getAsset(tables, id)! }));
  return { json: jsonPage(assets, query), ...rest };
}

function* rows({ assets }: InventoryTables): Generator<Row<AssetRow>> {
  for (const { key, value } of assets.getRange()) yield { id: key, item: value };
}

/** Returns one page of the history of an asset; empty if there is no such asset. */
export function listAssetHistory(
  { assetHistory }: InventoryTables,
  assetId: string,
  query: ListQuery,
  cancelled: () => boolean,
): ListPage {
  const asset = canonicalUuid(assetId) ?? '';
  const list = assetHistoryListOf(asset);
  const records = new Map<string, NumberedRecord>();
  for (const { key, value } of assetHistory.getRange(within<number>(asset))) {
    const [at, id, record] = value;
    records.set(id, { number: key[1], at, record });
  }
  const { shown, ...rest } = pageOf(
    list,
    Array.from(records, ([id, item]) => ({ id, item })),
    query,
    cancelled,
  );
  const resources = shown.map(({ id }) => {
    const { at, record } = records.get(id)!;
    const attributes = { asset_id: asset, at: new Date(at).toISOString(), ...record };
    return { id, type: list.type, attributes };
  });
  return { json: jsonPage(resources, query), ...rest };
}

/**
 * Returns the asset into which a merged asset was merged, at the end of the chain of merges; undefined if the asset was
 * not merged.
 */
export function mergedInto({ assetMerges }: InventoryTables, id: string): string | undefined {
  let into = assetMerges.get(canonicalUuid(id) ?? '');
  // Each merge is into an existing asset, so chains end.
  for (let next = into; next !== undefined; next = assetMerges.get(next)) into = next;
  return into;
}

/** Returns a lookup of owners of addresses, in the current read snapshot. */
export function assetLookup(tables: InventoryTables): AssetLookup {
  const owners = (ip: string): readonly Owner[] => {
    const row = tables.assetAddresses.get(ip);
    if (row === undefined) return [];
    const [asset_id, since, , until, , earlier] = row;
    const latest = { asset_id, since, until: until || undefined };
    if (earlier === 0) return ownersOf([latest]);
    const bindings = Array.from(tables.assetBindings.getRange(within<number>(ip)), ({ key, value }) => ({
      asset_id: value[0],
      since: key[1],
      until: value[2] || undefined,
    }));
    return ownersOf([...bindings, latest]);
  };
  return {
    owners,
    at: (ip, timeMs) => ownerAt(owners(ip), timeMs),
    ranges: (assetId) => {
      const id = canonicalUuid(assetId) ?? '';
      const spans: AddressSpan[] = [];
      for (const [, ip] of tables.assetAddressesOf.getKeys(within<string>(id)))
        for (const { asset_id, from, to } of owners(ip)) if (asset_id === id) spans.push({ ip, from, to });
      return spans;
    },
    generation: () => tables.assetCounters.get('generation') ?? 0,
  };
}
