import { describe, expect, it } from 'vitest';
import {
  onlyAddress,
  quickParams,
  quickQuery,
  quickViews,
  seenParams,
  seenQuery,
  shownQuickView,
  shownSeen,
} from '../../../src/console/pages/assets/question.ts';

const at = (search: string) => new URLSearchParams(search);
const view = (name: string) => quickViews.find((one) => one.name === name)!;

describe('quick views', () => {
  it('are recognized by their filters in the URL, with any other filters', () => {
    expect(shownQuickView(at('q=printer'))?.name).toBe('all');
    expect(shownQuickView(at('state=staged&kind=printer'))?.name).toBe('staged');
    expect(shownQuickView(at('risk_level=high&risk_level=critical&risk_level=moderate'))?.name).toBe('risk');
    expect(shownQuickView(at('state=staged&state=managed'))).toBeUndefined();
    expect(shownQuickView(at('state=staged&risk_level=high'))).toBeUndefined();
    expect(shownQuickView(at('not_state=retired'))).toBeUndefined();
  });

  it('replace each other in the URL and in counts', () => {
    expect(quickParams(view('risk'))).toEqual({
      state: undefined,
      risk_level: ['moderate', 'high', 'critical'],
      sort: '-risk_score',
      id: undefined,
    });
    expect(quickQuery({ state: ['retired'], kind: ['printer'] }, view('staged'))).toEqual({
      kind: ['printer'],
      state: ['staged'],
    });
    expect(quickQuery({ state: ['retired'], not_risk_level: ['low'] }, view('all'))).toEqual({});
  });
});

const hour = 3_600_000;
const lengths = {
  '15m': hour / 4,
  '1h': hour,
  '24h': 24 * hour,
  '7d': 168 * hour,
  '30d': 720 * hour,
} as const;

describe('the last-seen filter', () => {
  const now = Date.parse('2026-11-22T10:00:20.000Z');

  it('is any time by default', () => {
    expect(seenQuery(shownSeen(at('')), now, lengths)).toEqual({});
    expect(seenQuery(shownSeen(at('range=all')), now, lengths)).toEqual({});
  });

  it('is within a period, not within a period, or between two times', () => {
    expect(seenQuery(shownSeen(at('range=1h')), now, lengths)).toEqual({
      from: '2026-11-22T09:00:00.000Z',
    });
    expect(seenQuery(shownSeen(at('unseen=7d')), now, lengths)).toEqual({
      to: '2026-11-15T10:00:00.000Z',
    });
    expect(seenQuery(shownSeen(at('from=2026-11-01&range=1h')), now, lengths)).toEqual({
      from: '2026-11-01',
    });
  });

  it('ignores invalid times', () => {
    expect(shownSeen(at('from=nonsense&to=-271821-04-20T00:00:00.000Z'))).toEqual({ kind: 'any' });
  });

  it.each(['', 'range=24h', 'unseen=30d', 'from=2026-11-01&to=2026-11-02'])('is kept in the URL: "%s"', (search) => {
    const written = Object.entries(seenParams(shownSeen(at(search)))).filter(([, value]) => value !== undefined);
    expect(shownSeen(new URLSearchParams(written as [string, string][]))).toEqual(shownSeen(at(search)));
  });
});

it('the address filter is a single address if its only value is not a block', () => {
  expect(onlyAddress(at('ip=10.0.0.1'))).toBe('10.0.0.1');
  expect(onlyAddress(at('ip=10.0.0.0/24'))).toBeUndefined();
  expect(onlyAddress(at('ip=10.0.0.1&ip=10.0.0.2'))).toBeUndefined();
  expect(onlyAddress(at(''))).toBeUndefined();
});
