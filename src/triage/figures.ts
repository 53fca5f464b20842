import type { Alert } from '../contract/resources/alert.ts';

type Evidence = Alert['evidence'];

/** The power of ten that a count has reached: 0 for 1 to 9, 1 for 10 to 99. */
export const decadeOf = (count: number): number => Math.floor(Math.log10(Math.max(1, count)) + 1e-9);

/** What detectors call it: that it was answered, or how many answered. */
const answers = ['answered', 'targets_answered', 'ports_answered'] as const;

/** Whether what the detector saw was answered: 1, −1, undefined where it does not say. */
export function answeredOf(evidence: Evidence): 1 | -1 | undefined {
  for (const name of answers) {
    const answered = own(evidence, name);
    if (typeof answered === 'boolean') return answered ? 1 : -1;
    if (typeof answered === 'number' && Number.isFinite(answered)) return answered > 0 ? 1 : -1;
  }
  return undefined;
}

/** The score of the detector, 0 to 1. */
export function scoreOf(evidence: Evidence): number | undefined {
  const score = own(evidence, 'score');
  return typeof score === 'number' && score >= 0 && score <= 1 ? score : undefined;
}

/** In tenths, so that small changes of it are none. */
function roughScoreOf(evidence: Evidence): number | undefined {
  const score = scoreOf(evidence);
  return score === undefined ? undefined : Math.round(score * 10);
}

function own(evidence: Evidence, name: string): unknown {
  return evidence !== undefined && Object.hasOwn(evidence, name) ? evidence[name] : undefined;
}

/**
 * Whether something changed that a verdict depends on, so that it is due anew: not with every occurrence, nor with
 * notes, names and labels. Who gives a verdict has read what the model said, so that stays then.
 */
export function changedMaterially(before: Alert, after: Alert): boolean {
  return (
    before.verdict === after.verdict &&
    (before.severity !== after.severity ||
      before.confidence !== after.confidence ||
      before.status !== after.status ||
      decadeOf(before.count) !== decadeOf(after.count) ||
      (before.evidence !== after.evidence &&
        (answeredOf(before.evidence) !== answeredOf(after.evidence) ||
          roughScoreOf(before.evidence) !== roughScoreOf(after.evidence))))
  );
}
