import { riskLevelOf } from '../../../inventory/asset-risk.ts';
import type { NodeName } from '../../../topology/update.ts';
import { type AssetRow, at, lines } from '../../asset-row.ts';
import type { Tables } from '../tables.ts';

/** Returns the name of the asset that has this address now. */
export function currentName(tables: Tables, ip: string): NodeName | undefined {
  const binding = tables.assetAddresses.get(ip);
  if (binding === undefined) return undefined;
  const [assetId, , , until] = binding;
  return until === 0 ? nameOfAsset(tables, assetId) : undefined;
}

export function nameOfAsset(tables: Tables, assetId: string): NodeName | undefined {
  const row = tables.assets.get(assetId);
  return row && { asset_id: assetId, label: row[at.name], risk_level: riskLevelOf(row[at.risk]) };
}

/** Returns the addresses whose name changes when an asset changes. */
export function renamedBy(before: AssetRow | undefined, after: AssetRow | undefined): string[] {
  const had = before === undefined ? [] : lines(before[at.ips]);
  const has = after === undefined ? [] : lines(after[at.ips]);
  if (before !== undefined && after !== undefined) {
    const isSame =
      before[at.name] === after[at.name] && riskLevelOf(before[at.risk]) === riskLevelOf(after[at.risk]);
    if (isSame && before[at.ips] === after[at.ips]) return [];
    if (isSame) return [...had.filter((ip) => !has.includes(ip)), ...has.filter((ip) => !had.includes(ip))];
  }
  return [...new Set([...had, ...has])];
}
