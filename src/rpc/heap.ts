import type { ResourceLimits } from 'node:worker_threads';

/**
 * Limits of a thread's JavaScript heap, without ArrayBuffers, in MB. Exceeding them ends the worker, not the
 * process.
 */
export interface HeapLimits {
  readonly maxOldGenerationMb?: number;
  /**
   * Maximum size of the semi-space. A small semi-space keeps the thread small but is collected more often.
   */
  readonly maxYoungGenerationMb?: number;
}

/** Converts the limits to Node's options; Node's defaults apply to missing limits. */
export function resourceLimits({ maxOldGenerationMb, maxYoungGenerationMb }: HeapLimits): ResourceLimits {
  const limits: ResourceLimits = {};
  if (maxOldGenerationMb !== undefined) limits.maxOldGenerationSizeMb = maxOldGenerationMb;
  if (maxYoungGenerationMb !== undefined) limits.maxYoungGenerationSizeMb = maxYoungGenerationMb;
  return limits;
}
