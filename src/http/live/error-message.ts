import type { ServiceError } from '../../errors.ts';
import { shownError } from '../error-reply.ts';

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
