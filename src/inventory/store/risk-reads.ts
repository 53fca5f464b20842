import type { AlertTables } from '../../alerts/store/tables.ts';
import { entryCount } from '../../database/rows.ts';
import type { AssetLookup } from '../../events/asset-lookup.ts';
import { limits } from '../../limits.ts';
import type { RiskView, RiskyAlert } from '../../store/store.ts';
import { gravestNowhere, gravestOf, type WeighingAlert } from './alert-entries.ts';
import { at } from './asset-row.ts';
import type { InventoryTables } from './tables.ts';

/** Returns the assets with the highest risk, at most `limits.maxShownRisks`, and the alerts that belong to no asset. */
export function readRisks(tables: InventoryTables & AlertTables, lookup: Pick<AssetLookup, 'ranges'>): RiskView {
  const { riskRanks, assets, openAlerts, alerts } = tables;
  const shown = (weighing: readonly WeighingAlert[]): RiskyAlert[] =>
    weighing.flatMap(({ id, score, rank }) => {
      const alert = alerts.get(id)?.alert;
      if (alert === undefined) return [];
      const { title, severity, last_seen } = alert;
      return { id, score, rank, title, severity, last_seen };
    });
  const risky = Array.from(riskRanks.getKeys({ limit: limits.maxShownRisks }), ([, id]) => {
    const row = assets.get(id);
    if (row === undefined) return undefined;
    const weighing = gravestOf(openAlerts, lookup.ranges(id)).found;
    return { id, name: row[at.name], criticality: row[at.criticality], alerts: shown(weighing) };
  });
  return {
    assets: risky.filter((asset) => asset !== undefined),
    total: entryCount(riskRanks),
    unassigned: shown(gravestNowhere(openAlerts)),
  };
}
