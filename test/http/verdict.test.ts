import { describe, expect, test } from 'vitest';
import { verdictOf } from '../../src/http/verdict.ts';

const well = {
  ready: true,
  ledger: { state: 'ok', findings: [] },
  warnings: [],
  limits_reached: [],
} as const;

const finding = {
  code: 'anchor_missing',
  message: 'The anchor is missing.',
  since: '2026-01-01T00:00:00.000Z',
} as const;

describe('the verdict', () => {
  test('is only "Healthy." when nothing is wrong and no limit was reached', () => {
    expect(verdictOf(well)).toEqual({ well: true, text: 'Healthy.' });
  });

  test.each([
    [{ ready: false }, 'The service is starting or stopping.'],
    [{ ledger: { state: 'degraded', findings: [] } }, 'The transparency log accepts no entries.'],
    [{ warnings: ['One.', 'Two.'] }, 'Needs attention.'],
    [{ ledger: { state: 'ok', findings: [finding] } }, 'Needs attention.'],
    [{ ready: false, ledger: { state: 'degraded', findings: [] } }, 'The transparency log accepts no entries.'],
  ] as const)('is not Healthy with %j', (part, text) => {
    expect(verdictOf({ ...well, ...part })).toEqual({ well: false, text });
  });

  test('reports the limits that were reached, most frequent first, and stays Healthy', () => {
    const reached = (...times: number[]) => times.map((n, at) => ({ limit: `max${'ABCDE'[at]}`, times: n }));
    const limits = (...times: number[]) => verdictOf({ ...well, limits_reached: reached(...times) });
    expect(limits(1)).toEqual({
      well: true,
      text: 'Healthy.',
      limits: 'Since the start one limit was reached: maxA once.',
    });
    expect(limits(2, 41_000).limits).toBe('Since the start 2 limits were reached: maxB 41,000 times and maxA twice.');
    expect(limits(1, 2, 3).limits).toBe(
      'Since the start 3 limits were reached: maxC 3 times, maxB twice and maxA once.',
    );
    expect(limits(1, 2, 3, 4, 5).limits).toBe(
      'Since the start 5 limits were reached: maxE 5 times, maxD 4 times, maxC 3 times and 2 more.',
    );
    expect(verdictOf({ ...well, ready: false, limits_reached: reached(1) })).toMatchObject({
      well: false,
      limits: expect.any(String),
    });
  });
});
