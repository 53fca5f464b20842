import type { Entries } from './entries.ts';
import type { Counted } from './measure.ts';

/**
 * Reduces entries to about `keep`.
 *
 * @returns the earliest time at which an exact window may begin; -Infinity if all windows are exact
 */
export type Trim = (entries: Entries<Counted>, keep: number) => number;

const newestOf = (entries: Entries<Counted>) => entries.time(entries.length - 1);

/** Drops the oldest entries. */
export const dropOldest: Trim = (entries, keep) => {
  if (entries.length <= keep) return -Infinity;
  entries.drop(entries.length - keep);
  return entries.time(0);
};

/**
 * Drops a value between two equal values that are at most a timespan apart, because any window with the middle value
 * contains one of the two outer values. If too many entries remain, reduces each value to its newest entry and drops
 * the oldest entries, so that repeated values do not push out other values.
 */
export function keepDifferent(spanMs: number): Trim {
  return (entries, keep) => {
    const next = new Map<Counted, number>();
    const later = Array<number>(entries.length);
    for (let i = entries.length - 1; i >= 0; i--) {
      later[i] = next.get(entries.value(i)) ?? i;
      next.set(entries.value(i), i);
    }
    const before = new Map<Counted, number>();
    entries.gather((i) => {
      const since = before.get(entries.value(i)) ?? -Infinity;
      if (later[i] !== i && entries.time(later[i]!) - since <= spanMs) return later[i]!;
      before.set(entries.value(i), entries.time(i));
      return i;
    });
    if (entries.length <= keep) return -Infinity;
    const newest = new Map<Counted, number>();
    for (let i = 0; i < entries.length; i++) newest.set(entries.value(i), i);
    entries.gather((i) => newest.get(entries.value(i))!);
    dropOldest(entries, keep);
    return newestOf(entries);
  };
}

/** Merges neighbours until at most `keep` entries remain. Preserves sums, but sums leave the window in larger steps. */
export const mergeNeighbours: Trim = (entries, keep) => {
  if (entries.length <= keep) return -Infinity;
  while (entries.length > keep) entries.halve((one, other) => (one as number) + (other as number));
  return newestOf(entries);
};

/**
 * Keeps both ends of each uninterrupted run of one value, and enough entries between them that the kept entries are
 * at most a timespan apart.
 */
export function keepEndsOfRuns(spanMs: number): Trim {
  return (entries, keep) => {
    let first = 0;
    entries.gather((i) => {
      const inside = i > 0 && entries.value(i - 1) === entries.value(i) && entries.value(i + 1) === entries.value(i);
      if (inside && entries.time(i + 1) - entries.time(first) <= spanMs) return i + 1;
      first = i;
      return i;
    });
    return dropOldest(entries, keep);
  };
}
