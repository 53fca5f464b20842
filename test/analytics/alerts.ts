import { compileAlertFilter } from '../../src/alerts/lists/alerts.ts';
import type { Alert } from '../../src/contract/resources/alert.ts';
import type { ListFilter, StoreReader } from '../../src/store/store.ts';

export const alertOf = (more: Partial<Alert> = {}): Alert => ({
  title: 'A name that we look for',
  rule_id: 'rule-1',
  rule_name: 'Bad name',
  rule_source: 'sigma',
  severity: 'high',
  status: 'new',
  asset_ids: [],
  event_ids: [],
  count: 1,
  first_seen: '2026-11-20T10:00:00.000Z',
  last_seen: '2026-11-20T11:00:00.000Z',
  dedup_key: 'k',
  tags: [],
  note_count: 0,
  created_at: '2026-11-20T10:00:01.000Z',
  updated_at: '2026-11-20T11:00:01.000Z',
  version: 1,
  ...more,
});

export const everyAlert: ListFilter = { terms: [] };
export const idOf = (n: number): string => `01900000-0000-7000-8000-${n.toString(16).padStart(12, '0')}`;

/** Alerts in memory with the store's reading interface. Tests change them between reads. */
export function readerOf(
  alerts: Map<string, Alert>,
): Pick<StoreReader, 'visitAlerts' | 'visitAlertFacts' | 'lastAlertId'> {
  const ids = () => [...alerts.keys()].sort();
  const reader: Pick<StoreReader, 'visitAlerts' | 'lastAlertId'> = {
    lastAlertId: () => ids().at(-1),
    visitAlerts(filter, { after, until, newestFirst = false, rows = Number.POSITIVE_INFINITY }, visit) {
      const wanted = compileAlertFilter(filter);
      let read = 0;
      for (const id of newestFirst ? ids().reverse() : ids()) {
        if (after !== undefined && id <= after) continue;
        if (until !== undefined && id > until) return undefined;
        read++;
        const alert = alerts.get(id)!;
        if ((wanted(alert) && visit(id, alert) === 'enough') || read >= rows) return id;
      }
      return undefined;
    },
  };
  return { ...reader, visitAlertFacts: reader.visitAlerts };
}
