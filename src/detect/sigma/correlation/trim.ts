import type { Entries } from './entries.ts';
import type { Counted } from './measure.ts';

/**
 * Makes about `keep` of too many entries.
 * @returns the time from which on a window may begin and be what it was; -Infinity where all windows are
 */
export type Trim = (entries: Entries<Counted>, keep: number) => number;

const newestOf = (entries: Entries<Counted>) => entries.time(entries.length - 1);

/** Forgets the oldest. */
export const dropOldest: Trim = (entries, keep) => {
  if (entries.length <= keep) return -Infinity;
  entries.drop(entries.length - keep);
  return entries.time(0);
};

/**
 * Forgets values between two of their kind that are at most a timespan apart: any window with the one in the middle has
 * another one. Where that is not enough, makes all of one value its newest, and forgets the oldest of those: repeating
 * values pushes none out.
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

/** Takes neighbours together until few enough are left: sums stay what they are, and leave the window in larger steps. */
export const mergeNeighbours: Trim = (entries, keep) => {
  if (entries.length <= keep) return -Infinity;
  while (entries.length > keep) entries.halve((one, other) => (one as number) + (other as number));
  return newestOf(entries);
};

/** Keeps of each uninterrupted run of one value its ends, or more of it, no further than the timespan apart. */
export function keepEndsOfRuns(spanMs: number): Trim {
  return (entries, keep) => {
    let first = 0;
    entries.gather((i) => {
      const inside =
        i > 0 && entries.value(i - 1) === entries.value(i) && entries.value(i + 1) === entries.value(i);
      if (inside && entries.time(i + 1) - entries.time(first) <= spanMs) return i + 1;
      first = i;
      return i;
    });
    return dropOldest(entries, keep);
  };
}
