import { canonicalUuid } from '../../uuid.ts';
import type { AlertUpdate, GivenVerdict } from '../store.ts';
import type { AlertTables } from './alert-change.ts';

/**
 * Plans to replace the local verdict of `triagedAt` with that of another model. If the alert is gone or was
 * triaged again, the verdict is outdated and is ignored.
 */
export function planAiVerdict(
  { tables, alerts }: AlertTables,
  id: string,
  verdict: GivenVerdict,
  triagedAt: string,
  nowMs: number,
): () => AlertUpdate | undefined {
  const key = canonicalUuid(id);
  const row = key === undefined ? undefined : tables.alerts.getStrict(key);
  if (row?.alert.ai_verdict?.at !== triagedAt) return () => undefined;
  const alert = { ...row.alert, ai_verdict: { ...verdict, at: new Date(nowMs).toISOString() } };
  return () => alerts.save(row, { ...row, alert }, { id: 'system' }, nowMs);
}
