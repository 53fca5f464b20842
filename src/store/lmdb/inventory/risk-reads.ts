import type { AssetLookup } from '../../../events/asset-lookup.ts';
import { limits } from '../../../limits.ts';
import { at } from '../../asset-row.ts';
import type { RiskView, RiskyAlert } from '../../store.ts';
import { entryCount, type Tables } from '../tables.ts';
import { gravestNowhere, gravestOf, type WeighingAlert } from './alert-entries.ts';

/** Returns the assets at risk by rank: only the assets that are shown are read, however many there are. */
export function readRisks(tables: Tables, lookup: Pick<AssetLookup, 'ranges'>): RiskView {
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
