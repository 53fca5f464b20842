import type { Entries } from './entries.ts';
import type { Counted } from './measure.ts';

/** Forgets the oldest. */
export function dropOldest(entries: Entries<Counted>, keep: number): void {
  if (entries.length > keep) entries.drop(entries.length - keep);
}

/** Makes all of one value its newest, and forgets the oldest of those: whoever repeats values pushes none out. */
export function keepNewestOfEach(entries: Entries<Counted>, keep: number): void {
  const newest = new Map<Counted, number>();
  for (let i = 0; i < entries.length; i++) newest.set(entries.value(i), i);
  entries.gather((i) => newest.get(entries.value(i))!);
  dropOldest(entries, keep);
}

/** Takes neighbours together until few enough are left: sums stay what they are, and leave the window in larger steps. */
export function mergeNeighbours(entries: Entries<Counted>, keep: number): void {
  while (entries.length > keep) entries.halve((one, other) => (one as number) + (other as number));
}

/** Keeps of each uninterrupted run of one value its ends, or more of it, no further than the timespan apart. */
export function keepEndsOfRuns(spanMs: number): (entries: Entries<Counted>, keep: number) => void {
  return (entries, keep) => {
    let first = 0;
    entries.gather((i) => {
      const inside =
        i > 0 && entries.value(i - 1) === entries.value(i) && entries.value(i + 1) === entries.value(i);
      if (inside && entries.time(i + 1) - entries.time(first) <= spanMs) return i + 1;
      first = i;
      return i;
    });
    dropOldest(entries, keep);
  };
}
