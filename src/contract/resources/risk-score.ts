import { limits } from '../../limits.ts';
import { criticalities } from '../vocabulary.ts';
import { riskLevel } from './asset.ts';
import { oneOf, type Static } from './common.ts';
import {
  between,
  count,
  list,
  optional,
  part,
  real,
  severity,
  shape,
  text,
  timestamp,
  uuid,
} from './fields.ts';

const points = (description: string) => real(description, { minimum: 0, maximum: 100 });

const contribution = part(
  {
    alert_id: uuid('The alert.'),
    title: text('Its title.'),
    severity: severity('How bad it would be.'),
    last_seen: timestamp('Last occurrence, in event time: from then on it decays.'),
    points: points('What it adds to the score: all together are the score, to rounding.'),
  },
  'One alert.',
);

const alerts = list(
  contribution,
  'What the score is made of, most first; what adds next to nothing is left out.',
);

/** What adds to the overall score, and how much. */
const contributor = {
  score: between(0, 100, 'Its score.'),
  level: riskLevel,
  points: points('What it adds to the overall score: all together are that score, to rounding.'),
  alerts,
};

export const RiskScore = shape('RiskScore', {
  score: between(0, 100, 'Risk of the whole network.'),
  level: riskLevel,
  entities: list(
    part(
      {
        asset_id: uuid('The asset.'),
        name: text('Its name.'),
        criticality: oneOf(criticalities, { description: 'How much it matters.' }),
        ...contributor,
      },
      'One asset.',
    ),
    'Assets at risk, highest first.',
    { maxItems: limits.maxShownRisks },
  ),
  entities_at_risk: count('Assets with a score above 0, shown or not.'),
  unassigned: optional(
    part(contributor, 'Alerts of no known asset, together, as of an asset of medium criticality.'),
  ),
  method: text('How the scores are computed.'),
  as_of: timestamp('Time for which it holds.'),
});
export type RiskScore = Static<typeof RiskScore>;
