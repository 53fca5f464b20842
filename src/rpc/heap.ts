import type { ResourceLimits } from 'node:worker_threads';

/**
 * Limits of a thread's JavaScript heap, without ArrayBuffers, in MB. Exceeding them ends the worker, not the
 * process.
 */
export interface HeapLimits {
  readonly maxOldGenerationMb?: number;
  /** Semi-space. A small one keeps the thread small but collects more often. */
  readonly maxYoungGenerationMb?: number;
}

/** Converts the limits to Node's options; Node's defaults apply to the rest. */
export function resourceLimits({ maxOldGenerationMb, maxYoungGenerationMb }: HeapLimits): ResourceLimits {
  const limits: ResourceLimits = {};
  if (maxOldGenerationMb !== undefined) limits.maxOldGenerationSizeMb = maxOldGenerationMb;
  if (maxYoungGenerationMb !== undefined) limits.maxYoungGenerationSizeMb = maxYoungGenerationMb;
  return limits;
}
