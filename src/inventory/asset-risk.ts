import type { Asset, criticalities } from '../contract/resources/asset.ts';

/** By how much criticality multiplies the odds of the risk. */
const weights = { low: 0.5, medium: 1, high: 1.5, critical: 2 } as const satisfies Record<
  (typeof criticalities)[number],
  number
>;

/** Alerts that count: what comes after the 32 gravest weighs less than a hundredth. */
export const countedAlerts = 32;
/** No alert is certain: several grave ones remain graver than one. */
const maxProbability = 0.999;

/**
 * Risk of an asset, 0–100, by the risk scores of its open alerts (gravest first; those after `countedAlerts` don't
 * count). Each is taken as the probability that something is wrong, and the ith weighs as the power 1/i^1.5 of its
 * complement, so that one critical alert alone is a critical risk and a crowd of small ones isn't. Criticality then
 * multiplies the odds.
 */
export function assetRisk(scores: readonly number[], criticality: Asset['criticality']): number {
  let sound = 1;
  for (const [i, score] of scores.slice(0, countedAlerts).entries())
    sound *= (1 - Math.min(Math.max(score / 100, 0), maxProbability)) ** ((i + 1) ** -1.5);
  if (sound === 1) return 0;
  const odds = ((1 - sound) / sound) * weights[criticality];
  return Math.round((100 * odds) / (1 + odds));
}

export function riskLevelOf(score: number): Asset['risk_level'] {
  if (score >= 90) return 'critical';
  if (score >= 70) return 'high';
  return score >= 40 ? 'moderate' : 'low';
}
