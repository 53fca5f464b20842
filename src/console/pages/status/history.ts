/** Metrics at one time; the page keeps the latest samples for its charts. */
export interface Sample {
  /** Epoch milliseconds. */
  readonly at: number;
  readonly eventsPerS: number;
  readonly requestsPerS: number;
  readonly pending: number;
}

/** 15 minutes at one sample every two seconds. */
export const maxSamples = 450;

/** Appends a sample if it is newer than the last one. */
export function withSample(samples: readonly Sample[], next: Sample): readonly Sample[] {
  const last = samples.at(-1);
  if (last !== undefined && next.at <= last.at) return samples;
  return [...samples, next].slice(-maxSamples);
}
