import { TokenBuckets, toleranceMs } from '../admission/token-buckets.ts';

/** How far sending may lag behind the even pace and make up for it: timers are a few milliseconds late. */
const slackMs = 20;

/**
 * Spreads probes evenly: never more than `rate` in any second, however late the timers are. With the increment T and the
 * tolerance τ, the n-th probe comes at least (n − 1)·T − τ after the first. With T = (1000 ms + τ) / rate that is a whole
 * second for one more than `rate`.
 *
 * @param rate - probes a second, at least 1
 */
export function probePace(rate: number): TokenBuckets {
  const tokenMs = (1000 + slackMs) / rate;
  return new TokenBuckets({ tokenMs, bucketMs: tokenMs + slackMs - toleranceMs });
}
