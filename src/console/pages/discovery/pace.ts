/** Number of probes that a scan had completed (`done`) at a time in epoch milliseconds. */
export interface Sample {
  readonly at: number;
  readonly done: number;
}

/** Period over which the rate is measured. */
const windowMs = 10_000;

/** Appends a sample. Drops samples from before the window, except the newest of them. */
export function withSample(samples: readonly Sample[], next: Sample): readonly Sample[] {
  const last = samples.at(-1);
  // Fewer probes than before mean that another scan has started.
  if (last !== undefined && next.done < last.done) return [next];
  if (last !== undefined && next.at <= last.at) return samples;
  const firstRecent = samples.findIndex(({ at }) => next.at - at <= windowMs);
  return [...(firstRecent < 0 ? samples.slice(-1) : samples.slice(Math.max(0, firstRecent - 1))), next];
}

/**
 * Returns the recent rate in probes per second and the remaining time; undefined if the samples span less than 500 ms
 * or show no progress.
 */
export function paceOf(
  samples: readonly Sample[],
  total: number,
): { readonly perSecond: number; readonly leftMs: number } | undefined {
  const [first, last] = [samples[0], samples.at(-1)];
  if (first === undefined || last === undefined || last.at - first.at < 500) return undefined;
  const perSecond = ((last.done - first.done) / (last.at - first.at)) * 1000;
  if (perSecond <= 0) return undefined;
  return { perSecond, leftMs: (Math.max(0, total - last.done) / perSecond) * 1000 };
}
