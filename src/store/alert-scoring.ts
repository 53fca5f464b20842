import type { Alert } from '../contract/resources/alert.ts';
import type { Severity } from '../contract/resources/common.ts';

type Priority = NonNullable<Alert['priority']>;

/** Elastic's scale of rule risk, extended downwards: 21, 47, 73, 99 for low to critical. */
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
 * Risk of one alert, 0–100: the scale of its severity, halved as confidence falls from 1 to 0. A rule that says
 * nothing of its confidence counts as sure.
 */
export function riskScore(severity: Severity, confidence: number | undefined): number {
  return Math.round(baseRisk[severity] * (0.5 + 0.5 * (confidence ?? 1)));
}

/** The priority of an alert that nobody has prioritised. */
export function priorityOf(severity: Severity): Priority {
  return defaultPriority[severity];
}
