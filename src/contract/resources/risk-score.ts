import { riskLevel } from './asset.ts';
import type { Static } from './common.ts';
import { between, list, part, real, shape, text, timestamp, uuid } from './fields.ts';

const contribution = part(
  { alert_id: uuid('The alert.'), title: text('Its title.'), points: real('What it adds to the score.') },
  'One alert.',
);

export const RiskScore = shape('RiskScore', {
  score: between(0, 100, 'Risk of the whole network.'),
  level: riskLevel,
  entities: list(
    part(
      {
        asset_id: uuid('The asset.'),
        name: text('Its name.'),
        score: between(0, 100, 'Its score.'),
        level: riskLevel,
        alerts: list(contribution, 'What the score is made of, most first.'),
      },
      'One asset.',
    ),
    'Assets at risk, highest first.',
  ),
  method: text('How the scores are computed.'),
  as_of: timestamp('Time for which it holds.'),
});
export type RiskScore = Static<typeof RiskScore>;
