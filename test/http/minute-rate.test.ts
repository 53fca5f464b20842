import { expect, test } from 'vitest';
import { MinuteRate } from '../../src/observability/minute-rate.ts';

test('a steady rate is reported from the first second on, and forgotten after a minute', () => {
  const rate = new MinuteRate(5000);
  for (let at = 5000; at < 95_000; at += 100) {
    rate.add(3, at);
    if (at % 1000 === 900) expect(rate.perSecond(at)).toBe(30);
  }
  expect(rate.perSecond(95_000 + 30_000 - 1)).toBeCloseTo(15, 0);
  expect(rate.perSecond(95_000 + 60_000)).toBe(0);
});

test('a long time without events resets the rate', () => {
  const rate = new MinuteRate(0);
  rate.add(600, 0);
  expect(rate.perSecond(1e9)).toBe(0);
  rate.add(60, 1e9);
  expect(rate.perSecond(1e9)).toBe(1);
});
