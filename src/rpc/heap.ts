import type { ResourceLimits } from 'node:worker_threads';

/** What a thread's JavaScript heap may grow to, ArrayBuffers not included. Past it the worker dies, and only it. */
export interface HeapLimits {
  readonly maxOldGenerationMb?: number;
  /** Semi-space: a small one keeps the thread small and collects more often. */
  readonly maxYoungGenerationMb?: number;
}

/** The same in Node's words; what isn't given stays Node's default. */
export function resourceLimits({ maxOldGenerationMb, maxYoungGenerationMb }: HeapLimits): ResourceLimits {
  const limits: ResourceLimits = {};
  if (maxOldGenerationMb !== undefined) limits.maxOldGenerationSizeMb = maxOldGenerationMb;
  if (maxYoungGenerationMb !== undefined) limits.maxYoungGenerationSizeMb = maxYoungGenerationMb;
  return limits;
}
