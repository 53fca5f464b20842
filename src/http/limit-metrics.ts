import { type ErrorCode, ServiceError } from '../errors.ts';
import type { LimitName } from '../limits.ts';
import type { Metrics } from '../observability/metrics.ts';

/**
 * Returns the result of `work`, and counts the limit that caused a refusal, because threads and pools have no
 * metrics. `limits` maps error codes to limits. The HTTP server counts the limits of `byReason`.
 */
export async function withLimitMetrics<T>(
  metrics: Pick<Metrics, 'limitReached'>,
  limits: Partial<Record<ErrorCode, LimitName>>,
  work: Promise<T>,
): Promise<T> {
  try {
    return await work;
  } catch (error) {
    const limit = error instanceof ServiceError ? limits[error.code] : undefined;
    if (limit !== undefined && limitByReason(error) === undefined) metrics.limitReached(limit);
    throw error;
  }
}

/**
 * Limits that any operation may reach, by `details.reason`. The HTTP server counts them for all operations.
 */
const byReason: Readonly<Record<string, LimitName>> = {
  disk_full: 'minFreeDiskBytes',
  outbox_full: 'maxOutboxRows',
  receipts_full: 'maxReceipts',
  too_many_records: 'maxBodyRecords',
  too_many_items: 'maxBulkItems',
  policy_changes_wait: 'maxQueuedPolicyChanges',
};

/** Returns the limit that caused the refusal, by `details.reason`. */
export function limitByReason(error: unknown): LimitName | undefined {
  const reason = error instanceof ServiceError ? error.details?.reason : undefined;
  return typeof reason === 'string' && Object.hasOwn(byReason, reason) ? byReason[reason] : undefined;
}

/** Limits on lists that wait for a thread of the analytics pool, in total and per principal. */
export const queryLimits = {
  OVERLOADED: 'maxQueuedQueries',
  RATE_LIMITED: 'maxQueryShareOfPrincipal',
} as const;

/** Limits on tests and validations of rules that wait for a separate thread. */
export const ruleTaskLimits = {
  OVERLOADED: 'maxQueuedRuleTasks',
  RATE_LIMITED: 'maxRuleTasksPerPrincipal',
} as const;
