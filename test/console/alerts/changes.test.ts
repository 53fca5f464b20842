import { describe, expect, test } from 'vitest';
import { decisions, describeChange, predicted, refusal, reverseOf } from '../../../src/console/pages/alerts/changes.ts';
import { isolateText } from '../../../src/console/ui/words.ts';
import { alertStatuses, mayBecome } from '../../../src/contract/vocabulary.ts';
import { someAlert } from './some-alert.ts';

describe('the reverse change', () => {
  test.each([
    ['resolved', undefined, { status: 'in_progress' }],
    ['suppressed', 'ana', { status: 'in_progress' }],
    ['in_progress', 'ana', { status: 'new', assignee: '' }],
    ['new', 'ana', { assignee: '' }],
    ['new', undefined, undefined],
    ['archived', 'ana', undefined],
  ] as const)('for an alert with the status %s and the assignee %s is %j', (status, assignee, change) => {
    const alert = someAlert({ status, ...(assignee !== undefined && { assignee }) });
    expect(reverseOf(alert)).toEqual(change);
  });

  test('is always allowed', () => {
    for (const status of alertStatuses) {
      const next = reverseOf({ status })?.status;
      if (next !== undefined) expect(mayBecome(status, next)).toBe(true);
    }
  });
});

test('the console explains exactly the status changes that the service rejects, with alternatives', () => {
  for (const from of alertStatuses)
    for (const to of alertStatuses) expect(refusal(from, to) === undefined).toBe(mayBecome(from, to));
  expect(refusal('suppressed', 'resolved')).toContain('in progress (i)');
  expect(refusal('archived', 'new')).toContain('final');
});

describe('the optimistic update of an alert', () => {
  test('applies the change, and removes the assignee for an empty name', () => {
    const alert = someAlert({ assignee: 'ana', silence_id: 'x', status: 'suppressed' });
    const next = predicted(alert, { status: 'in_progress', assignee: '', severity: 'high', note: 'seen' });
    expect(next).toMatchObject({ status: 'in_progress', severity: 'high', note_count: 1, version: 4 });
    expect(next).not.toHaveProperty('assignee');
    expect(next).not.toHaveProperty('silence_id');
    expect(alert).toMatchObject({ assignee: 'ana', status: 'suppressed' });
  });

  test('sets the verdict of an override', () => {
    expect(predicted(someAlert(), { ai_override: { verdict: 'benign', reason: 'a test' } }).verdict).toBe('benign');
  });
});

describe('decisions by other users', () => {
  const seen = someAlert({ assignee: 'ana' });

  test('do not include new occurrences and notes', () => {
    const later = { ...seen, count: 90, last_seen: '2026-11-20T11:00:00.000Z', version: 17, note_count: 2 };
    expect(decisions(seen, later)).toEqual([]);
  });

  test('are described by field', () => {
    const { assignee: _nobody, ...free } = seen;
    expect(decisions(seen, { ...free, status: 'in_progress', tags: ['vpn'] })).toEqual([
      'status is now in progress',
      'assignee is now none',
      `tags are now ${isolateText('vpn')}`,
    ]);
  });
});

test('the console describes a change', () => {
  expect(describeChange({ status: 'in_progress', assignee: 'ana' })).toBe(
    `in progress, assigned to ${isolateText('ana')}`,
  );
  expect(describeChange({ status: 'resolved', verdict: 'false_positive', note: 'x' })).toBe(
    'resolved, verdict false positive, note added',
  );
});
