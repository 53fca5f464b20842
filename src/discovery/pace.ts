import { TokenBuckets, toleranceMs } from '../admission/token-buckets.ts';

/** Milliseconds of delay that may be caught up, because timers fire a few milliseconds late. */
const slackMs = 20;

/**
 * Spreads probes evenly: never more than `rate` in any second, even if timers are late. With the increment T and the
 * tolerance τ, the n-th probe is sent at least (n − 1)·T − τ after the first. With T = (1000 ms + τ) / rate, `rate` + 1
 * probes take at least a second.
 *
 * @param rate - probes per second, at least 1
 */
export function probePace(rate: number): TokenBuckets {
  const tokenMs = (1000 + slackMs) / rate;
  return new TokenBuckets({ tokenMs, bucketMs: tokenMs + slackMs - toleranceMs });
}
