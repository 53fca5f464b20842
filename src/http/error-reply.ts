import { type ErrorCode, errorCodes, ServiceError } from '../errors.ts';
import { type Header, jsonHeader, type Rendered } from './reply.ts';

/** What a bug is answered with. */
export const internal = new ServiceError(
  'INTERNAL',
  'something went wrong in the service; the request id leads to its log',
);

/**
 * LMDB after a meta page could not be written: what is on disk is known again only to the next process. All threads have
 * one map, so that nothing can be read either; whoever owns the database ends this process for it.
 */
const databaseLost = new ServiceError('UNAVAILABLE', 'the database failed, and the service is about to end');

/** The error that a caller gets: the error itself, unless its message is for the service's log only. */
export function answerable(error: unknown): ServiceError {
  if (error instanceof ServiceError)
    return error.code === 'INTERNAL' && error.details?.reason === undefined ? internal : error;
  return error instanceof Error && error.message.includes('MDB_PANIC') ? databaseLost : internal;
}

/** The path exists for other methods. */
export class NotAllowed extends ServiceError {
  readonly allow: string;

  constructor(allow: string) {
    super('METHOD_NOT_ALLOWED', `this path takes ${allow}`, { allow: allow.split(', ') });
    this.allow = allow;
  }
}

/** How long a client waits before it tries again, in seconds, where the error does not say. */
const retryAfter: Partial<Record<ErrorCode, number>> = { RATE_LIMITED: 60, LOG_EMPTY: 30 };

/** What only the inside knows by its own name. Its message may say what the thread died of: that is for the log. */
const inside: Partial<Record<ErrorCode, string>> = {
  WORKER_LOST: 'a part of the service was lost while it worked on this; whether it was done is unknown',
  CANCELLED: 'the request was given up',
};

/**
 * Returns the code, message and details that clients see; internal codes are replaced.
 *
 * @param parameter - the path parameter that names what the request is about: at fault where that was not found
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

/** The field that an error is about, unless its details name another one. */
const about: Partial<Record<ErrorCode, string>> = {
  INVALID_TRANSITION: 'status',
  VERSION_MISMATCH: 'if-match',
  PAYLOAD_TOO_LARGE: 'body',
  UNSUPPORTED_MEDIA_TYPE: 'content-type',
};

/**
 * An error in the specification's envelope. `details.retry_after_s`, where present, becomes `Retry-After`.
 *
 * @param tokenShown - whether the request came with a bearer token that the operation reads
 * @param parameter - as in `shownError`
 */
export function renderError(
  error: ServiceError,
  now: number,
  tokenShown: boolean,
  parameter?: string,
): Rendered {
  const { code, message, details } = shownError(error, parameter);
  const { status, retry } = errorCodes[code];
  const headers: Header[] = [jsonHeader];
  if (retry) headers.push(retryHeader(error));
  if (status === 401) headers.push(['WWW-Authenticate', challenge(tokenShown)]);
  if (error instanceof NotAllowed) headers.push(['Allow', error.allow]);
  const timestamp = new Date(now).toISOString();
  return { status, headers, body: JSON.stringify({ error: { code, message, details }, timestamp }) };
}

/** Of an error after which trying again can help. `details.retry_after_s`, where present, is what it says. */
export function retryHeader({ code, details }: ServiceError): Header {
  const seconds = details?.retry_after_s;
  const wait = typeof seconds === 'number' ? Math.ceil(seconds) : (retryAfter[code] ?? 1);
  return ['Retry-After', String(wait)];
}

/** RFC 6750, section 3: without a token, or with other credentials, there is no error to speak of. */
const challenge = (tokenShown: boolean): string =>
  tokenShown ? 'Bearer realm="candor", error="invalid_token"' : 'Bearer realm="candor"';
