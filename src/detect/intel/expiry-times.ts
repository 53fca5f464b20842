import { limits } from '../../limits.ts';

/** Expiry times of indicators: `counts[n]` indicators expire at `seconds[n]` (since 1970), in ascending order. */
export interface ExpiryTimes {
  readonly seconds: readonly number[];
  readonly counts: readonly number[];
}

/** Units for rounding times up: hour, day, month. The next unit is tried while there are too many times. */
const units = [3600, 86_400, 30 * 86_400];

/** @param times - epoch milliseconds */
export function expiryTimesOf(times: readonly number[]): ExpiryTimes {
  let counts = countedBy(times, 1);
  for (const unit of units) if (counts.size > limits.maxIntelEnds) counts = countedBy(times, unit);
  const sorted = [...counts].sort(([a], [b]) => a - b);
  return { seconds: sorted.map(([at]) => at), counts: sorted.map(([, count]) => count) };
}

function countedBy(times: readonly number[], unit: number): Map<number, number> {
  const counts = new Map<number, number>();
  for (const time of times) {
    const at = Math.ceil(time / 1000 / unit) * unit;
    counts.set(at, (counts.get(at) ?? 0) + 1);
  }
  return counts;
}

/** Returns how many indicators have expired at `now` (epoch milliseconds). */
export function expiredBy({ seconds, counts }: ExpiryTimes, now: number): number {
  let ended = 0;
  for (let n = 0; n < seconds.length && seconds[n]! * 1000 <= now; n++) ended += counts[n]!;
  return ended;
}
