import type { TimeRange } from './range.ts';

/** Helpers for ranges that end now: they move on, which makes a new request by itself. */

/**
 * Returns the refetch interval for a request about a range, as `useAnswer` takes it. Ranges that end now need
 * none, because their request changes as they move on.
 */
export const refreshed = ({ name }: Pick<TimeRange, 'name'>, refreshMs: number): { refreshMs?: number } =>
  name === 'custom' || name === 'all' ? { refreshMs } : {};

/** Whether a request for a time range would now be for another range. */
export const movedOn = (
  asked: { readonly from?: unknown; readonly to?: unknown },
  now: Pick<TimeRange, 'from' | 'to'>,
): boolean => asked.from !== now.from || asked.to !== now.to;

/** Whether two requests are equal except for their time range. */
export function differsInTimeOnly(one: object, other: object): boolean {
  const timeless = ({ query, ...rest }: { query?: object }) => {
    const { from, to, ...about } = { from: undefined, to: undefined, ...query };
    return JSON.stringify([rest, about]);
  };
  return timeless(one) === timeless(other);
}
