import { type ErrorCode, ServiceError } from '../errors.ts';
import type { LimitName } from '../limits.ts';
import type { Metrics } from './metrics.ts';

/**
 * Passes on what `work` comes to, and counts a refusal by a limit that lies behind it: threads and pools have no
 * metrics of their own. `limits` tells which limit a code means there.
 */
export async function countingRefusals<T>(
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

/** Limits that any operation may meet, by the `details.reason` of the refusal; the front counts them for all. */
const byReason: Readonly<Record<string, LimitName>> = {
  disk_full: 'minFreeDiskBytes',
  outbox_full: 'maxOutboxRows',
  receipts_full: 'maxReceipts',
  too_many_records: 'maxBodyRecords',
  too_many_items: 'maxBulkItems',
  policy_changes_wait: 'maxQueuedPolicyChanges',
};

/** The limit that a refusal names by its reason. */
export function limitByReason(error: unknown): LimitName | undefined {
  const reason = error instanceof ServiceError ? error.details?.reason : undefined;
  return typeof reason === 'string' && Object.hasOwn(byReason, reason) ? byReason[reason] : undefined;
}

/** Lists are refused when too many wait for a thread, of all or of one principal. */
export const queryLimits = {
  OVERLOADED: 'maxQueuedQueries',
  RATE_LIMITED: 'maxQueryShareOfPrincipal',
} as const;

/** Tests and validations of rules wait for a thread of their own. */
export const ruleTaskLimits = {
  OVERLOADED: 'maxQueuedRuleTasks',
  RATE_LIMITED: 'maxRuleTasksPerPrincipal',
} as const;
