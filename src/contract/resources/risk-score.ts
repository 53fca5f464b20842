import { limits } from '../../limits.ts';
import { criticalities } from '../vocabulary.ts';
import { riskLevel } from './asset.ts';
import { oneOf, type Static } from './common.ts';
import { between, count, list, optional, part, real, severity, shape, text, timestamp, uuid } from './fields.ts';

const points = (description: string) => real(description, { minimum: 0, maximum: 100 });

const contribution = part('Contribution of one alert.', {
  alert_id: uuid('Identifier of the alert.'),
  title: text('Title of the alert.'),
  severity: severity('Severity of the alert.'),
  last_seen: timestamp('Time of the last occurrence, in event time. The contribution decays from this time.'),
  points: points('Contribution to the score. The contributions add up to the score, except for rounding.'),
});

const alerts = list(contribution, 'Contributions to the score, largest first; negligible ones are left out.');

/** A contributor to the overall score. */
const contributor = {
  score: between(0, 100, 'Risk score of the contributor.'),
  level: riskLevel,
  points: points('Contribution to the overall score. The contributions add up to that score, except for rounding.'),
  alerts,
};

export const RiskScore = shape('RiskScore', {
  score: between(0, 100, 'Risk score of the whole network.'),
  level: riskLevel,
  entities: list(
    part('An asset at risk.', {
      asset_id: uuid('Identifier of the asset.'),
      name: text('Name of the asset.'),
      criticality: oneOf(criticalities, 'Criticality of the asset.'),
      ...contributor,
    }),
    'Assets at risk, highest first.',
    { maxItems: limits.maxShownRisks },
  ),
  entities_at_risk: count('Number of assets with a score above 0, including those not listed.'),
  unassigned: optional(
    part('All alerts without a known asset, scored as one asset of medium criticality.', contributor),
  ),
  method: text('How the scores are computed.'),
  as_of: timestamp('Time at which the scores were computed.'),
});
export type RiskScore = Static<typeof RiskScore>;
