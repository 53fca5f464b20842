import type { RiskHistory } from '../contract/resources/risk-history.ts';
import { riskLevelOf } from '../inventory/model/asset-risk.ts';
import type { StoreReader } from '../store/store.ts';
import { type WindowQuery, windowStart } from './window.ts';

/** Returns the changes of an asset's risk; undefined if there is no such asset. */
export function riskHistory(
  reader: Pick<StoreReader, 'getAsset' | 'riskHistory'>,
  { assetId, window, now }: WindowQuery & { readonly assetId: string },
): RiskHistory | undefined {
  const score = reader.getAsset(assetId)?.risk_score;
  if (score === undefined) return undefined;
  const from = windowStart(window, now);
  const { held = score, changes } = reader.riskHistory(assetId, from, now);
  const [first] = changes;
  const all = first?.at === from ? changes : [{ at: from, score: held, highest: held }, ...changes];
  return {
    window,
    from: new Date(from).toISOString(),
    to: new Date(now).toISOString(),
    score,
    level: riskLevelOf(score),
    highest: Math.max(score, ...all.map(({ highest }) => highest)),
    points: all.map((change) => ({
      at: new Date(change.at).toISOString(),
      score: change.score,
      ...(change.highest > change.score ? { highest: change.highest } : {}),
    })),
  };
}
