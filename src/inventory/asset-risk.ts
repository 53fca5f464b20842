import type { Asset } from '../contract/resources/asset.ts';
import type { criticalities } from '../contract/vocabulary.ts';

type Criticality = (typeof criticalities)[number];

/**
 * By how much criticality multiplies the odds. With 2.4 a critical alert of the least confidence (50) is a high risk of
 * a critical asset, and one low alert (21) is still a low one.
 */
const weights = { low: 0.5, medium: 1, high: 1.5, critical: 2.4 } as const satisfies Record<
  Criticality,
  number
>;

/** In this time without news the evidence of an alert halves: one alone of 99 is at 90 a week later, then 68, 44, 25. */
export const halfLifeMs = 7 * 24 * 3_600_000;
/** Alerts that count: what comes after the 32 gravest weighs less than a hundredth. */
export const countedAlerts = 32;
/** No alert is certain: several grave ones remain graver than one. */
const maxProbability = 0.999;

/** The score of an alert, and its place among others, which holds for all times as all decay alike. */
export interface Weight {
  /** 0–100. */
  readonly score: number;
  /** As `rankOf` gives it; graver ones have more. */
  readonly rank: number;
}

/** What was combined: how much it is together, and how much each part adds, in the same order. */
export interface Combined {
  readonly evidence: number;
  readonly shares: readonly number[];
}

/**
 * Evidence of something that is wrong with a probability of `score` percent: −ln(1 − score/100), which is additive where
 * causes are independent. 0 for whatever is not above 0.
 */
export function evidenceOf(score: number): number {
  return score > 0 ? -Math.log1p(-Math.min(score / 100, maxProbability)) : 0;
}

/**
 * Where an alert stands among others, at whatever time: evidence is 2^(rank − now/halfLife), so that of two alerts one
 * is always the graver.
 *
 * @param score - above 0
 * @param seenMs - when there was last news of it, epoch milliseconds
 */
export function rankOf(score: number, seenMs: number): number {
  return Math.log2(evidenceOf(score)) + seenMs / halfLifeMs;
}

/** Evidence of an alert at a time: what it was when it was seen, or less. */
export function evidenceAt({ score, rank }: Weight, nowMs: number): number {
  return Math.min(evidenceOf(score), 2 ** (rank - nowMs / halfLifeMs));
}

/** Evidence together: the ith gravest weighs i^−1.5, so that a crowd of small ones stays small. */
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
 * The probability, 0 to 1, that something is wrong with an asset: its evidence as odds, e^evidence − 1, multiplied by
 * what its criticality weighs.
 */
export function probabilityOf(evidence: number, criticality: Criticality): number {
  const odds = Math.expm1(evidence) * weights[criticality];
  return odds / (1 + odds);
}

/** A probability as score, 0–100. */
export const scoreOf = (probability: number): number => Math.round(100 * probability);

/** The risk of an asset, 0–100, at a time, by its alerts. */
export function assetRisk(alerts: readonly Weight[], criticality: Criticality, nowMs: number): number {
  const { evidence } = combine(alerts.map((alert) => evidenceAt(alert, nowMs)));
  return scoreOf(probabilityOf(evidence, criticality));
}

/** To be sure to be past the time at which a score falls, whatever was rounded. */
const pastMs = 1000;

/**
 * When the score of this evidence will be lower than it is, unless something happens: evidence of an asset halves as
 * that of each of its alerts does. Undefined for a score of 0.
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
