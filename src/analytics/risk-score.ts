import type { Asset } from '../contract/resources/asset.ts';
import type { RiskScore } from '../contract/resources/risk-score.ts';
import {
  type Combined,
  combine,
  countedAlerts,
  evidenceAt,
  evidenceOf,
  halfLifeMs,
  probabilityOf,
  riskLevelOf,
  scoreOf,
} from '../inventory/model/asset-risk.ts';
import type { RiskyAlert, StoreReader } from '../store/store.ts';

/** Criticality used for alerts without an asset. */
const criticalityOfNone = 'medium' satisfies Asset['criticality'];

const method = [
  `An alert's risk score s is evidence −ln(1 − s/100), which halves every ${halfLifeMs / 86_400_000} days after it was last seen.`,
  'Alerts count while they are new, in progress or suppressed, unless their verdict is false_positive, benign, duplicate, test or insufficient_data.',
  `The evidence of an asset is the sum of the evidence of its alerts, highest first, the ith divided by i^1.5, for at most ${countedAlerts} alerts.`,
  'The odds of an asset, e^evidence − 1, are multiplied by its criticality: low 0.5, medium 1, high 1.5, critical 2.4; the score is 100 · odds / (1 + odds).',
  `Alerts at addresses without a known asset count together as one asset of ${criticalityOfNone} criticality.`,
  `The overall score combines these scores in the same way: highest first, the ith divided by i^1.5, at most ${countedAlerts} of them, at medium criticality. It is therefore at least the highest of them.`,
  'Points divide a score in proportion to the evidence that each part adds.',
].join(' ');

/** A group of alerts with a risk. */
interface GroupRisk {
  readonly probability: number;
  readonly score: number;
  readonly alerts: RiskScore['entities'][number]['alerts'];
}

/** Returns the risk of the network and of the assets most at risk, at `now` (epoch milliseconds). */
export function riskScore(reader: Pick<StoreReader, 'risks'>, { now }: { readonly now: number }): RiskScore {
  const { assets, total, unassigned } = reader.risks();
  const entities = assets
    .map(({ id, name, criticality, alerts }) => ({
      known: { asset_id: id, name, criticality },
      ...judge(alerts, criticality, now),
    }))
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score || b.probability - a.probability);
  const none = { known: undefined, ...judge(unassigned, criticalityOfNone, now) };
  const all = [...entities, ...(none.score > 0 ? [none] : [])];
  const combined = combine(all.map(({ probability }) => evidenceOf(100 * probability)));
  const score = scoreOf(probabilityOf(combined.evidence, 'medium'));
  const added = pointsOf(combined, score);
  const pointsBy = new Map(all.map((one, i) => [one, added[i]!]));
  const shown = (one: (typeof all)[number]) => ({
    score: one.score,
    level: riskLevelOf(one.score),
    points: pointsBy.get(one)!,
    alerts: one.alerts,
  });
  return {
    score,
    level: riskLevelOf(score),
    entities: entities.map((one) => ({ ...one.known, ...shown(one) })),
    entities_at_risk: total,
    ...(none.score > 0 ? { unassigned: shown(none) } : {}),
    method,
    as_of: new Date(now).toISOString(),
  };
}

function judge(alerts: readonly RiskyAlert[], criticality: Asset['criticality'], now: number): GroupRisk {
  const combined = combine(alerts.map((alert) => evidenceAt(alert, now)));
  const probability = probabilityOf(combined.evidence, criticality);
  const score = scoreOf(probability);
  const points = pointsOf(combined, score);
  const shown = alerts.map(({ id, title, severity, last_seen }, i) => {
    return { alert_id: id, title, severity, last_seen, points: points[i]! };
  });
  const counted = shown.filter((alert) => alert.points > 0).sort((a, b) => b.points - a.points);
  return { probability, score, alerts: counted };
}

/**
 * Divides a score into parts, in hundredths of a point, whose sum is exactly the score. Rounding errors are
 * carried over to the next part.
 */
function pointsOf({ evidence, shares }: Combined, score: number): number[] {
  let sum = 0;
  let given = 0;
  return shares.map((share) => {
    sum += share;
    const upTo = evidence === 0 ? 0 : Math.round((100 * score * sum) / evidence);
    const points = (upTo - given) / 100;
    given = upTo;
    return points;
  });
}
