import { type ErrorCode, errorCodes, ServiceError } from '../errors.ts';
import { type Header, jsonHeader, type Rendered } from './reply.ts';

/** The error that clients receive for a bug. */
const internal = new ServiceError('INTERNAL', 'internal error; find the request id in the service log');

/**
 * The error for requests after LMDB could not write a meta page: only the next process can determine the
 * state on disk. All threads share one map, so reads fail too; the thread that owns the database ends this
 * process.
 */
const databaseLost = new ServiceError('UNAVAILABLE', 'the database failed; the service is stopping');

/**
 * Returns the error for the caller: the error itself, or a general error if the message is only for the
 * service's log.
 */
export function answerable(error: unknown): ServiceError {
  if (error instanceof ServiceError)
    return error.code === 'INTERNAL' && error.details?.reason === undefined ? internal : error;
  return error instanceof Error && error.message.includes('MDB_PANIC') ? databaseLost : internal;
}

/** Signals that the path exists only for other methods. */
export class NotAllowed extends ServiceError {
  readonly allow: string;

  constructor(allow: string) {
    super('METHOD_NOT_ALLOWED', `this path supports only ${allow}`, { allow: allow.split(', ') });
    this.allow = allow;
  }
}

/** The Retry-After, in seconds, of errors that do not specify it. */
const retryAfter: Partial<Record<ErrorCode, number>> = { RATE_LIMITED: 60, LOG_EMPTY: 30 };

/**
 * Messages for internal codes. The original message may contain the cause of a thread's death, which is for
 * the log only.
 */
const inside: Partial<Record<ErrorCode, string>> = {
  WORKER_LOST: 'a part of the service crashed during this request; the outcome of the request is unknown',
  CANCELLED: 'the request was cancelled',
};

/**
 * Returns the code, message and details that clients see; internal codes are replaced.
 *
 * @param parameter - the path parameter that identifies the resource; `details.field` if the resource was not
 * found
 */
export function shownError(
  error: ServiceError,
  parameter?: string,
): Pick<ServiceError, 'code' | 'message' | 'details'> {
  const { code, message, details } = error;
  const hidden = inside[code];
  if (hidden !== undefined) return { code: 'UNAVAILABLE', message: hidden, details: undefined };
  const field = about[code] ?? (code === 'NOT_FOUND' ? parameter : undefined);
  const filled = (details ?? field) !== undefined && {
    ...(field === undefined ? {} : { field }),
    reason: message,
    ...details,
  };
  return { code, message, details: filled || undefined };
}

/** Default fields of errors whose details do not name a field. */
const about: Partial<Record<ErrorCode, string>> = {
  INVALID_TRANSITION: 'status',
  VERSION_MISMATCH: 'if-match',
  PAYLOAD_TOO_LARGE: 'body',
  UNSUPPORTED_MEDIA_TYPE: 'content-type',
};

/**
 * Renders an error in the API's envelope. An error after which a retry can succeed has `Retry-After`.
 *
 * @param tokenShown - whether the request has a bearer token that the operation reads
 * @param parameter - as in `shownError`
 */
export function renderError(error: ServiceError, now: number, tokenShown: boolean, parameter?: string): Rendered {
  const { code, message, details } = shownError(error, parameter);
  const { status, retry } = errorCodes[code];
  const headers: Header[] = [jsonHeader];
  if (retry) headers.push(retryHeader(error));
  if (status === 401) headers.push(['WWW-Authenticate', challenge(tokenShown)]);
  if (error instanceof NotAllowed) headers.push(['Allow', error.allow]);
  const timestamp = new Date(now).toISOString();
  return { status, headers, body: JSON.stringify({ error: { code, message, details }, timestamp }) };
}

/**
 * Returns the Retry-After header of an error after which a retry can succeed, from `details.retry_after_s` if
 * present.
 */
export function retryHeader({ code, details }: ServiceError): Header {
  const seconds = details?.retry_after_s;
  const wait = typeof seconds === 'number' ? Math.ceil(seconds) : (retryAfter[code] ?? 1);
  return ['Retry-After', String(wait)];
}

/**
 * Returns the challenge of a response with status 401 (RFC 6750, section 3). For a request without a token,
 * or with other credentials, the challenge has no error.
 */
const challenge = (tokenShown: boolean): string =>
  tokenShown ? 'Bearer realm="candor", error="invalid_token"' : 'Bearer realm="candor"';

/** Returns an error as the text of a WebSocket message. `id` names the subscription. */
export function errorMessage(error: ServiceError, now: number, id?: string): string {
  const { code, message, details } = shownError(error);
  return JSON.stringify({
    type: 'error',
    id,
    error: { code, message, details },
    timestamp: new Date(now).toISOString(),
  });
}
