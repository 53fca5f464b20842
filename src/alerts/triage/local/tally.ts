import type { Alert } from '../../../contract/resources/alert.ts';

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

export type Verdict = NonNullable<Alert['verdict']>;

/**
 * Training targets by analyst verdict: the probability of malicious, and whether a harmless alert was a false
 * positive. Duplicates and tests describe only the single alert, and insufficient data describes nothing, so
 * these three verdicts are not used for training.
 */
export const lessons = {
  true_positive: { wrong: 1 },
  suspicious: { wrong: 0.75 },
  benign: { wrong: 0, mistaken: 0 },
  false_positive: { wrong: 0, mistaken: 1 },
  duplicate: undefined,
  test: undefined,
  insufficient_data: undefined,
} as const satisfies Record<Verdict, { readonly wrong: number; readonly mistaken?: number } | undefined>;

/** A verdict that is used for training. */
export type Taught = { [V in Verdict]: (typeof lessons)[V] extends undefined ? never : V }[Verdict];

export const teaches = (verdict: Verdict | undefined): verdict is Taught =>
  verdict !== undefined && lessons[verdict] !== undefined;

/**
 * Counts of verdicts on all alerts of one rule, or on the rule's alerts with one source or destination. Each
 * alert counts once, with its current verdict.
 */
export interface Tally {
  /** Number of malicious alerts; a suspicious alert counts as 0.75. */
  readonly wrong: number;
  readonly harmless: number;
  /** Number of false positives among the harmless alerts. */
  readonly mistaken: number;
}

export const noVerdicts: Tally = { wrong: 0, harmless: 0, mistaken: 0 };

/** Adds (`sign` 1) or removes (−1) an alert with this verdict. */
export function counted(tally: Tally, verdict: Taught, sign: 1 | -1): Tally {
  const { wrong } = lessons[verdict];
  const add = (before: number, by: number) => Math.max(0, before + sign * by);
  return {
    wrong: add(tally.wrong, wrong),
    harmless: add(tally.harmless, 1 - wrong),
    mistaken: add(tally.mistaken, verdict === 'false_positive' ? 1 : 0),
  };
}

export const verdictsIn = ({ wrong, harmless }: Tally): number => Math.round(wrong + harmless);

/**
 * Limits the certainty of a history to 33 to 1, because a rule with only false positives may still be right
 * once.
 */
export const maxLogOdds = 3.5;

/**
 * Returns the bounded log-odds of two counts under a uniform prior (Laplace's rule of succession); 0 without
 * verdicts.
 */
export function logOdds(yes: number, no: number): number {
  return Math.min(maxLogOdds, Math.max(-maxLogOdds, Math.log((yes + 1) / (no + 1))));
}
