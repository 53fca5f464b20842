import type { Alert } from '../contract/resources/alert.ts';
import type { AlertStatus, Severity } from '../contract/vocabulary.ts';

type Priority = NonNullable<Alert['priority']>;

/** Elastic's risk scores for rules, extended downwards: 21, 47, 73 and 99 for low to critical. */
const baseRisk = {
  informational: 5,
  low: 21,
  medium: 47,
  high: 73,
  critical: 99,
} as const satisfies Record<Severity, number>;

const defaultPriority = {
  informational: 'low',
  low: 'low',
  medium: 'medium',
  high: 'high',
  critical: 'critical',
} as const satisfies Record<Severity, Priority>;

/**
 * Returns the risk of one alert, 0–100: the base of its severity, times a factor between 1 (full confidence)
 * and one half (no confidence). Unknown confidence counts as full.
 */
export function riskScore(severity: Severity, confidence: number | undefined): number {
  return Math.round(baseRisk[severity] * (0.5 + 0.5 * (confidence ?? 1)));
}

/**
 * For each status: whether the alert still needs work, and whether it contributes to risk. Suppressed alerts
 * contribute, because risk accrues before suppression.
 */
const byStatus = {
  new: { open: true, weighs: true },
  in_progress: { open: true, weighs: true },
  suppressed: { open: false, weighs: true },
  resolved: { open: false, weighs: false },
  archived: { open: false, weighs: false },
} as const satisfies Record<AlertStatus, { open: boolean; weighs: boolean }>;

/** For each verdict, whether the alert still indicates a problem. */
const stillWrong = {
  true_positive: true,
  suspicious: true,
  false_positive: false,
  benign: false,
  duplicate: false,
  test: false,
  insufficient_data: false,
} as const satisfies Record<NonNullable<Alert['verdict']>, boolean>;

export const isOpen = ({ status }: Pick<Alert, 'status'>): boolean => byStatus[status].open;

/** Returns whether an alert contributes to the risk of its assets. */
export const weighs = ({ status, verdict, risk_score = 0 }: Alert): boolean =>
  risk_score > 0 && byStatus[status].weighs && (verdict === undefined || stillWrong[verdict]);

/** Returns the default priority of an alert. */
export function priorityOf(severity: Severity): Priority {
  return defaultPriority[severity];
}
