import { expect, test } from 'vitest';
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
