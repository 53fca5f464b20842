import { lessons, type Taught, type Verdict } from './tally.ts';

/** Result of comparing the model's verdict with an analyst's later verdict. */
export type ValidationOutcome = 'exact' | 'same_side' | 'opposite' | 'abstained';

export function outcomeOf(said: Verdict, found: Taught): ValidationOutcome {
  if (said === found) return 'exact';
  const lesson = lessons[said];
  if (lesson === undefined) return 'abstained';
  return lesson.wrong > 0.5 === lessons[found].wrong > 0.5 ? 'same_side' : 'opposite';
}

export type Outcomes = Readonly<Record<ValidationOutcome, number>>;
export const noOutcomes: Outcomes = { exact: 0, same_side: 0, opposite: 0, abstained: 0 };

export function withOutcome(outcomes: Outcomes, outcome: ValidationOutcome, sign: 1 | -1): Outcomes {
  return { ...outcomes, [outcome]: Math.max(0, outcomes[outcome] + sign) };
}
