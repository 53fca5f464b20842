import type { Alert } from '../../../contract/resources/alert.ts';

type Evidence = Alert['evidence'];

/** Returns the decimal exponent of a count: 0 for 1 to 9, 1 for 10 to 99. */
export const decadeOf = (count: number): number => Math.floor(Math.log10(Math.max(1, count)) + 1e-9);

/** Names of evidence values that show whether a destination answered, or how many did. */
const answers = ['answered', 'targets_answered', 'ports_answered'] as const;

/** Returns 1 if a destination answered, −1 if none did, and undefined if unknown. */
export function answeredOf(evidence: Evidence): 1 | -1 | undefined {
  for (const name of answers) {
    const answered = own(evidence, name);
    if (typeof answered === 'boolean') return answered ? 1 : -1;
    if (typeof answered === 'number' && Number.isFinite(answered)) return answered > 0 ? 1 : -1;
  }
  return undefined;
}

/** Returns the score of the detector, from 0 to 1; undefined without a valid score. */
export function scoreOf(evidence: Evidence): number | undefined {
  const score = own(evidence, 'score');
  return typeof score === 'number' && score >= 0 && score <= 1 ? score : undefined;
}

/** Returns the score in tenths, so that small changes do not count as changes. */
function roughScoreOf(evidence: Evidence): number | undefined {
  const score = scoreOf(evidence);
  return score === undefined ? undefined : Math.round(score * 10);
}

function own(evidence: Evidence, name: string): unknown {
  return evidence !== undefined && Object.hasOwn(evidence, name) ? evidence[name] : undefined;
}

/**
 * Returns whether a change requires a new verdict of the model. Most occurrences, notes, assignees and tags do
 * not. When an analyst sets a verdict, the verdict of the model that the analyst has seen is kept.
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
