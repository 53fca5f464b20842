import type { ServiceError } from '../../errors.ts';
import { shownError } from '../error-reply.ts';

/** An error as a socket is told it. `id` names the subscription that it is about. */
export function errorMessage(error: ServiceError, now: number, id?: string): string {
  const { code, message, details } = shownError(error);
  return JSON.stringify({
    type: 'error',
    id,
    error: { code, message, details },
    timestamp: new Date(now).toISOString(),
  });
}
