import type { Alert } from '../../../contract/resources/alert.ts';
import { type Case, features, percent } from './features.ts';
import type { ModelScore } from './model.ts';
import { type Verdict, verdictsIn } from './tally.ts';

export type AiVerdict = NonNullable<Alert['ai_verdict']>;

/** Minimum probability of malicious for the verdict true positive; for suspicious, the minimum is 0.5. */
const certain = 0.85;
/** Number of analyst verdicts on the same rule that the model requires. */
const enoughVerdicts = 5;
/**
 * Confidence of an undecided verdict with enough verdicts on the rule. The confidence is lower with fewer
 * verdicts.
 */
export const mostUndecided = 0.2;

/**
 * Maximum number of features listed as reasons. Together with the remaining features and the sum, there are six
 * sentences.
 */
const maxListedFeatures = 4;

/** Returns the verdict of the model with confidence and reasons. */
export function verdictOf(score: ModelScore, about: Case): Pick<AiVerdict, 'verdict' | 'confidence' | 'reasons'> {
  const verdict = chosen(score, about);
  const confidence = confidenceOf(verdict, score, about);
  return { verdict, confidence, reasons: reasonsOf(verdict, score, about) };
}

/**
 * Chooses the verdict, if there are enough verdicts on the same rule. Severe alerts are never rated harmless
 * without an analyst.
 */
function chosen({ pWrong, pMistaken }: ModelScore, { rule, alert }: Case): Verdict {
  if (verdictsIn(rule) < enoughVerdicts) return 'insufficient_data';
  if (pWrong >= certain) return 'true_positive';
  if (pWrong >= 0.5) return 'suspicious';
  if (isSevere(alert)) return 'insufficient_data';
  return pMistaken >= 0.5 ? 'false_positive' : 'benign';
}

const isSevere = ({ severity }: Case['alert']): boolean => severity === 'high' || severity === 'critical';

/**
 * Returns the probability that the verdict is right. For insufficient data, returns a low value that grows with
 * the number of verdicts.
 */
function confidenceOf(verdict: Verdict, { pWrong, pMistaken }: ModelScore, { rule }: Case): number {
  const byVerdict: Partial<Record<Verdict, number>> = {
    true_positive: pWrong,
    suspicious: pWrong,
    false_positive: (1 - pWrong) * pMistaken,
    benign: (1 - pWrong) * (1 - pMistaken),
    insufficient_data: mostUndecided * Math.min(1, verdictsIn(rule) / enoughVerdicts),
  };
  return Math.round(1000 * byVerdict[verdict]!) / 1000;
}

/**
 * Returns sentences with points that add up to the sum in the last sentence. Points are rounded to hundredths
 * first, so that they add up exactly.
 */
function reasonsOf(verdict: Verdict, { score, points, pWrong, pMistaken }: ModelScore, about: Case): string[] {
  const hundredths = (value: number) => Math.round(100 * value);
  const heaviest = Array.from(points.keys())
    .filter((i) => i > 0 && hundredths(points[i]!) !== 0)
    .sort((a, b) => Math.abs(points[b]!) - Math.abs(points[a]!) || a - b)
    .slice(0, maxListedFeatures);
  const sentences = heaviest.map((i) => `${features[i]!.says(about)}: ${signed(hundredths(points[i]!))}.`);
  const rest = hundredths(score) - heaviest.reduce((sum, i) => sum + hundredths(points[i]!), 0);
  if (rest !== 0) sentences.push(`All other features: ${signed(rest)}.`);
  const sum = `Sum: ${signed(hundredths(score))}, ${percent(pWrong)} likely malicious`;
  const isHarmless = verdict === 'false_positive' || verdict === 'benign';
  const ofRule = isHarmless ? `; if not malicious, ${percent(pMistaken)} likely a false positive` : '';
  const ofUndecided = verdict === 'insufficient_data' ? `; ${whyUndecided(about)}` : '';
  return [...sentences, `${sum}${ofRule}${ofUndecided}.`];
}

function whyUndecided({ rule, alert }: Case): string {
  const judged = verdictsIn(rule);
  if (judged >= enoughVerdicts) return `alerts of ${alert.severity} severity need an analyst`;
  return `a verdict needs ${enoughVerdicts} analyst verdicts on alerts of this rule, so far ${judged}`;
}

/** Returns hundredths as a signed text: 123 → `+1.23`. */
function signed(hundredths: number): string {
  const sign = hundredths < 0 ? '−' : '+';
  return `${sign}${(Math.abs(hundredths) / 100).toFixed(2)}`;
}
