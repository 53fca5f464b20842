import { closeCodes } from '../contract/channels.ts';
import { errorCodes, type ServiceError } from '../errors.ts';

/** How a connection or a connection attempt ended. */
export interface Ending {
  /** Close code of the service or the platform; undefined if this client gave up or could not connect. */
  readonly code: number | undefined;
  /** The last error of the service, or why there was no token. */
  readonly error: ServiceError | undefined;
}

/** The maximum of the first delay, in milliseconds. The maximum doubles with each failure. */
const firstMs = 500;
/** Upper limit of the doubled maximum, in milliseconds. */
const maxMs = 30_000;
/** Delays after errors that an immediate retry would repeat, and after rate limits. */
const slow = { fromMs: 10_000, toMs: 60_000 };
/**
 * Maximum delay after a shutdown: the service is usually back in seconds, and all clients reconnect at the same time.
 */
const goingAwayMs = 1000;

const slowCodes: readonly number[] = [
  closeCodes.badMessage,
  closeCodes.unauthenticated,
  closeCodes.forbidden,
  closeCodes.tooMany,
];

/**
 * Computes the delay before the next connection in milliseconds: exponential backoff with full jitter.
 *
 * @param failures - consecutive short or failed connections before this one
 * @param random - in [0, 1)
 */
export function retryDelayMs({ code, error }: Ending, failures: number, random: number): number {
  if (isSlow(code, error)) return slow.fromMs + random * (slow.toMs - slow.fromMs);
  if (code === closeCodes.goingAway && failures === 0) return random * goingAwayMs;
  return random * Math.min(maxMs, firstMs * 2 ** failures);
}

function isSlow(code: number | undefined, error: ServiceError | undefined): boolean {
  if (code !== undefined) return slowCodes.includes(code);
  return error !== undefined && (error.code === 'RATE_LIMITED' || !errorCodes[error.code].retry);
}
