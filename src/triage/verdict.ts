import type { Alert } from '../contract/resources/alert.ts';
import { type Case, features, percent } from './features.ts';
import type { Judged } from './model.ts';
import { type Verdict, verdictsIn } from './tally.ts';

export type AiVerdict = NonNullable<Alert['ai_verdict']>;

/** From this probability on that something is wrong, it is a true positive; from even odds on, suspicious. */
const certain = 0.85;
/** Verdicts of analysts on the same rule without which the model gives none of its own. */
const enoughVerdicts = 5;
/** The confidence where the model gives no verdict, with enough verdicts on the rule; with fewer it is less. */
const mostUndecided = 0.2;

/** Reasons that are told one by one. With what the rest add and the sum, six sentences. */
const toldReasons = 4;

/** Verdict, confidence and reasons of what the model found. */
export function verdictOf(
  judged: Judged,
  about: Case,
): Pick<AiVerdict, 'verdict' | 'confidence' | 'reasons'> {
  const verdict = chosen(judged, about);
  const confidence = confidenceOf(verdict, judged, about);
  return { verdict, confidence, reasons: reasonsOf(verdict, judged, about) };
}

/** Verdicts on other rules decide nothing, and what would be severe is never called harmless without a person. */
function chosen({ pWrong, pMistaken }: Judged, { rule, alert }: Case): Verdict {
  if (verdictsIn(rule) < enoughVerdicts) return 'insufficient_data';
  if (pWrong >= certain) return 'true_positive';
  if (pWrong >= 0.5) return 'suspicious';
  if (isSevere(alert)) return 'insufficient_data';
  return pMistaken >= 0.5 ? 'false_positive' : 'benign';
}

const isSevere = ({ severity }: Case['alert']): boolean => severity === 'high' || severity === 'critical';

/** The probability that the verdict is right; without a verdict, how little is known. */
function confidenceOf(verdict: Verdict, { pWrong, pMistaken }: Judged, { rule }: Case): number {
  const byVerdict: Partial<Record<Verdict, number>> = {
    true_positive: pWrong,
    suspicious: pWrong,
    false_positive: (1 - pWrong) * pMistaken,
    benign: (1 - pWrong) * (1 - pMistaken),
    insufficient_data: mostUndecided * Math.min(1, verdictsIn(rule) / enoughVerdicts),
  };
  return Math.round(1000 * byVerdict[verdict]!) / 1000;
}

/** Sentences with points, which add up to the sum in the last one: in hundredths, so that they do to the last digit. */
function reasonsOf(verdict: Verdict, { score, points, pWrong, pMistaken }: Judged, about: Case): string[] {
  const hundredths = (value: number) => Math.round(100 * value);
  const weighty = Array.from(points.keys())
    .filter((i) => i > 0 && hundredths(points[i]!) !== 0)
    .sort((a, b) => Math.abs(points[b]!) - Math.abs(points[a]!) || a - b)
    .slice(0, toldReasons);
  const told = weighty.map((i) => `${features[i]!.says(about)}: ${signed(hundredths(points[i]!))}.`);
  const rest = hundredths(score) - weighty.reduce((sum, i) => sum + hundredths(points[i]!), 0);
  if (rest !== 0) told.push(`Everything else together: ${signed(rest)}.`);
  const sum = `Sum: ${signed(hundredths(score))}, a probability of ${percent(pWrong)} that something is wrong`;
  const isHarmless = verdict === 'false_positive' || verdict === 'benign';
  const ofRule = isHarmless ? `; if nothing is, of ${percent(pMistaken)} that the rule was mistaken` : '';
  const ofUndecided = verdict === 'insufficient_data' ? `; ${whyUndecided(about)}` : '';
  return [...told, `${sum}${ofRule}${ofUndecided}.`];
}

function whyUndecided({ rule, alert }: Case): string {
  const judged = verdictsIn(rule);
  if (judged >= enoughVerdicts) return `an alert of ${alert.severity} severity is left to an analyst`;
  return `analysts have judged ${judged} alerts of this rule, and a verdict takes ${enoughVerdicts}`;
}

/** 123 → `+1.23`. */
function signed(hundredths: number): string {
  const sign = hundredths < 0 ? '−' : '+';
  return `${sign}${(Math.abs(hundredths) / 100).toFixed(2)}`;
}
