import { expect, test } from 'vitest';
import { barsOf, zoomed } from '../../../src/console/pages/events/bars.ts';
import { widerRange } from '../../../src/console/pages/events/zoom.ts';

const hour = 3_600_000;
const lengths = {
  '15m': hour / 4,
  '1h': hour,
  '24h': 24 * hour,
  '7d': 7 * 24 * hour,
  '30d': 30 * 24 * hour,
} as const;
const now = Date.UTC(2026, 10, 22, 12);
const at = (ms: number) => new Date(ms).toISOString();
const wider = (range: Parameters<typeof widerRange>[0]) => widerRange(range, lengths, now);

test('a range that ends now becomes the next longer one', () => {
  expect(wider({ name: '15m', from: at(now - hour / 4) })).toMatchObject({ range: '1h' });
  expect(wider({ name: '1h', from: at(now - hour) })).toMatchObject({ range: undefined });
  expect(wider({ name: '30d', from: at(0) })).toMatchObject({ range: 'all' });
  expect(wider({ name: 'all' })).toEqual({ range: 'all', from: undefined, to: undefined });
});

test('a span of its own grows to three times around its middle', () => {
  const from = now - 20 * hour;
  expect(wider({ name: 'custom', from: at(from), to: at(from + hour) })).toEqual({
    range: undefined,
    from: at(from - hour),
    to: at(from + 2 * hour),
  });
});

test('a span that would reach beyond now is a range that ends now and has all of it', () => {
  const from = now - 2 * hour;
  expect(wider({ name: 'custom', from: at(from), to: at(now) })).toMatchObject({
    range: undefined,
    from: undefined,
  });
  expect(wider({ name: 'custom', from: at(now - 40 * 24 * hour) })).toMatchObject({ range: 'all' });
});

test('a span without an end or a beginning, or the wrong way round, is widened all the same', () => {
  expect(wider({ name: 'custom', to: at(now) })).toMatchObject({ range: 'all' });
  expect(wider({ name: 'custom', from: at(now), to: at(now - hour) })).toMatchObject({ range: 'all' });
});

test('what is dragged begins and ends with a bar', () => {
  expect(zoomed(hour + 1, 2 * hour - 1, hour)).toEqual({ from: at(hour), to: at(2 * hour) });
});

test('bars have a foot in the colour of their gravest severity, none where all is informational', () => {
  const { times, series, feet } = barsOf({
    bucket_ms: 1000,
    buckets: [
      { at: at(0), count: 3, by_severity: { informational: 2, high: 1 } },
      { at: at(1000), count: 1, by_severity: { informational: 1 } },
      { at: at(2000), count: 0, by_severity: {} },
    ],
  });
  expect(times).toEqual([0, 1, 2, 3]);
  expect(feet).toEqual(['--high', undefined, undefined]);
  expect(series.map(({ title, values }) => [title, values])).toEqual([
    ['Informational', [2, 1, 0, null]],
    ['High', [1, 0, 0, null]],
  ]);
});
