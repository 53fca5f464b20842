/**
 * Every error that a caller can handle: the HTTP status, whether a later retry can help, and the meaning. A
 * `ServiceError` has one of these codes and crosses threads and HTTP unchanged; any other exception is a bug
 * and is answered as INTERNAL.
 */
export const errorCodes = {
  INVALID_REQUEST: {
    status: 400,
    retry: false,
    meaning: 'A parameter, header or member is unknown or malformed. `details` names the invalid part and the reason.',
  },
  UNAUTHENTICATED: {
    status: 401,
    retry: false,
    meaning: 'Credentials are missing, invalid or expired. Sign in, renew the token, or issue a new one.',
  },
  FORBIDDEN: {
    status: 403,
    retry: false,
    meaning: 'The policy does not allow this operation for the roles of the caller.',
  },
  NOT_FOUND: { status: 404, retry: false, meaning: 'There is no such resource or path.' },
  METHOD_NOT_ALLOWED: { status: 405, retry: false, meaning: 'The path exists; `Allow` lists its methods.' },
  CONFLICT: {
    status: 409,
    retry: false,
    meaning: 'The resource already exists, or its state does not permit the change.',
  },
  INVALID_TRANSITION: {
    status: 409,
    retry: false,
    meaning: 'The status of the alert does not permit the new status. `details` lists the permitted statuses.',
  },
  VERSION_MISMATCH: {
    status: 412,
    retry: false,
    meaning: 'The resource changed since it was read. Read it again and repeat the change with its new version.',
  },
  PAYLOAD_TOO_LARGE: {
    status: 413,
    retry: false,
    meaning: 'The body is larger than allowed, as sent or after decompression. Send smaller batches.',
  },
  UNSUPPORTED_MEDIA_TYPE: {
    status: 415,
    retry: false,
    meaning: 'The `Content-Type` or `Content-Encoding` is not supported by this operation.',
  },
  RATE_LIMITED: {
    status: 429,
    retry: true,
    meaning: 'The caller exceeded a rate or a share. Wait for `Retry-After`.',
  },
  INTERNAL: {
    status: 500,
    retry: false,
    meaning: 'A bug or damaged data. The log of the service has the details under the request id.',
  },
  LOG_EMPTY: {
    status: 503,
    retry: true,
    meaning: 'The transparency log has no entry yet, and so no tree head.',
  },
  OVERLOADED: {
    status: 503,
    retry: true,
    meaning: 'A queue is full. Nothing of the request was stored; send it again after `Retry-After`.',
  },
  UNAVAILABLE: {
    status: 503,
    retry: true,
    meaning: 'A part of the service cannot work: it is starting or stopping, its disk is full, or the log is degraded.',
  },
  /** A worker died while it processed the call. The outcome is unknown; answered as UNAVAILABLE. */
  WORKER_LOST: {
    status: 503,
    retry: true,
    meaning: 'A thread restarted during the call. The outcome of the call is unknown.',
  },
  /** The caller aborted the call (AbortSignal). */
  CANCELLED: { status: 503, retry: true, meaning: 'The caller aborted the call.' },
} as const satisfies Record<string, { status: number; retry: boolean; meaning: string }>;

export type ErrorCode = keyof typeof errorCodes;

/** `field` and `reason` for problems of one input field; anything else that helps the caller to act. */
export type ErrorDetails = Readonly<Record<string, string | number | boolean | readonly string[]>>;

/**
 * An expected failure with a code from the table. `message` states the subject, the problem and the expected
 * value.
 */
export class ServiceError extends Error {
  override readonly name = 'ServiceError';
  readonly code: ErrorCode;
  readonly details: ErrorDetails | undefined;

  constructor(code: ErrorCode, message: string, details?: ErrorDetails) {
    super(message);
    this.code = code;
    this.details = details;
  }
}

/** UNAUTHENTICATED without a reason for the caller. Operators see the principal and the reason. */
export class RefusedCredentials extends ServiceError {
  readonly principal: { readonly id: string; readonly name: string };
  readonly why: string;

  constructor(principal: { readonly id: string; readonly name: string }, why: string) {
    super('UNAUTHENTICATED', 'the token is not valid');
    this.principal = principal;
    this.why = why;
  }
}

/** Returns INVALID_REQUEST for one field, in the shape of the API. */
export function invalidField(field: string, reason: string): ServiceError {
  return new ServiceError('INVALID_REQUEST', `${field} ${reason}`, { field, reason });
}

/** Returns the result of `read`, or `instead` if it throws an error of the class. Other errors are thrown. */
export function caught<T, R>(errorClass: new (...args: never[]) => Error, instead: R, read: () => T): T | R {
  try {
    return read();
  } catch (error) {
    if (error instanceof errorClass) return instead;
    throw error;
  }
}

/**
 * Returns the reason for a failed fetch: the message of the cause that fetch wraps, or advice if the protocol is wrong.
 */
export function fetchFailure(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { message } = error.cause instanceof Error && error.cause.message !== '' ? error.cause : error;
  // Matched by message, because the error code differs between versions of Node.
  if (/wrong version number|packet length too long/.test(message))
    return 'the port does not speak TLS; use http:// instead of https://';
  if (message === 'other side closed')
    return 'the connection was closed without a response; if the port speaks TLS, use https://';
  return message;
}
