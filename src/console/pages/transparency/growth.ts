/** The size of the log at a time. */
export interface SizeAt {
  readonly size: number;
  /** Time at which the log had the size, in epoch milliseconds. */
  readonly at: number;
}

export interface Growth {
  /** Starts of the buckets in epoch seconds. */
  readonly times: readonly number[];
  /** New entries per bucket, by the time of the first head that covers them. */
  readonly entries: readonly number[];
  readonly bucketMs: number;
}

const bucketsMs = [
  1000,
  5000,
  15_000,
  60_000,
  300_000,
  900_000,
  3_600_000,
  6 * 3_600_000,
  86_400_000,
  7 * 86_400_000,
  30 * 86_400_000,
];

/**
 * Returns new entries over time from a list of heads, oldest first: the growth between two heads counts in the bucket
 * of the later head. The first head is the baseline unless it is the first head of the log (`fromStart`). Returns at
 * most about `buckets` buckets, up to `now`.
 */
export function growthOf(
  heads: readonly SizeAt[],
  { now, fromStart, buckets = 60 }: { now: number; fromStart: boolean; buckets?: number },
): Growth | undefined {
  const first = heads[0];
  const last = heads.at(-1);
  if (first === undefined || last === undefined) return undefined;
  const end = Math.max(now, last.at);
  const span = Math.max(1, end - first.at);
  const bucketMs = bucketsMs.find((ms) => span / ms <= buckets) ?? Math.ceil(span / buckets);
  const start = Math.floor(first.at / bucketMs) * bucketMs;
  const count = Math.floor((end - start) / bucketMs) + 1;
  const entries = new Array<number>(count).fill(0);
  let size = fromStart ? 0 : first.size;
  for (const head of heads) {
    entries[Math.floor((head.at - start) / bucketMs)]! += Math.max(0, head.size - size);
    size = Math.max(size, head.size);
  }
  const times = entries.map((_, i) => (start + i * bucketMs) / 1000);
  return { times, entries, bucketMs };
}
