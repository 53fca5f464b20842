/** How many probes a scan was through with, and when. Epoch milliseconds. */
export interface Sample {
  readonly at: number;
  readonly done: number;
}

/** As far back as the pace is measured. */
const windowMs = 10_000;

/** With one more, and without those that are too old to tell the pace, but for the latest of them. */
export function sampled(samples: readonly Sample[], next: Sample): readonly Sample[] {
  const last = samples.at(-1);
  // A scan does not go back: another one has begun.
  if (last !== undefined && next.done < last.done) return [next];
  if (last !== undefined && next.at <= last.at) return samples;
  const firstRecent = samples.findIndex(({ at }) => next.at - at <= windowMs);
  return [...(firstRecent < 0 ? samples.slice(-1) : samples.slice(Math.max(0, firstRecent - 1))), next];
}

/** Probes a second lately, and how long the rest takes at that pace; undefined while that cannot be told. */
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
