import { describe, expect, test } from 'vitest';
import { decisions, predicted, refusal, takenBack, told } from '../../../src/console/pages/alerts/changes.ts';
import { foreign } from '../../../src/console/ui/words.ts';
import { alertStatuses, mayBecome } from '../../../src/contract/vocabulary.ts';
import { someAlert } from './some-alert.ts';

describe('taking back', () => {
  test.each([
    ['resolved', undefined, { status: 'in_progress' }],
    ['suppressed', 'ana', { status: 'in_progress' }],
    ['in_progress', 'ana', { status: 'new', assignee: '' }],
    ['new', 'ana', { assignee: '' }],
    ['new', undefined, undefined],
    ['archived', 'ana', undefined],
  ] as const)('of an alert that is %s and assigned to %s', (status, assignee, change) => {
    const alert = someAlert({ status, ...(assignee !== undefined && { assignee }) });
    expect(takenBack(alert)).toEqual(change);
  });

  test('is never refused', () => {
    for (const status of alertStatuses) {
      const next = takenBack({ status })?.status;
      if (next !== undefined) expect(mayBecome(status, next)).toBe(true);
    }
  });
});

test('a refusal is told exactly where the service refuses, with what can be done', () => {
  for (const from of alertStatuses)
    for (const to of alertStatuses) expect(refusal(from, to) === undefined).toBe(mayBecome(from, to));
  expect(refusal('suppressed', 'resolved')).toContain('in progress (i)');
  expect(refusal('archived', 'new')).toContain('final');
});

describe('what an alert is predicted to be', () => {
  test('takes over what is changed, and nobody for an empty name', () => {
    const alert = someAlert({ assignee: 'ana', silence_id: 'x', status: 'suppressed' });
    const next = predicted(alert, { status: 'in_progress', assignee: '', severity: 'high', note: 'seen' });
    expect(next).toMatchObject({ status: 'in_progress', severity: 'high', note_count: 1, version: 4 });
    expect(next).not.toHaveProperty('assignee');
    expect(next).not.toHaveProperty('silence_id');
    expect(alert).toMatchObject({ assignee: 'ana', status: 'suppressed' });
  });

  test('an override gives its verdict', () => {
    expect(predicted(someAlert(), { ai_override: { verdict: 'benign', reason: 'a test' } }).verdict).toBe(
      'benign',
    );
  });
});

describe('what somebody decided meanwhile', () => {
  const seen = someAlert({ assignee: 'ana' });

  test('is nothing where it was only counted on, or noted', () => {
    const later = { ...seen, count: 90, last_seen: '2026-11-20T11:00:00.000Z', version: 17, note_count: 2 };
    expect(decisions(seen, later)).toEqual([]);
  });

  test('is told by name', () => {
    const { assignee: _nobody, ...free } = seen;
    expect(decisions(seen, { ...free, status: 'in_progress', tags: ['vpn'] })).toEqual([
      'status is now in progress',
      'assignee is now none',
      `tags are now ${foreign('vpn')}`,
    ]);
  });
});

test('a change is told in words', () => {
  expect(told({ status: 'in_progress', assignee: 'ana' })).toBe(`in progress, assigned to ${foreign('ana')}`);
  expect(told({ status: 'resolved', verdict: 'false_positive', note: 'x' })).toBe(
    'resolved, verdict false positive, noted',
  );
});
