import type { Static } from './common.ts';
import { count, list, optional, part, real, shape, text, timestamp } from './fields.ts';

const weight = (description: string) =>
  part(
    {
      prior: real('Before anything was learned, in log-odds for a value of 1.'),
      now: real('As it is in effect.'),
    },
    description,
  );

export const TriageModel = shape('TriageModel', {
  model: text('Its name and version, as alerts carry it.'),
  verdicts: count('Verdicts of analysts that it has learned from: of each alert the one that it has now.'),
  features: list(
    part(
      {
        name: text('Its name.'),
        description: text('What it is; its value is from −1 to 1, and 0 where it does not apply.'),
        wrong: weight('How much it says that something is wrong.'),
        mistaken: weight('Where nothing is wrong: how much it says that the rule was mistaken.'),
        met: real('Sum of the squares of its values in what was learned from.', { minimum: 0 }),
      },
      'One thing that it looks at.',
    ),
    'What it looks at, in its order.',
  ),
  validation: part(
    {
      judged: count('Alerts whose verdict the model had told before it learned from it.'),
      exact: count('… and was the same.'),
      same_side: count('… and was another that says the same of whether something is wrong.'),
      opposite: count('… and said the contrary.'),
      abstained: count('… and said that it knew too little.'),
      accuracy: optional(
        real('Share of those that were not abstained from whose side was right.', { minimum: 0, maximum: 1 }),
      ),
    },
    'How often it would have been right: progressive validation.',
  ),
  histories: count('Rules and addresses whose verdicts are remembered.'),
  updated_at: optional(timestamp('When it last learned.')),
  method: text('How it judges and learns.'),
});
export type TriageModel = Static<typeof TriageModel>;
