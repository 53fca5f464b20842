import { limits } from '../../limits.ts';
import { windows } from '../vocabulary.ts';
import { riskLevel } from './asset.ts';
import { oneOf, type Static } from './common.ts';
import { between, list, optional, part, shape, timestamp } from './fields.ts';

export const RiskHistory = shape('RiskHistory', {
  window: oneOf(windows, 'Length of the time window.'),
  from: timestamp('Start of the window.'),
  to: timestamp('End of the window: now.'),
  score: between(0, 100, 'Risk score of the asset at the end of the window.'),
  level: riskLevel,
  highest: between(0, 100, 'Highest score in the window.'),
  points: list(
    part('A change of the score.', {
      at: timestamp('Time of the change.'),
      score: between(0, 100, 'Score until the next point.'),
      highest: optional(
        between(0, 100, 'Highest score between this point and the next, if some changes in between are left out.'),
      ),
    }),
    'Score at the start of the window and each change since, in order of time. Times are those of the service, not of the alerts.',
    { maxItems: limits.maxRiskChanges * 2 },
  ),
});
export type RiskHistory = Static<typeof RiskHistory>;
