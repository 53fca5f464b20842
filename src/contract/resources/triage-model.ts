import type { Static } from './common.ts';
import { count, list, optional, part, real, shape, text, timestamp } from './fields.ts';

const weight = (description: string) =>
  part(description, {
    prior: real('Initial weight, in log-odds for a value of 1.'),
    now: real('Current weight.'),
  });

export const TriageModel = shape('TriageModel', {
  model: text('Name and version of the model, as in alerts.'),
  verdicts: count(
    'Number of analyst verdicts that the model has learned from; only the current verdict of each alert counts.',
  ),
  features: list(
    part('A feature.', {
      name: text('Name of the feature.'),
      description: text('Description of the feature. Values range from −1 to 1; 0 means not applicable.'),
      wrong: weight('Weight towards malicious.'),
      mistaken: weight(
        'Weight towards a false positive of the rule rather than benign activity, if the alert is not malicious.',
      ),
      met: real('Sum of the squared values of the feature in the training data.', { minimum: 0 }),
    }),
    'Features of the model, in order.',
  ),
  validation: part('Accuracy by progressive validation.', {
    judged: count('Number of alerts for which the model gave a verdict before it learned the verdict of the analyst.'),
    exact: count('Number of judged alerts for which the verdicts were equal.'),
    same_side: count(
      'Number of judged alerts for which the verdicts differed but agreed on whether the alert is malicious.',
    ),
    opposite: count('Number of judged alerts for which the verdicts contradicted each other.'),
    abstained: count('Number of judged alerts for which the model abstained with insufficient_data.'),
    accuracy: optional(
      real('Share of judged alerts on whose maliciousness the model was right, without abstentions.', {
        minimum: 0,
        maximum: 1,
      }),
    ),
  }),
  histories: count('Number of rules, and of rules with one address, for which verdicts are counted.'),
  updated_at: optional(timestamp('Time at which the model last learned.')),
  method: text('Method of the model.'),
});
export type TriageModel = Static<typeof TriageModel>;
