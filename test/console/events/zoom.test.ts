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

test('widening a relative range selects the next longer relative range, or all time', () => {
  expect(wider({ name: '15m', from: at(now - hour / 4) })).toMatchObject({ range: '1h' });
  expect(wider({ name: '1h', from: at(now - hour) })).toMatchObject({ range: undefined });
  expect(wider({ name: '30d', from: at(0) })).toMatchObject({ range: 'all' });
  expect(wider({ name: 'all' })).toEqual({ range: 'all', from: undefined, to: undefined });
});

test('widening a custom range triples its length around its middle', () => {
  const from = now - 20 * hour;
  expect(wider({ name: 'custom', from: at(from), to: at(from + hour) })).toEqual({
    range: undefined,
    from: at(from - hour),
    to: at(from + 2 * hour),
  });
});

test('widening a range beyond the current time selects a relative range up to now, or all time', () => {
  const from = now - 2 * hour;
  expect(wider({ name: 'custom', from: at(from), to: at(now) })).toMatchObject({
    range: undefined,
    from: undefined,
  });
  expect(wider({ name: 'custom', from: at(now - 40 * 24 * hour) })).toMatchObject({ range: 'all' });
});

test('widening a range without a start or with reversed bounds selects all time', () => {
  expect(wider({ name: 'custom', to: at(now) })).toMatchObject({ range: 'all' });
  expect(wider({ name: 'custom', from: at(now), to: at(now - hour) })).toMatchObject({ range: 'all' });
});
