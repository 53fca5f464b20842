import { assetLookup } from './asset-reads.ts';
import { lines, at as places } from './asset-row.ts';
import type { InventoryTables } from './tables.ts';

/**
 * Checks that the tables of assets agree. Each address refers to existing assets, which also refer to the address. Each
 * address has the recorded number of earlier bindings, in order. Each MAC address of an asset is owned by the asset.
 *
 * @throws Error describing the inconsistency.
 */
export function checkAssets(tables: InventoryTables): void {
  const { assets, assetAddresses, assetAddressesOf, assetBindings, assetMacs } = tables;
  const { owners } = assetLookup(tables);
  let named = 0;
  let earlierBindings = 0;
  for (const { key: ip, value } of assetAddresses.getRange()) {
    const [holder, , , until, , earlier] = value;
    earlierBindings += earlier;
    const all = owners(ip);
    const ids = new Set(all.map(({ asset_id }) => asset_id));
    named += ids.size;
    for (const id of ids)
      if (!assets.doesExist(id) || !assetAddressesOf.doesExist([id, ip]))
        throw new Error(`address ${ip} belonged to asset ${id}, which does not list it`);
    if (all.some(({ from, to }) => from >= to)) throw new Error(`the owners of address ${ip} overlap`);
    const isCurrent = lines(assets.get(holder)![places.ips]).includes(ip);
    if (isCurrent !== (until === 0))
      throw new Error(`only one of address ${ip} and asset ${holder} refers to the other`);
  }
  if (named !== assetAddressesOf.getKeysCount() || earlierBindings !== assetBindings.getKeysCount())
    throw new Error('there are bindings without an address row');
  for (const { key: id, value } of assets.getRange()) {
    for (const ip of lines(value[places.ips]))
      if (assetAddresses.get(ip)?.[0] !== id) throw new Error(`address ${ip} of asset ${id} belongs to another asset`);
    for (const mac of lines(value[places.macs]))
      if (assetMacs.get(mac)?.[0] !== id) throw new Error(`MAC address ${mac} of asset ${id} belongs to another asset`);
  }
  for (const { key: mac, value } of assetMacs.getRange()) {
    const row = value[0] === '' ? undefined : assets.get(value[0]);
    if (value[0] !== '' && (row === undefined || !lines(row[places.macs]).includes(mac)))
      throw new Error(`MAC address ${mac} belongs to asset ${value[0]}, which does not list it`);
  }
}
