/** What the figures were while the page was shown: a point for each answer, the oldest forgotten. */
export interface Sample {
  /** Epoch milliseconds. */
  readonly at: number;
  readonly eventsPerS: number;
  readonly requestsPerS: number;
  readonly pending: number;
}

/** A quarter of an hour at an answer every two seconds. */
export const maxSamples = 450;

/** With a sample at its end, unless it is no newer than the last one. */
export function withSample(samples: readonly Sample[], next: Sample): readonly Sample[] {
  const last = samples.at(-1);
  if (last !== undefined && next.at <= last.at) return samples;
  return [...samples, next].slice(-maxSamples);
}
