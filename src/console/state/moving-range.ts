import type { TimeRange } from './range.ts';

/** Ranges that end now move on by themselves, so that what is asked about them becomes another question; pure. */

/**
 * How often the answer to a question about a range is asked for again, as `useAnswer` takes it: not at all where the
 * range moves on.
 */
export const refreshed = ({ name }: Pick<TimeRange, 'name'>, refreshMs: number): { refreshMs?: number } =>
  name === 'custom' || name === 'all' ? { refreshMs } : {};

/** Whether a question that was asked about a time would be another one now. */
export const movedOn = (
  asked: { readonly from?: unknown; readonly to?: unknown },
  now: Pick<TimeRange, 'from' | 'to'>,
): boolean => asked.from !== now.from || asked.to !== now.to;

/** Whether two questions are the same but for the time that they are about. */
export function differsInTimeOnly(one: object, other: object): boolean {
  const timeless = ({ query, ...rest }: { query?: object }) => {
    const { from, to, ...about } = { from: undefined, to: undefined, ...query };
    return JSON.stringify([rest, about]);
  };
  return timeless(one) === timeless(other);
}
