import fc from 'fast-check';
import { expect, test } from 'vitest';
import { alertChanges } from '../../src/alerts/alert-changes.ts';
import { type Alert, AlertHistory } from '../../src/contract/resources/alert.ts';
import { validate } from '../../src/contract/validate.ts';
import { alertStatuses, priorities, severities, verdicts } from '../../src/contract/vocabulary.ts';
import { alertOf, idOf } from '../analytics/alerts.ts';

const ai = (verdict: NonNullable<Alert['verdict']>) => ({
  verdict,
  confidence: 0.5,
  model: 'm',
  reasons: [],
  at: '2026-11-20T00:00:00.000Z',
});

test('a new alert adds one history record, or two history records if a silence applies', () => {
  expect(alertChanges(undefined, alertOf())).toEqual([{ action: 'raised', to: 'high' }]);
  const recurred = alertOf({ previous_alert_id: idOf(1), silence_id: idOf(2), ai_verdict: ai('benign') });
  expect(alertChanges(undefined, recurred)).toEqual([
    { action: 'recurred', to: 'high' },
    { action: 'silenced', to: idOf(2) },
  ]);
});

test('history records name the summary alert when its coverage of an alert begins and when the coverage ends', () => {
  const folded = alertOf({ status: 'suppressed', folded_into: idOf(1) });
  expect(alertChanges(alertOf(), folded)).toEqual([
    { action: 'folded', to: idOf(1) },
    { action: 'status_changed', from: 'new', to: 'suppressed' },
  ]);
  expect(alertChanges(folded, alertOf())).toEqual([
    { action: 'unfolded', from: idOf(1) },
    { action: 'status_changed', from: 'suppressed', to: 'new' },
  ]);
});

test('further occurrences and a position in the log do not add history records', () => {
  const before = alertOf({ event_ids: [idOf(1)] });
  const after = {
    ...before,
    count: 2,
    last_seen: '2026-11-21T00:00:00.000Z',
    event_ids: [idOf(1), idOf(2)],
    tags: [...before.tags],
    confidence: 0.9,
    evidence: { a: 1 },
    transparency: { leaf_index: 1, tree_size: 2, leaf_hash: 'a'.repeat(64) },
  };
  expect(alertChanges(before, after)).toEqual([]);
});

test('each kind of change adds a history record of its own kind', () => {
  const before = alertOf({ tags: ['a', 'b'], silence_id: idOf(2), ai_verdict: ai('benign') });
  const { silence_id: _, ...rest } = before;
  const override = {
    verdict: 'true_positive',
    reason: 'seen',
    by: 'ana',
    at: '2026-11-20T12:00:00.000Z',
  } as const;
  const after: Alert = {
    ...rest,
    status: 'in_progress',
    verdict: 'true_positive',
    severity: 'critical',
    priority: 'critical',
    assignee: 'ana',
    ai_verdict: ai('suspicious'),
    override,
    tags: ['b', 'c'],
    note_count: 1,
  };
  expect(alertChanges(before, after)).toEqual([
    { action: 'unsilenced', from: idOf(2) },
    { action: 'status_changed', from: 'new', to: 'in_progress' },
    { action: 'verdict_set', to: 'true_positive' },
    { action: 'severity_changed', from: 'high', to: 'critical' },
    { action: 'priority_changed', to: 'critical' },
    { action: 'assigned', to: 'ana' },
    { action: 'triaged', from: 'benign', to: 'suspicious' },
    { action: 'overridden', from: 'suspicious', to: 'true_positive', reason: 'seen' },
    { action: 'tags_changed', added: ['c'], removed: ['a'] },
    { action: 'noted' },
  ]);
  const again = { ...after, override: { ...override, at: '2026-11-20T13:00:00.000Z' } };
  expect(alertChanges(after, again).map(({ action }) => action)).toEqual(['overridden']);
});

test('the attributes that users change can be derived from the history alone', () => {
  const states = fc.array(
    fc.record(
      {
        status: fc.constantFrom(...alertStatuses),
        verdict: fc.constantFrom(...verdicts),
        severity: fc.constantFrom(...severities),
        priority: fc.constantFrom(...priorities),
        assignee: fc.constantFrom('ana', 'ben'),
        silence_id: fc.constantFrom(idOf(1), idOf(2)),
        tags: fc.uniqueArray(fc.constantFrom('a', 'b', 'c')),
      },
      { requiredKeys: ['status', 'severity'] },
    ),
    { minLength: 1, maxLength: 8 },
  );
  fc.assert(
    fc.property(states, (all) => {
      const told: Record<string, unknown> = {};
      const tags = new Set<string>();
      let before = alertOf();
      for (const state of all) {
        const after = alertOf(state);
        for (const record of alertChanges(before, after)) {
          validate(AlertHistory, {
            alert_id: idOf(1),
            at: before.created_at,
            actor: { id: 'system' },
            ...record,
          });
          told[record.action.replace('unsilenced', 'silenced')] = record.to;
          for (const tag of record.removed ?? []) tags.delete(tag);
          for (const tag of record.added ?? []) tags.add(tag);
        }
        before = after;
      }
      expect(told.status_changed ?? 'new').toBe(before.status);
      expect(told.severity_changed ?? 'high').toBe(before.severity);
      expect(told.verdict_set).toBe(before.verdict);
      expect(told.priority_changed).toBe(before.priority);
      expect(told.assigned).toBe(before.assignee);
      expect(told.silenced).toBe(before.silence_id);
      expect([...tags].sort()).toEqual([...before.tags].sort());
    }),
  );
});
