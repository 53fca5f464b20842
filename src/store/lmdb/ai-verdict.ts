import { canonicalUuid } from '../../uuid.ts';
import type { AlertUpdate, GivenVerdict } from '../store.ts';
import type { AlertTables } from './alert-change.ts';

/**
 * Plans that another model's verdict takes the place of the local one of `triagedAt`. Where the alert is gone or was
 * triaged again, the verdict is of something that is no more, and nothing happens.
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
