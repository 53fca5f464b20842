import type { Alert } from '../../../src/console/pages/alerts/question.ts';

/** Returns an alert in the format of the API, with `changes` applied to its defaults. */
export const someAlert = (changes: Partial<Alert> = {}): Alert => ({
  title: 'Vertical scan of 192.0.2.7',
  rule_id: 'behaviour.port-scan',
  rule_name: 'Port scan',
  rule_source: 'behaviour',
  severity: 'medium',
  status: 'new',
  asset_ids: [],
  event_ids: [],
  count: 3,
  first_seen: '2026-11-20T10:00:00.000Z',
  last_seen: '2026-11-20T10:05:00.000Z',
  dedup_key: 'key',
  tags: [],
  note_count: 0,
  created_at: '2026-11-20T10:00:01.000Z',
  updated_at: '2026-11-20T10:05:01.000Z',
  version: 4,
  ...changes,
});
