import { afterAll, beforeAll, expect, test, vi } from 'vitest';

// The time zone is a browser preference.
vi.stubGlobal('localStorage', { getItem: () => JSON.stringify({ zone: 'utc' }) });
vi.stubGlobal('matchMedia', () => ({ matches: false, addEventListener: () => {} }));
const { counted, day, relative, within } = await import('../../../src/console/ui/format.ts');

const now = Date.parse('2026-11-20T12:00:00Z');
beforeAll(() => void vi.useFakeTimers({ now }));
afterAll(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

test.each([
  ['2026-11-20T11:58:00Z', '2 min ago'],
  ['2026-11-10T12:00:00Z', '10 d ago'],
  ['2026-11-30T12:00:00Z', 'in 10 d'],
  ['2026-10-21T12:00:00Z', '2026-10-21'],
  ['2009-11-20T12:00:00Z', '2009-11-20'],
  ['2027-06-01T12:00:00Z', '2027-06-01'],
])('the time %s is formatted as %s', (at, text) => {
  expect(relative(Date.parse(at), now)).toBe(text);
});

test.each([
  ['2026-01-02T03:04:05Z', '01-02'],
  ['2025-12-31T23:59:59Z', '2025-12-31'],
])('the day of %s is formatted as %s, with the year unless it is the current year', (at, text) => {
  expect(day(Date.parse(at))).toBe(text);
});

test.each([
  [0, '0 alerts', '0 entries'],
  [1, '1 alert', '1 entry'],
  [2, '2 alerts', '2 entries'],
  [1234, '1,234 alerts', '1,234 entries'],
])('a count of %i is formatted with a singular noun only for one', (n, regular, irregular) => {
  expect(counted(n, 'alert')).toBe(regular);
  expect(counted(n, 'entry', 'entries')).toBe(irregular);
});

test('a range is formatted with only the bounds that are set', () => {
  const [from, to] = ['2026-11-20T00:00:00Z', '2026-11-20T06:00:00Z'];
  expect(within(undefined, undefined)).toBe('');
  expect(within(from, undefined)).toBe(' since 2026-11-20 00:00:00');
  expect(within(undefined, to)).toBe(' before 2026-11-20 06:00:00');
  expect(within(from, to)).toBe(' between 2026-11-20 00:00:00 and 2026-11-20 06:00:00');
});

test('a range within one second is formatted with milliseconds', () => {
  expect(within('2026-11-20T00:00:00.100Z', '2026-11-20T00:00:00.900Z')).toBe(
    ' between 2026-11-20 00:00:00.100 and 2026-11-20 00:00:00.900',
  );
});
