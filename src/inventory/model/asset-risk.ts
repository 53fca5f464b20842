import type { Asset } from '../../contract/resources/asset.ts';
import type { criticalities } from '../../contract/vocabulary.ts';

type Criticality = (typeof criticalities)[number];

/**
 * Factors for the odds. With 2.4, a critical alert of the lowest confidence (50) makes the risk of a critical
 * asset high, and a single low alert (21) does not.
 */
const weights = { low: 0.5, medium: 1, high: 1.5, critical: 2.4 } as const satisfies Record<Criticality, number>;

/**
 * Half-life of an alert's evidence without further findings: a single alert of 99 falls to 90 after a week,
 * then to 68, 44 and 25.
 */
export const halfLifeMs = 7 * 24 * 3_600_000;
/** Maximum alerts that contribute to a score: each further alert would weigh less than a hundredth. */
export const countedAlerts = 32;
/** Maximum probability from one alert, so that several severe alerts weigh more than one severe alert. */
const maxProbability = 0.999;

/** The score and the rank of an alert. The rank does not change with time, because all alerts decay alike. */
export interface Weight {
  /** Risk score of the alert, 0–100. */
  readonly score: number;
  /** Result of `rankOf`; higher for more severe alerts. */
  readonly rank: number;
}

/** The combined evidence, and the contribution of each part in the order of the parts. */
export interface Combined {
  readonly evidence: number;
  readonly shares: readonly number[];
}

/**
 * Returns the evidence for a problem with a probability of `score` percent: −ln(1 − score/100), which is
 * additive for independent causes. Returns 0 for scores up to 0.
 */
export function evidenceOf(score: number): number {
  return score > 0 ? -Math.log1p(-Math.min(score / 100, maxProbability)) : 0;
}

/**
 * Returns the rank of an alert among others, independent of time: evidence equals 2^(rank − now/halfLife), so
 * the order of two alerts never changes.
 *
 * @param score - above 0
 * @param seenMs - time of the alert's last finding, epoch milliseconds
 */
export function rankOf(score: number, seenMs: number): number {
  return Math.log2(evidenceOf(score)) + seenMs / halfLifeMs;
}

/** Returns the evidence of an alert at a time, at most the evidence when the alert was last seen. */
export function evidenceAt({ score, rank }: Weight, nowMs: number): number {
  return Math.min(evidenceOf(score), 2 ** (rank - nowMs / halfLifeMs));
}

/**
 * Combines evidence: the i-th largest part has the weight i^−1.5, so that the sum of many small parts remains
 * small.
 */
export function combine(parts: readonly number[]): Combined {
  const gravest = Array.from(parts.keys()).sort((a, b) => parts[b]! - parts[a]!);
  const shares = parts.map(() => 0);
  let evidence = 0;
  for (const [i, place] of gravest.slice(0, countedAlerts).entries()) {
    shares[place] = parts[place]! * (i + 1) ** -1.5;
    evidence += shares[place];
  }
  return { evidence, shares };
}

/**
 * Returns the probability, 0 to 1, of a problem with an asset: the evidence as odds (e^evidence − 1),
 * multiplied by the weight of the criticality.
 */
export function probabilityOf(evidence: number, criticality: Criticality): number {
  const odds = Math.expm1(evidence) * weights[criticality];
  return odds / (1 + odds);
}

/** Converts a probability to a score, 0–100. */
export const scoreOf = (probability: number): number => Math.round(100 * probability);

/** Returns the risk of an asset, 0–100, at a time, from its alerts. */
export function assetRisk(alerts: readonly Weight[], criticality: Criticality, nowMs: number): number {
  const { evidence } = combine(alerts.map((alert) => evidenceAt(alert, nowMs)));
  return scoreOf(probabilityOf(evidence, criticality));
}

/** Time added so that a score has certainly fallen, despite rounding. */
const pastMs = 1000;

/**
 * Returns the time when the score of this evidence falls without new events, because the evidence of an asset
 * decays with the evidence of its alerts. Returns undefined for a score of 0.
 */
export function fallsAt(evidence: number, criticality: Criticality, nowMs: number): number | undefined {
  const score = scoreOf(probabilityOf(evidence, criticality));
  if (score === 0) return undefined;
  const least = (score - 0.5) / 100;
  const left = Math.log1p(least / (1 - least) / weights[criticality]);
  return nowMs + Math.ceil(halfLifeMs * Math.max(0, Math.log2(evidence / left))) + pastMs;
}

export function riskLevelOf(score: number): Asset['risk_level'] {
  if (score >= 90) return 'critical';
  if (score >= 70) return 'high';
  return score >= 40 ? 'moderate' : 'low';
}
