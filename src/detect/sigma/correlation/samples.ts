/** Reference to a counted event. */
export interface Sample {
  readonly time: number;
  /** Index of the rule that matched, in the correlation's list. */
  readonly rule: number;
  readonly event: string;
}

/**
 * Adds a reference. If there are more than `most`, drops the oldest reference of the rule with the most
 * references.
 */
export function addSample(samples: Sample[], sample: Sample, most: number): void {
  samples.push(sample);
  if (samples.length <= most) return;
  const counts = new Map<number, number>();
  for (const { rule } of samples) counts.set(rule, (counts.get(rule) ?? 0) + 1);
  const usual = Math.max(...counts.values());
  let oldest = -1;
  for (const [i, { rule, time }] of samples.entries()) {
    if (counts.get(rule) === usual && (oldest < 0 || time < samples[oldest]!.time)) oldest = i;
  }
  samples.splice(oldest, 1);
}

/** Returns the references within a window, by time. */
export function eventsWithin(samples: readonly Sample[], first: number, last: number): string[] {
  const within = samples.filter(({ time }) => time >= first && time <= last).toSorted((a, b) => a.time - b.time);
  return [...new Set(within.map(({ event }) => event))];
}
