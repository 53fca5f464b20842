import type { GivenVerdict } from '../../store/store.ts';
import { canonicalUuid } from '../../uuid.ts';
import type { AlertParts } from './alert-change.ts';

/**
 * Plans to replace the local verdict that was set at `triagedAt` with the verdict of another model. The plan returns
 * false, and ignores the new verdict, if the alert was removed or has been triaged again.
 */
export function planAiVerdict(
  { tables, alerts }: AlertParts,
  id: string,
  verdict: GivenVerdict,
  triagedAt: string,
  nowMs: number,
): () => boolean {
  const key = canonicalUuid(id);
  const row = key === undefined ? undefined : tables.alerts.getStrict(key);
  if (row?.alert.ai_verdict?.at !== triagedAt) return () => false;
  const alert = { ...row.alert, ai_verdict: { ...verdict, at: new Date(nowMs).toISOString() } };
  return () => {
    alerts.save(row, { ...row, alert }, { id: 'system' }, nowMs);
    return true;
  };
}
