import type { Alert } from '../contract/resources/alert.ts';

export type Verdict = NonNullable<Alert['verdict']>;

/**
 * What verdicts of analysts say: how likely something was wrong, and whether the rule was mistaken where nothing was.
 * Duplicates and tests say how an alert came to be and nothing of its kind, and whoever had too little to go by says
 * nothing: these three teach nothing.
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

/** A verdict that teaches. */
export type Taught = { [V in Verdict]: (typeof lessons)[V] extends undefined ? never : V }[Verdict];

export const teaches = (verdict: Verdict | undefined): verdict is Taught =>
  verdict !== undefined && lessons[verdict] !== undefined;

/** Verdicts on the alerts of one rule, all or those with one address at one end. Each alert counts once, with its verdict of now. */
export interface Tally {
  /** Alerts behind which something was wrong; one that was suspicious counts for 0.75. */
  readonly wrong: number;
  readonly harmless: number;
  /** Among the harmless, those with which the rule was mistaken. */
  readonly mistaken: number;
}

export const noVerdicts: Tally = { wrong: 0, harmless: 0, mistaken: 0 };

/** A tally with an alert of this verdict more (`sign` 1) or fewer (−1). */
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

/** No history is more certain than 33 to 1: a rule that always erred may still be right once. */
export const maxLogOdds = 3.5;

/** Log-odds of two counts under a uniform prior (Laplace's rule of succession), bounded; 0 for none. */
export function logOdds(yes: number, no: number): number {
  return Math.min(maxLogOdds, Math.max(-maxLogOdds, Math.log((yes + 1) / (no + 1))));
}
