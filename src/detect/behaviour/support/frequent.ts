/**
 * Counts the most frequent texts in a fixed number of counters (Misra and Gries, "Finding repeated elements", 1982). A
 * count is never too high, and too low by at most `total / (counters + 1)`. Counts are exact while there are at most as
 * many texts as counters. Plain data; merging preserves the bound (Agarwal et al., "Mergeable summaries", 2012).
 */
export type Frequent = Map<string, number>;

export function addFrequent(counts: Frequent, text: string, counters: number): void {
  const count = counts.get(text);
  if (count !== undefined) counts.set(text, count + 1);
  else if (counts.size < counters) counts.set(text, 1);
  else lower(counts, 1);
}

export function mergeFrequent(into: Frequent, from: Frequent, counters: number): void {
  for (const [text, count] of from) into.set(text, (into.get(text) ?? 0) + count);
  if (into.size <= counters) return;
  const counts = Float64Array.from(into.values()).sort().reverse();
  lower(into, counts[counters]!);
}

/** Returns the most frequent texts first. Texts with equal counts are sorted by text. */
export function mostFrequent(counts: ReadonlyMap<string, number>, most: number): [text: string, count: number][] {
  const byCount = [...counts].sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1));
  return byCount.slice(0, most);
}

function lower(counts: Frequent, by: number): void {
  // Iterating over the entries would create a list for each: a tenth of all garbage under a scan.
  counts.forEach((count, text) => {
    if (count > by) counts.set(text, count - by);
    else counts.delete(text);
  });
}
