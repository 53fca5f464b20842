import { severities } from '../vocabulary.ts';
import { oneOf, type Static } from './common.ts';
import { anyObject, count, flag, list, optional, shape, text } from './fields.ts';

/** A detection rule, in the words of Sigma. */
export const Rule = shape('Rule', {
  title: text('What it detects, in a line.'),
  level: oneOf(severities, { description: 'Severity of its findings.' }),
  status: optional(
    oneOf(['stable', 'test', 'experimental', 'deprecated', 'unsupported'], {
      description: 'How ripe it is.',
    }),
  ),
  logsource: anyObject('Which events it looks at: category, product, service.'),
  source: text('The rule as written.'),
  enabled: flag('Whether it is applied.'),
  hits: count('Findings since it was loaded.'),
  errors: list(text('An error.'), 'Why it cannot be applied; empty where it can.'),
});
export type Rule = Static<typeof Rule>;
