import { expect, test } from 'vitest';
import { plausibleBytes, plausibleDuration } from '../../src/events/plausible-bytes.ts';
import { limits } from '../../src/limits.ts';

const { maxLinkBytesPerMs, linkGraceMs } = limits;
const unknown = Number.NaN;

test.each([
  [5, 3, 0, 5],
  [0, 3, 0, 0],
  [unknown, 3, 0, 3],
  [unknown, unknown, 0, 0],
  [1e15, 3, 0, 3],
  [1e15, 1e15, 0, 0],
  [1e15, unknown, 3_600_000, 0],
  [1e15, unknown, 86_400_000, 1e15],
  [maxLinkBytesPerMs * linkGraceMs, unknown, 0, maxLinkBytesPerMs * linkGraceMs],
  [maxLinkBytesPerMs * linkGraceMs + 1, unknown, 0, 0],
])(
  'of %d bytes with %d bytes of payload in %d ms, %d are counted as plausible',
  (bytes, payload, durationMs, counted) => {
    expect(plausibleBytes(bytes, payload, durationMs)).toBe(counted);
  },
);

test.each([
  [500, 1000, 2000, 500],
  [5000, 1000, 2000, 1000],
  [5000, 2000, 1000, 0],
  [unknown, 1000, 2000, 0],
  [-1, 1000, 2000, 0],
])('a duration of %d ms from %d on, received at %d, counts as %d ms', (durationMs, timestamp, receivedAt, counted) => {
  expect(plausibleDuration(durationMs, timestamp, receivedAt)).toBe(counted);
});
