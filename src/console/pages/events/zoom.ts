import type { Params } from '../../state/address.ts';
import type { RangeName, ranges, TimeRange } from '../../state/range.ts';

/** Factor by which zooming out widens a custom range. */
const factor = 3;

/**
 * Returns the URL parameters of a wider range. A relative range becomes the next longer relative range, or all time. A
 * custom range becomes three times as long around its middle, or a relative range if the longer range would extend
 * beyond now. A custom range of more than 30 days becomes all time.
 */
export function widerRange({ name, from, to }: TimeRange, lengths: typeof ranges, nowMs: number): Params {
  const named = (range: RangeName): Params => ({
    range: range === '24h' ? undefined : range,
    from: undefined,
    to: undefined,
  });
  const longerThan = (ms: number): RangeName =>
    (Object.keys(lengths) as (keyof typeof ranges)[]).find((one) => lengths[one] > ms) ?? 'all';
  if (name === 'all' || from === undefined) return named('all');
  if (name !== 'custom') return named(longerThan(lengths[name]));
  const start = Date.parse(from);
  const end = to === undefined ? nowMs : Date.parse(to);
  const length = (end - start) * factor;
  if (!(length > 0) || length > lengths['30d'] * factor) return named('all');
  const middle = (start + end) / 2;
  if (middle + length / 2 >= nowMs) return named(longerThan(Math.max(length, nowMs - start) - 1));
  return {
    range: undefined,
    from: new Date(Math.round(middle - length / 2)).toISOString(),
    to: new Date(Math.round(middle + length / 2)).toISOString(),
  };
}
