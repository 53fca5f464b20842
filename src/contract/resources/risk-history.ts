import { limits } from '../../limits.ts';
import { windows } from '../vocabulary.ts';
import { riskLevel } from './asset.ts';
import { oneOf, type Static } from './common.ts';
import { between, list, optional, part, shape, timestamp } from './fields.ts';

export const RiskHistory = shape('RiskHistory', {
  window: oneOf(windows, { description: 'The length of time looked at.' }),
  from: timestamp('Its start.'),
  to: timestamp('Its end: now.'),
  score: between(0, 100, 'Risk of the asset at the end.'),
  level: riskLevel,
  highest: between(0, 100, 'The highest that it was in this time.'),
  points: list(
    part(
      {
        at: timestamp('From when on.'),
        score: between(0, 100, 'The score until the next point.'),
        highest: optional(
          between(
            0,
            100,
            'The highest between this point and the next, where it changed more often than is told.',
          ),
        ),
      },
      'A change.',
    ),
    'The score at the start, and each change since, in order of time. The clock of the service counts, not the times in alerts.',
    { maxItems: limits.maxRiskChanges * 2 },
  ),
});
export type RiskHistory = Static<typeof RiskHistory>;
