/**
 * Every failure that a caller may act on, as a table: the HTTP status it is answered with and whether
 * trying again later can help. A `ServiceError` carries one of these codes and crosses threads and HTTP
 * unchanged; anything else that is thrown is a bug and is answered as INTERNAL.
 */
export const errorCodes = {
  INVALID_REQUEST: { status: 400, retry: false },
  UNAUTHENTICATED: { status: 401, retry: false },
  FORBIDDEN: { status: 403, retry: false },
  NOT_FOUND: { status: 404, retry: false },
  METHOD_NOT_ALLOWED: { status: 405, retry: false },
  CONFLICT: { status: 409, retry: false },
  INVALID_TRANSITION: { status: 409, retry: false },
  VERSION_MISMATCH: { status: 412, retry: false },
  PAYLOAD_TOO_LARGE: { status: 413, retry: false },
  UNSUPPORTED_MEDIA_TYPE: { status: 415, retry: false },
  RATE_LIMITED: { status: 429, retry: true },
  INTERNAL: { status: 500, retry: false },
  LOG_EMPTY: { status: 503, retry: true },
  OVERLOADED: { status: 503, retry: true },
  UNAVAILABLE: { status: 503, retry: true },
  /** A worker died while it held the call. Nothing is known of the outcome; answered as UNAVAILABLE. */
  WORKER_LOST: { status: 503, retry: true },
  /** The caller gave up (AbortSignal). Nobody is left to answer. */
  CANCELLED: { status: 503, retry: true },
} as const satisfies Record<string, { status: number; retry: boolean }>;

export type ErrorCode = keyof typeof errorCodes;

/** `field` and `reason` for problems of one input field; anything else that helps the caller to act. */
export type ErrorDetails = Readonly<Record<string, string | number | boolean | readonly string[]>>;

/** An expected failure with a code from the table. `message` names the thing, what came and what was wanted. */
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

/** UNAUTHENTICATED without a reason for the caller. Operators see whose credentials they are. */
export class RefusedCredentials extends ServiceError {
  readonly principal: { readonly id: string; readonly name: string };
  readonly why: string;

  constructor(principal: { readonly id: string; readonly name: string }, why: string) {
    super('UNAUTHENTICATED', 'the token is not valid');
    this.principal = principal;
    this.why = why;
  }
}

/** INVALID_REQUEST that names one field, in the specification's shape. */
export function invalidField(field: string, reason: string): ServiceError {
  return new ServiceError('INVALID_REQUEST', `${field} ${reason}`, { field, reason });
}
