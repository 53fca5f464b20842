import { closeCodes } from '../contract/channels.ts';
import { errorCodes, type ServiceError } from '../errors.ts';

/** How a connection came to its end, or did not come about. */
export interface Ending {
  /** What the service closed it with, or the platform; undefined where it was given up from here. */
  readonly code: number | undefined;
  /** What the service said before, or why there was no token. */
  readonly error: ServiceError | undefined;
}

/** The first wait is up to this long, each after it up to twice as long as the one before … */
const firstMs = 500;
/** … until this. */
const longestMs = 30_000;
/** Where trying at once would be as much in vain, or is what the service has had too much of. */
const slow = { fromMs: 10_000, toMs: 60_000 };
/** A service that stops is back in seconds, and all its clients come at once. */
const goingAwayMs = 1000;

const slowCodes: readonly number[] = [
  closeCodes.badMessage,
  closeCodes.unauthenticated,
  closeCodes.forbidden,
  closeCodes.tooMany,
];

/**
 * How long to wait before the next connection, in milliseconds: exponential, with full jitter.
 *
 * @param failures - connections in a row that ended soon, or did not come about, before this one
 * @param random - of [0, 1)
 */
export function retryDelayMs({ code, error }: Ending, failures: number, random: number): number {
  if (isSlow(code, error)) return slow.fromMs + random * (slow.toMs - slow.fromMs);
  if (code === closeCodes.goingAway && failures === 0) return random * goingAwayMs;
  return random * Math.min(longestMs, firstMs * 2 ** failures);
}

function isSlow(code: number | undefined, error: ServiceError | undefined): boolean {
  if (code !== undefined) return slowCodes.includes(code);
  return error !== undefined && (error.code === 'RATE_LIMITED' || !errorCodes[error.code].retry);
}
