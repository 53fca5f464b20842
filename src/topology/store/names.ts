import { riskLevelOf } from '../../inventory/model/asset-risk.ts';
import { type AssetRow, at, lines } from '../../inventory/store/asset-row.ts';
import type { InventoryTables } from '../../inventory/store/tables.ts';
import type { NodeName } from '../model/update.ts';

/** Returns the name of the asset that currently has the address; undefined if no asset has it. */
export function currentName(
  tables: Pick<InventoryTables, 'assets' | 'assetAddresses'>,
  ip: string,
): NodeName | undefined {
  const binding = tables.assetAddresses.get(ip);
  if (binding === undefined) return undefined;
  const [assetId, , , until] = binding;
  return until === 0 ? nameOfAsset(tables, assetId) : undefined;
}

export function nameOfAsset(
  tables: Pick<InventoryTables, 'assets' | 'assetAddresses'>,
  assetId: string,
): NodeName | undefined {
  const row = tables.assets.get(assetId);
  return row && { asset_id: assetId, label: row[at.name], risk_level: riskLevelOf(row[at.risk]) };
}

/** Returns the addresses whose asset, name or risk level differs before and after a change of an asset. */
export function renamedBy(before: AssetRow | undefined, after: AssetRow | undefined): string[] {
  const had = before === undefined ? [] : lines(before[at.ips]);
  const has = after === undefined ? [] : lines(after[at.ips]);
  if (before !== undefined && after !== undefined) {
    const isSame = before[at.name] === after[at.name] && riskLevelOf(before[at.risk]) === riskLevelOf(after[at.risk]);
    if (isSame && before[at.ips] === after[at.ips]) return [];
    if (isSame) return [...had.filter((ip) => !has.includes(ip)), ...has.filter((ip) => !had.includes(ip))];
  }
  return [...new Set([...had, ...has])];
}
