import type { TimeRange } from './range.ts';

/** Helpers for ranges that end now. These ranges move with time, so their requests change without a refetch. */

/**
 * Returns the refetch interval for a request about a range, as `useAnswer` takes it. Ranges that end now need no
 * interval, because their request changes with time.
 */
export const refreshed = ({ name }: Pick<TimeRange, 'name'>, refreshMs: number): { refreshMs?: number } =>
  name === 'custom' || name === 'all' ? { refreshMs } : {};

/** Returns whether a new request for the time range would have a different range. */
export const movedOn = (
  asked: { readonly from?: unknown; readonly to?: unknown },
  now: Pick<TimeRange, 'from' | 'to'>,
): boolean => asked.from !== now.from || asked.to !== now.to;

/** Returns whether two requests are equal except for their time range. */
export function differsInTimeOnly(one: object, other: object): boolean {
  const timeless = ({ query, ...rest }: { query?: object }) => {
    const { from, to, ...about } = { from: undefined, to: undefined, ...query };
    return JSON.stringify([rest, about]);
  };
  return timeless(one) === timeless(other);
}
