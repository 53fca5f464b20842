import type { Alert } from '../contract/resources/alert.ts';
import { type Case, features, percent } from './features.ts';
import type { Judged } from './model.ts';
import { type Verdict, verdictsIn } from './tally.ts';

export type AiVerdict = NonNullable<Alert['ai_verdict']>;

/** From this probability on that something is wrong it is taken as certain enough to say so … */
const certain = 0.85;
/** … or to be suspicious; and below this one, that nothing is. Between them the model says that it knows too little. */
const suspicious = 0.6;
const harmless = 0.3;
/** With as many verdicts on the same rule it says what is likelier, however close. */
const enoughVerdicts = 5;

/** Reasons that are told one by one. With what the rest add and the sum, six sentences. */
const toldReasons = 4;

/** Verdict, confidence and reasons of what the model found. */
export function verdictOf(
  judged: Judged,
  about: Case,
): Pick<AiVerdict, 'verdict' | 'confidence' | 'reasons'> {
  const verdict = chosen(judged, verdictsIn(about.rule) >= enoughVerdicts);
  return { verdict, confidence: confidenceOf(verdict, judged), reasons: reasonsOf(verdict, judged, about) };
}

function chosen({ pWrong, pMistaken }: Judged, knowsRule: boolean): Verdict {
  if (pWrong >= certain) return 'true_positive';
  if (pWrong >= suspicious || (knowsRule && pWrong >= 0.5)) return 'suspicious';
  if (pWrong > harmless && !knowsRule) return 'insufficient_data';
  return pMistaken >= 0.5 ? 'false_positive' : 'benign';
}

/** The probability that the verdict is right; of too little to go by, how even the odds are. */
function confidenceOf(verdict: Verdict, { pWrong, pMistaken }: Judged): number {
  const byVerdict: Partial<Record<Verdict, number>> = {
    true_positive: pWrong,
    suspicious: pWrong,
    false_positive: (1 - pWrong) * pMistaken,
    benign: (1 - pWrong) * (1 - pMistaken),
    insufficient_data: 1 - Math.abs(2 * pWrong - 1),
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
  return [...told, `${sum}${ofRule}.`];
}

/** 123 → `+1.23`. */
function signed(hundredths: number): string {
  const sign = hundredths < 0 ? '−' : '+';
  return `${sign}${(Math.abs(hundredths) / 100).toFixed(2)}`;
}
