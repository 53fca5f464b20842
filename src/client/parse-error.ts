import { type ErrorCode, type ErrorDetails, errorCodes, ServiceError } from '../errors.ts';

/**
 * Parses the error of an error envelope or error message; undefined if there is no error. Codes that this client does
 * not know become INTERNAL.
 */
export function parseError(body: unknown): ServiceError | undefined {
  const error = (body as { error?: { code?: unknown; message?: unknown; details?: ErrorDetails } } | null)?.error;
  if (typeof error?.code !== 'string' || typeof error.message !== 'string') return undefined;
  const known = Object.hasOwn(errorCodes, error.code);
  const code = known ? (error.code as ErrorCode) : 'INTERNAL';
  return new ServiceError(code, known ? error.message : `${error.code}: ${error.message}`, error.details);
}
