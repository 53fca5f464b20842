import type { Case } from '../../../../src/alerts/triage/local/features.ts';
import { noVerdicts } from '../../../../src/alerts/triage/local/tally.ts';
import type { Alert } from '../../../../src/contract/resources/alert.ts';

const time = '2026-11-20T00:00:00.000Z';

export function alert(changes: Partial<Alert> = {}): Alert {
  return {
    title: 'SSH guessing',
    rule_id: 'r-1',
    rule_name: 'SSH guessing',
    rule_source: 'sigma',
    severity: 'medium',
    status: 'new',
    asset_ids: [],
    event_ids: [],
    count: 1,
    first_seen: time,
    last_seen: time,
    dedup_key: 'k',
    tags: [],
    note_count: 0,
    created_at: time,
    updated_at: time,
    version: 1,
    ...changes,
  };
}

export function about(changes: Partial<Alert> = {}, more: Partial<Case> = {}): Case {
  return {
    alert: alert(changes),
    srcHome: undefined,
    dstHome: undefined,
    flood: false,
    criticality: undefined,
    previous: undefined,
    rule: noVerdicts,
    source: noVerdicts,
    target: noVerdicts,
    ...more,
  };
}
