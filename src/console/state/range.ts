import { place } from './address.ts';
import { recently } from './clock.ts';
import { timeIn } from './time-in.ts';

/** Relative ranges by their name in the URL, in milliseconds. */
export const ranges = {
  '15m': 15 * 60_000,
  '1h': 3_600_000,
  '24h': 24 * 3_600_000,
  '7d': 7 * 24 * 3_600_000,
  '30d': 30 * 24 * 3_600_000,
} as const satisfies Record<string, number>;
export type RangeName = keyof typeof ranges | 'all';

/** A half-open time range in ISO 8601; a missing end is unbounded. */
export interface TimeRange {
  readonly name: RangeName | 'custom';
  readonly from?: string;
  readonly to?: string;
}

const isName = (name: string | null): name is RangeName =>
  name === 'all' || (name !== null && Object.hasOwn(ranges, name));

/**
 * Returns the time range of the page: `from` and `to` of the URL, or its `range` up to now (default 24 hours). The
 * start of a relative range is rounded down to 30 s, so that equal requests are sent once.
 */
export function shownRange(): TimeRange {
  const { params } = place.value;
  const from = timeIn(params.get('from'));
  const to = timeIn(params.get('to'));
  if (from !== undefined || to !== undefined)
    return { name: 'custom', ...(from !== undefined && { from }), ...(to !== undefined && { to }) };
  const asked = params.get('range');
  const name = isName(asked) ? asked : '24h';
  if (name === 'all') return { name };
  const end = Math.floor(recently.value / 30_000) * 30_000;
  return { name, from: new Date(end - ranges[name]).toISOString() };
}

/** Returns the statistics window: the shown range if it is relative, else 24 hours. */
export function shownWindow(): keyof typeof ranges {
  const { name } = shownRange();
  return name === 'custom' || name === 'all' ? '24h' : name;
}

/** Returns only `from` and `to`, as queries take them. */
export function rangeQuery(): { from?: string; to?: string } {
  const { from, to } = shownRange();
  return { ...(from !== undefined && { from }), ...(to !== undefined && { to }) };
}
