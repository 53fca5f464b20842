import { expect, test } from 'vitest';
import { durationText } from '../src/duration.ts';

const s = 1000;
const minute = 60 * s;
const hour = 60 * minute;
const day = 24 * hour;

test.each([
  [0, '1 second'],
  [1.4 * s, '1 second'],
  [1.5 * s, '2 seconds'],
  [119 * s, '119 seconds'],
  [2 * minute, '2 minutes'],
  [2 * hour - minute, '119 minutes'],
  [902 * minute, '15 hours'],
  [2 * day - hour, '47 hours'],
  [365 * day, '365 days'],
])('%i ms is formatted as %s', (ms, text) => {
  expect(durationText(ms)).toBe(text);
});
